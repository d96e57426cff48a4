import assert from "node:assert/strict";
import { grantScopes } from "../gateway/mcp/mcp_platform.ts";
import { addAgent } from "../e2e/operator.ts";
import { call, complete, scriptTurns } from "../e2e/script.ts";
import { testsSharing } from "../shared_fixture.ts";
import {
  assertAccessible,
  assertFits,
  type ConsoleFixture,
  openConsoleFixture,
  picture,
  type Reader,
} from "./console_fixture.ts";
import { startJob, untilChip } from "./job_steps.ts";

const consoleTest = testsSharing(openConsoleFixture);

/** Two jobs of one user, of which only the second saves something. */
async function startPair(fixture: ConsoleFixture, reader: Reader): Promise<[string, string]> {
  const { sql, stack } = fixture.platform;
  const save = call("save_intermediate_data", { key: "draft", value: "A draft" });
  for (
    const agent of [
      scriptTurns("short", complete("Boats sail on the sea")),
      scriptTurns("long", save, complete("Boats row on the sea")),
    ]
  ) stack.models.addAgent(agent);
  if ((await sql`select from public.agents where slug = 'short'`).length === 0) {
    await addAgent(sql, { slug: "short" });
    await addAgent(sql, { slug: "long" });
  }
  const first = await startJob(reader, "short", "Write about boats");
  await untilChip(reader, "Completed");
  const second = await startJob(reader, "long", "Write about boats");
  await untilChip(reader, "Completed");
  return [first, second];
}

consoleTest("a user compares two jobs of the list, with exact figures", async (fixture) => {
  const { sql } = fixture.platform;
  await using reader = await fixture.open();
  const { page } = reader;
  await reader.signUp("comparing");
  const [first, second] = await startPair(fixture, reader);

  await reader.go("/jobs");
  await page.getByLabel("Select all jobs shown").check();
  await page.getByRole("link", { name: "Compare" }).click();
  await page.getByRole("heading", { name: "Compare jobs", level: 1 }).waitFor();
  assert.ok(page.url().endsWith(`/jobs/compare/${first}/${second}`), "the address can be shared");
  const [usage] = await sql`
    select first.input_tokens as first, second.input_tokens as second
    from public.job_usage as first, public.job_usage as second
    where first.master_task_id = ${first}::uuid and second.master_task_id = ${second}::uuid`;
  const tokens = page.getByRole("row").filter({ hasText: "Input tokens" });
  const exact = (count: unknown) => Number(count).toLocaleString("en");
  await tokens.getByRole("cell", { name: exact(usage?.first), exact: true }).waitFor();
  await tokens.getByRole("cell", { name: exact(usage?.second), exact: true }).waitFor();
  const output = page.getByRole("group", { name: "Differences of the output" });
  await output.locator("ins").first().waitFor();
  assert.deepEqual(await output.locator("del").allTextContents(), ["sail"]);
  assert.deepEqual(await output.locator("ins").allTextContents(), ["row"]);
  const saved = page.locator("[data-step-pair]").filter({ hasText: "save_intermediate_data" });
  await saved.getByText("only second").waitFor();
  await page.getByRole("heading", { name: "Input of both" }).waitFor();
  await page.getByLabel("Differences only").check();
  await assertAccessible(page, "two jobs side by side");

  await page.getByRole("heading", { name: "Compare jobs" }).scrollIntoViewIfNeeded();
  for (const scheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    for (const width of [1280, 768, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await assertFits(page, `two jobs at ${width} px`);
      await picture(page, `compare_${width}_${scheme}`);
    }
  }
  await saved.getByRole("link").click();
  await page.getByRole("heading", { name: "Arguments" }).waitFor();
  assert.ok(page.url().includes(`/jobs/${second}?step=`), "a step leads to its job");
  assert.deepEqual(reader.offences, []);
});

consoleTest("an operator compares jobs of others only after opening them", async (fixture) => {
  const { sql } = fixture.platform;
  await using owner = await fixture.open();
  await owner.signUp("compared");
  const [first, second] = await startPair(fixture, owner);
  await using stranger = await fixture.open({ width: 390 });
  const { page } = stranger;
  const strangerId = await stranger.signUp("comparer");

  await stranger.go(`/jobs/compare/${first}/${second}`);
  await page.getByText(`Job ${first} not found`).waitFor();
  await grantScopes(sql, strangerId, ["swarm:operate"]);
  await page.reload();
  await page.getByText("The first job belongs to another user.").waitFor();
  await page.getByText("The second job belongs to another user.").waitFor();
  assert.equal(await page.getByText("Boats").count(), 0, "nothing is shown before");
  await assertAccessible(page, "two jobs that are not open");
  await assertFits(page, "two jobs that are not open");
  await picture(page, "compare_closed_390");
  for (const id of [first, second]) {
    await stranger.go(`/jobs/${id}`);
    await page.getByLabel("Reason").fill("Its owner asked");
    await page.getByRole("button", { name: "Open this job" }).click();
    await page.getByText("This job belongs to compared@example.test").waitFor();
  }
  await stranger.go(`/jobs/compare/${first}/${second}`);
  await page.getByRole("group", { name: "Differences of the output" }).waitFor();
  await page.locator("[data-step-pair]").getByText("only second").first().waitFor();
  assert.deepEqual(stranger.offences, []);
});
