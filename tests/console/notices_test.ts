import assert from "node:assert/strict";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import type { Page } from "../deps.ts";
import { grantScopes } from "../gateway/mcp/mcp_platform.ts";
import { testsSharing } from "../shared_fixture.ts";
import {
  assertAccessible,
  assertFits,
  openConsoleFixture,
  picture,
  type Reader,
} from "./console_fixture.ts";

const consoleTest = testsSharing(openConsoleFixture);
const TOOLS = ["fx", "report-builder", "customers"];
/** What the page asks for after it has appeared. */
const LATE = /\/rest\/v1\/(operator_configuration_problems|operator_alerts|mcp_grants)/;

/** Adds 57 tools of agents, whose three scopes no default has. */
async function addScopelessTools(sql: Sql): Promise<void> {
  await sql`
    insert into public.tools (slug, name, type, config)
    select slug, slug, 'http_api', '{"method": "GET", "url": "https://tools.example.com", "parameters": {"type": "object"}}'
    from unnest(string_to_array(${TOOLS.join()}, ',')) as slug
    on conflict (slug) do nothing`;
  await sql`
    insert into public.agents (name, slug, system_prompt, model, provider_id)
    select 'analyst-' || place, 'analyst-' || place, 'Analyze.', 'm', (select id from public.llm_providers where name = 'demo')
    from generate_series(1, 19) as place
    on conflict (slug) do nothing`;
  await sql`
    insert into public.agent_tools (agent_id, tool_id)
    select agent.id, tool.id from public.agents as agent, public.tools as tool
    where agent.slug like 'analyst-%' and tool.slug = any (string_to_array(${TOOLS.join()}, ','))
    on conflict do nothing`;
}

/** Signs an operator in who has the scopes of all tools. */
async function signUpOperator(sql: Sql, reader: Reader, name: string): Promise<void> {
  await grantScopes(sql, await reader.signUp(name), [
    "swarm:operate",
    "swarm:configure",
    ...TOOLS.map((tool) => `mcp:${tool}`),
  ]);
}

async function topOf(page: Page): Promise<number> {
  const box = await page.getByRole("tablist").first().boundingBox();
  assert.ok(box);
  return box.y;
}

consoleTest(
  "problems that arrive late move nothing, and many with one cause are one line",
  async (fixture) => {
    const { sql } = fixture.platform;
    await addScopelessTools(sql);
    await using other = await fixture.open();
    await other.signUp("notice-user");
    for (const scheme of ["light", "dark"] as const) {
      await using operator = await fixture.open({ scheme });
      const { page } = operator;
      await signUpOperator(sql, operator, `notice-operator-${scheme}`);
      for (const path of ["/operations", "/setup"]) {
        for (const width of [360, 1_440]) {
          await page.setViewportSize({ width, height: 800 });
          const arrival = Promise.withResolvers<void>();
          await page.route(LATE, async (route) => {
            await arrival.promise;
            await route.continue();
          });
          await operator.go(path);
          await page.reload();
          await page.getByRole("button", { name: "problems …" }).waitFor();
          const before = await topOf(page);
          arrival.resolve();
          const line = page.getByRole("button", { name: "3 problems" });
          await line.waitFor();
          const what = `${path.slice(1)} at ${width} px`;
          assert.equal(await topOf(page), before, `the tabs of ${what} stay`);
          await picture(page, `notices_${path.slice(1)}_${width}_${scheme}`);
          await page.unroute(LATE);
          await line.click();
          await page.getByText("Users lack the scope mcp:fx").waitFor();
          const moved = await topOf(page) - before;
          assert.ok(moved < 300, `the tabs of ${what} are ${moved} px below an open list`);
          await assertFits(page, what);
          await picture(page, `notices_open_${path.slice(1)}_${width}_${scheme}`);
        }
      }
      await assertAccessible(page, `a list of problems, ${scheme}`);
      assert.deepEqual(operator.offences, []);
    }
  },
);

consoleTest(
  "an operator grants a missing scope to all who lack it, and acknowledges another problem",
  async (fixture) => {
    const { sql } = fixture.platform;
    await addScopelessTools(sql);
    await using other = await fixture.open();
    await other.signUp("grant-user");
    const ownId = await other.signUp("grant-owner");
    await sql`insert into public.mcp_grants (user_id, scopes) values (${ownId}, '{swarm:run}')`;
    await using operator = await fixture.open({ width: 1_440 });
    const { page } = operator;
    await signUpOperator(sql, operator, "grant-operator");

    await operator.go("/operations");
    await page.getByRole("button", { name: "3 problems" }).click();
    const group = page.locator("details", { hasText: "Users lack the scope mcp:fx" });
    await group.locator("summary").click();
    await group.getByText("19 agents").waitFor();
    await picture(page, "notices_group_1440");
    await group.getByRole("button", { name: "Grant the scope" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel(/Everyone without scopes of their own/).waitFor();
    await dialog.getByLabel("grant-owner@example.test").waitFor();
    await dialog.getByLabel("Reason").fill("Analysts need it");
    await assertAccessible(page, "granting a scope");
    await picture(page, "notices_grant_1440");
    await dialog.getByRole("button", { name: "Grant", exact: true }).click();
    await page.getByRole("button", { name: "2 problems" }).waitFor();
    const lacking = await sql`
      select from public.operator_missing_scopes where scope = 'mcp:fx'`;
    assert.equal(lacking.length, 0);

    const customers = page.locator("details", { hasText: "Users lack the scope mcp:customers" });
    await customers.locator("summary").click();
    await customers.getByRole("button", { name: "Acknowledge" }).click();
    await dialog.getByLabel("Reason").fill("Only for the pilot");
    await dialog.getByRole("button", { name: "Acknowledge" }).click();
    await page.getByRole("button", { name: "1 problem" }).waitFor();
    await page.reload();
    await page.getByRole("button", { name: "1 problem" }).click();
    const known = page.getByRole("region", { name: "Acknowledged" });
    await known.locator("summary").click();
    await known.getByText("Only for the pilot").waitFor();
    await picture(page, "notices_acknowledged_1440");
    await known.getByRole("button", { name: "Open again" }).click();
    await page.getByRole("button", { name: "2 problems" }).waitFor();

    await page.getByRole("tab", { name: "Actions" }).click();
    await page.getByRole("cell", { name: /^acknowledged problems of agent analyst-1, / }).waitFor();
    assert.deepEqual(operator.offences, []);
  },
);
