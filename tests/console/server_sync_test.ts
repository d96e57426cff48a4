import assert from "node:assert/strict";
import { startExternalServer } from "../gateway/mcp/external_server.ts";
import { grantScopes } from "../gateway/mcp/mcp_platform.ts";
import { testsSharing } from "../shared_fixture.ts";
import { assertAccessible, assertFits, openConsoleFixture, pictures } from "./console_fixture.ts";

const consoleTest = testsSharing(openConsoleFixture);

consoleTest("a pasted file of MCP servers is planned and applied", async (fixture) => {
  await using external = await startExternalServer();
  const { sql } = fixture.platform;
  await sql`
    insert into public.tools (slug, name, type, config, source) values
      ('old', 'Old', 'mcp_server', '{"mcp_url": "https://old.test/mcp"}', 'yaml'),
      ('kept', 'Kept', 'mcp_server', '{"mcp_url": "https://kept.test/mcp"}', 'manual')`;
  await using holder = await fixture.open();
  const { page } = holder;
  const id = await holder.signUp("sync-holder");
  await grantScopes(sql, id, ["swarm:operate", "swarm:configure"]);
  const servers = async () =>
    [
      ...await sql`
      select slug, source from public.tools where type = 'mcp_server' order by slug`,
    ]
      .map(({ slug, source }) => `${slug} ${source}`);

  await holder.go("/setup?kind=server");
  await page.getByRole("link", { name: "Import servers" }).click();
  const text = page.getByLabel("Servers", { exact: true });
  await text.fill("mcps:\n  notes: {name: Notes, uri: 'https://notes.test'}");
  await page.getByRole("button", { name: "Show the plan" }).click();
  await page.getByText("unknown key; did you mean url?").waitFor();

  await text.fill(`mcps:
  notes:
    name: Notes
    url: ${external.url}
    credentials: {token_env: NOTES_TOKEN}
  slack: {name: Slack, enabled: false}`);
  await page.getByRole("button", { name: "Show the plan" }).click();
  const plan = page.getByRole("region", { name: "Plan" });
  await plan.getByText("Added").waitFor();
  await plan.getByText("Removed").waitFor();
  await plan.getByText("Stays disabled").waitFor();
  await plan.getByLabel("Value of NOTES_TOKEN").waitFor();
  assert.equal(await plan.getByRole("button", { name: "Apply" }).isDisabled(), true);
  await assertAccessible(page, "the plan of a sync");
  await pictures(page, "server_sync");
  await page.setViewportSize({ width: 360, height: 800 });
  await assertFits(page, "the plan of a sync");
  await page.setViewportSize({ width: 1280, height: 800 });
  assert.deepEqual(await servers(), ["kept manual", "old yaml"], "a plan writes nothing");

  await plan.getByLabel("Value of NOTES_TOKEN").fill("canary-of-notes");
  await plan.getByRole("button", { name: "Apply" }).click();
  await page.getByText("2 servers are changed").waitFor();
  assert.deepEqual(await servers(), ["kept manual", "notes yaml"]);
  const [stored] = await sql`
    select private.secret_value('supaswarm/mcp/notes/token') as value`;
  assert.equal(stored?.value, "canary-of-notes");
  const acts = await sql`
    select act from private.operator_acts where operator_id = ${id}::uuid order by act`;
  assert.deepEqual(acts.map(({ act }) => act), [
    "definition.removed",
    "definition.saved",
    "secret.set",
  ]);
  assert.deepEqual(holder.offences, []);
});

consoleTest(
  "servers of another client are added, and their secrets go to Vault",
  async (fixture) => {
    const { sql } = fixture.platform;
    await using holder = await fixture.open();
    const { page } = holder;
    const id = await holder.signUp("json-holder");
    await grantScopes(sql, id, ["swarm:operate", "swarm:configure"]);
    await holder.go("/setup/import-servers");
    await page.getByLabel("Servers", { exact: true }).fill(JSON.stringify({
      mcpServers: {
        Drawings: {
          url: "https://drawings.test/mcp",
          headers: { Authorization: "Bearer canary-of-drawings" },
        },
        local: { command: "npx", args: ["-y", "drawings"] },
      },
    }));
    await page.getByRole("button", { name: "Show the plan" }).click();
    const plan = page.getByRole("region", { name: "Plan" });
    await plan.getByText("is skipped").waitFor();
    await plan.getByText("DRAWINGS_AUTHORIZATION").first().waitFor();
    await pictures(page, "server_import");
    // Somebody else changes the servers between plan and change.
    await sql`
    insert into public.tools (slug, name, type, config)
    values ('other', 'Other', 'mcp_server', '{"mcp_url": "https://other.test/mcp"}')`;
    await plan.getByRole("button", { name: "Apply" }).click();
    await page.getByText("the servers were changed since the plan").waitFor();
    await page.getByRole("button", { name: "Show the plan" }).click();
    await page.getByText("the servers were changed since the plan").waitFor({ state: "detached" });
    await plan.getByRole("button", { name: "Apply" }).click();
    await page.getByText("1 server is changed").waitFor();

    const [tool] = await sql`
    select source, credential_secret_name, credential_type,
      private.secret_value(credential_secret_name) as secret
    from public.tools where slug = 'drawings'`;
    assert.deepEqual({ ...tool }, {
      source: "manual",
      credential_secret_name: "DRAWINGS_AUTHORIZATION",
      credential_type: "bearer_token",
      secret: "canary-of-drawings",
    });
    assert.deepEqual(holder.offences, []);
  },
);
