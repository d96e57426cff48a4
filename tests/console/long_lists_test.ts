import assert from "node:assert/strict";
import { addAgent } from "../e2e/operator.ts";
import { grantScopes } from "../gateway/mcp/mcp_platform.ts";
import { testsSharing } from "../shared_fixture.ts";
import { openConsoleFixture } from "./console_fixture.ts";

const consoleTest = testsSharing(openConsoleFixture);

consoleTest("a list of settings has more rows than one answer of the project", async (fixture) => {
  const { sql } = fixture.platform;
  await sql`
    insert into public.mcp_policies (mcp_name, calls_per_minute)
    select 'limited-' || lpad(number::text, 4, '0'), 5 from generate_series(1, 1100) as number`;
  await using holder = await fixture.open();
  const { page } = holder;
  const id = await holder.signUp("list-holder");
  await grantScopes(sql, id, ["swarm:operate", "swarm:configure"]);

  await holder.go("/setup?kind=limit");
  await page.getByRole("link", { name: "limited-0001" }).waitFor();
  assert.equal(await page.getByRole("link", { name: /^limited-/ }).count(), 1_100);
  await holder.go("/setup/limit/limited-1100");
  await page.getByRole("heading", { name: "limited-1100", level: 1 }).waitFor();
  assert.deepEqual(holder.offences, []);
});

consoleTest(
  "a long conversation begins with its end, and shows the rest when asked",
  async (fixture) => {
    const { sql } = fixture.platform;
    await addAgent(sql, { slug: "talker" });
    await using reader = await fixture.open();
    const { page } = reader;
    const userId = await reader.signUp("listener");
    const [job] = await sql<{ id: string }[]>`
    select task_id as id from private.create_task('talker', '"Talk"', ${userId},
      p_run_after => now() + interval '1 day')`;
    const id = job?.id ?? "";
    await sql`
    insert into public.task_steps (task_id, seq, kind, state, name, output, epoch, ended_at)
    select ${id}, seq, 'model', 'done', 'talker', jsonb_build_object('text', 'Sentence ' || seq), 1, now()
    from generate_series(1, 450) as seq`;
    const messages = page.locator("li.message", { hasText: /^talker/ });
    const earlier = page.getByRole("button", { name: "Show earlier messages" });

    await reader.go(`/jobs/${id}?tab=conversation`);
    await page.getByText("Sentence 450", { exact: true }).waitFor();
    assert.equal(await messages.count(), 200);
    await earlier.focus();
    await page.keyboard.press("Enter");
    await page.getByText("Sentence 51", { exact: true }).waitFor();
    await page.locator(".earlier button:focus").waitFor();
    await page.keyboard.press("Enter");
    await page.getByText("Sentence 1", { exact: true }).waitFor();
    assert.equal(await messages.count(), 450);
    assert.equal(await earlier.count(), 0);
    assert.deepEqual(reader.offences, []);
  },
);
