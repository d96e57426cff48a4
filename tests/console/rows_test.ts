import assert from "node:assert/strict";
import { grantScopes } from "../gateway/mcp/mcp_platform.ts";
import { addAgent } from "../e2e/operator.ts";
import { call, complete, scriptTurns } from "../e2e/script.ts";
import { testsSharing } from "../shared_fixture.ts";
import { assertAccessible, assertFits, openConsoleFixture, picture } from "./console_fixture.ts";
import { startJob, untilChip } from "./job_steps.ts";

const consoleTest = testsSharing(openConsoleFixture);

consoleTest("the rows of a trace say what happened, and a chart is a picture", async (fixture) => {
  const { sql, stack } = fixture.platform;
  const [tool] = await sql<{ id: string }[]>`select id from public.tools where slug = 'supabase'`;
  assert.ok(tool);
  await addAgent(sql, { slug: "charter", tools: [{ id: tool.id }] });
  const data = JSON.stringify([{ day: "Monday", jobs: 3 }, { day: "Tuesday", jobs: 5 }]);
  stack.models.addAgent(
    scriptTurns(
      "charter",
      {
        text: "I draw the jobs by day.",
        ...call("supabase__format_results", { data, format: "chart" }),
      },
      complete("Tuesday has the most"),
    ),
  );
  await using reader = await fixture.open({ width: 1280 });
  const { page } = reader;
  await grantScopes(sql, await reader.signUp("charting"), ["sql:read"]);
  await startJob(reader, "charter", "Chart my jobs");
  await untilChip(reader, "Completed");

  const rows = page.getByRole("treeitem");
  await rows.getByText("I draw the jobs by day.").waitFor();
  await rows.getByText("Tuesday has the most").waitFor();
  await page.locator("header").getByText("charter").nth(1).waitFor();
  await rows.getByText("format_results").click();
  const chart = page.getByRole("complementary").getByRole("img", { name: "Image 1 of the result" });
  await chart.waitFor();
  assert.ok(
    await chart.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth) >
      0,
  );
  assert.equal(await page.getByRole("complementary").locator("svg text").count(), 0);
  await assertAccessible(page, "the trace with a chart");
  await picture(page, "trace_rows");
  await page.getByRole("tree").focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowLeft");
  await rows.getByText("4 steps").waitFor();
  assert.equal(await rows.count(), 1);
  await page.keyboard.press("ArrowRight");
  await page.setViewportSize({ width: 360, height: 740 });
  await assertFits(page, "the trace at 360 px");
  await picture(page, "trace_rows_360");
  await page.emulateMedia({ colorScheme: "dark" });
  await picture(page, "trace_rows_360_dark");
  assert.deepEqual(reader.offences, []);
});
