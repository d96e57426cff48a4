import assert from "node:assert/strict";
import { addAgent } from "../e2e/operator.ts";
import { complete, scriptTurns } from "../e2e/script.ts";
import { testsSharing } from "../shared_fixture.ts";
import { assertAccessible, assertFits, openConsoleFixture, pictures } from "./console_fixture.ts";
import { startJob, untilChip } from "./job_steps.ts";

const consoleTest = testsSharing(openConsoleFixture);

consoleTest("a job that runs again and its source link to each other", async (fixture) => {
  const { sql, stack } = fixture.platform;
  stack.models.addAgent(scriptTurns("repeated", complete("ok")));
  await addAgent(sql, { slug: "repeated" });
  await using reader = await fixture.open();
  const { page } = reader;
  await reader.signUp("repeating");
  const source = await startJob(reader, "repeated", "Do it");
  await untilChip(reader, "Completed");

  await page.getByRole("link", { name: "Run again" }).click();
  await page.getByLabel("Input", { exact: true }).and(page.locator("textarea")).waitFor();
  await page.getByRole("button", { name: "Start job" }).click();
  await page.getByText("Repeat of").waitFor();
  await untilChip(reader, "Completed");
  const repeat = page.url().split("/jobs/")[1]?.slice(0, 36) ?? "";
  assert.notEqual(repeat, source);
  await assertAccessible(page, "a repeated job");
  await pictures(page, "repeat");
  await page.setViewportSize({ width: 360, height: 800 });
  await assertFits(page, "a repeated job");
  await page.setViewportSize({ width: 1280, height: 800 });

  await page.locator("header").getByRole("link", { name: source.slice(0, 8) }).click();
  await page.getByText("Repeats").waitFor();
  await page.locator("header").getByRole("link", { name: repeat.slice(0, 8) }).waitFor();
  await page.locator("header").getByRole("link", { name: "compare" }).click();
  await page.getByRole("heading", { name: "Compare", level: 1 }).waitFor();
  assert.deepEqual(reader.offences, []);
});
