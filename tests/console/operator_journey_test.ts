import assert from "node:assert/strict";
import { grantScopes } from "../gateway/mcp/mcp_platform.ts";
import { addAgent } from "../e2e/operator.ts";
import { complete, scriptTurns } from "../e2e/script.ts";
import { testsSharing } from "../shared_fixture.ts";
import { buryJob } from "./bury_job.ts";
import {
  assertAccessible,
  assertFits,
  createIdleWait,
  openConsoleFixture,
  picture,
} from "./console_fixture.ts";

const consoleTest = testsSharing(openConsoleFixture);

const WIDTHS = [390, 768, 1280] as const;
const SCHEMES = ["light", "dark"] as const;
/** Whether the first chart has pixels that are bright, as on a dark page. */
const DRAWS_BRIGHT = `(() => {
  const chart = document.querySelector("main canvas");
  const { data } = chart.getContext("2d").getImageData(0, 0, chart.width, chart.height);
  return data.some((value, at) => at % 4 === 1 && value > 150 && data[at + 2] > 200);
})()`;
const refused = (id: number) => ({
  code: "OUTPUT_INVALID",
  message: `The answer ${id} has no field "summary"`,
  hint: "Tell the agent which fields its output needs.",
});

consoleTest(
  "an operator finds a failure, reads why, tries a prompt, keeps it, redrives the group and sets an alert",
  async (fixture) => {
    const { sql, stack } = fixture.platform;
    stack.models.addAgent(scriptTurns("summarizer", complete("saved")));
    await addAgent(sql, { slug: "summarizer" });
    await using owner = await fixture.open();
    const ownerId = await owner.signUp("summary-owner");
    const bury = (error: ReturnType<typeof refused>) =>
      buryJob(sql, { agent: "summarizer", ownerId, error });
    const group = [await bury(refused(7)), await bury(refused(8))];
    const alone = await bury({ ...refused(9), message: "The answer is empty" });
    // Pictures show colors that do not move.
    await using operator = await fixture.open({ reducedMotion: "reduce" });
    const { page, go } = operator;
    const untilIdle = createIdleWait(page);
    const scopes = ["swarm:run", "swarm:operate", "swarm:configure"];
    await grantScopes(sql, await operator.signUp("summary-operator"), scopes);

    // Find it by its error code: failures with equal causes are one group.
    await go("/operations?view=failures");
    const row = page.getByRole("row").filter({ hasText: 'The answer # has no field "summary"' });
    await row.getByText("new", { exact: true }).waitFor();
    await row.getByRole("link", { name: "OUTPUT_INVALID" }).click();
    await page.getByText("summary-owner@example.test").first().waitFor();
    assert.equal(await page.locator("tr[data-job]").count(), 2, "the list shows only that cause");

    // Keep the filter, and share its link.
    await page.getByText("Saved filters").click();
    await page.getByLabel("Name of the filter").fill("No summary");
    await page.getByRole("button", { name: "Save the filter" }).click();
    await page.getByRole("button", { name: "Copy the link of No summary" }).waitFor();
    await go("/operations?view=jobs");
    await page.locator("tr[data-job]").nth(2).waitFor();
    await page.getByRole("button", { name: "No summary", exact: true }).click();
    await page.locator("tr[data-job]").nth(1).waitFor();
    assert.match(page.url(), /errorCode=OUTPUT_INVALID/, "a saved filter is an address");
    assert.equal(await page.locator("tr[data-job]").count(), 2, "a saved filter filters");
    await assertAccessible(page, "a list with a saved filter");

    // Begin the list at a time.
    await page.getByLabel("Jump to").fill("2026-01-01T10:00");
    await page.getByText("No jobs until then").waitFor();
    assert.match(page.url(), /errorCode=OUTPUT_INVALID.*until=2026-01-01T10/, "filters stay");
    await page.getByRole("button", { name: "Show the newest" }).first().click();
    await page.locator("tr[data-job]").nth(1).waitFor();

    // Read why.
    await page.getByRole("link", { name: "summarizer" }).first().click();
    await page.getByLabel("Reason").fill("Many jobs fail like this");
    await page.getByRole("button", { name: "Open this job" }).click();
    await page.getByText("Tell the agent which fields its output needs.").first().waitFor();
    const jobAddress = new URL(page.url()).hash.slice(1);

    // Replay it with another prompt beside the failure, and keep that prompt as a revision.
    await page.locator("header").getByRole("link", { name: "Playground" }).click();
    await page.getByLabel("System prompt").fill("Always fill the field summary.");
    await page.getByRole("button", { name: "Try it" }).click();
    const tries = page.getByRole("region", { name: "Tries" });
    await tries.getByRole("button", { name: /Try 1.*Completed/ }).waitFor();
    const playground = new URL(page.url()).hash.slice(1);
    await page.getByRole("button", { name: "Keep this try as a revision" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.locator("ins").getByText("Always fill the field summary.").waitFor();
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });

    // Redrive the group, and nothing else.
    await go("/operations?view=failures");
    await row.getByRole("button", { name: "Redrive 2" }).click();
    await dialog.getByLabel("Reason").fill("The prompt names the field now");
    await dialog.getByRole("button", { name: "Redrive the jobs" }).click();
    await page.getByText("Redrove 2 jobs").waitFor();
    for (const id of group) {
      await owner.go(`/jobs/${id}`);
      await owner.page.locator("header .chip").getByText("Completed").waitFor();
    }
    const [left] = await sql`select status from public.tasks where id = ${alone}`;
    assert.equal(left?.status, "failed", "a failure with another cause is not redriven");

    // Set an alert.
    await go("/setup/new/alert");
    await page.getByLabel("Name *", { exact: true }).fill("summaries-fail");
    await page.getByLabel("measure *").selectOption({ label: "failure_rate" });
    await page.getByLabel("above *").fill("0.2");
    await page.getByRole("button", { name: "Review changes" }).click();
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: "summaries-fail", level: 1 }).waitFor();
    assert.deepEqual(operator.offences, []);

    // Each page of the journey on a phone, a tablet and a desktop, in both schemes.
    const pages = {
      failures: "/operations?view=failures",
      jobs: "/operations?view=jobs&errorCode=OUTPUT_INVALID",
      job: jobAddress,
      playground,
      prompt: "/setup/agent/summarizer",
      alert: "/setup/alert/summaries-fail",
      queue: "/operations?view=queue",
      usage: "/usage?of=all",
    };
    for (const [name, path] of Object.entries(pages)) {
      await go(path);
      await page.locator("main h1").waitFor();
      await untilIdle();
      for (const colorScheme of SCHEMES) {
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 900 });
          await page.emulateMedia({ colorScheme });
          await assertFits(page, `${name} at ${width} px`);
          await picture(page, `operator_${name}_${width}_${colorScheme}`);
        }
        await assertAccessible(page, `${name}, ${colorScheme}`);
        if (name === "usage" && colorScheme === "dark") {
          assert.ok(
            await page.evaluate<boolean>(DRAWS_BRIGHT),
            "a chart is redrawn for its scheme",
          );
        }
      }
    }
    assert.deepEqual(operator.offences, []);
  },
);

consoleTest("selected dead letters are redriven with one reason", async (fixture) => {
  const { sql, stack } = fixture.platform;
  stack.models.addAgent(scriptTurns("selected", complete("saved")));
  await addAgent(sql, { slug: "selected" });
  await using owner = await fixture.open();
  const ownerId = await owner.signUp("selected-owner");
  const bury = () => buryJob(sql, { agent: "selected", ownerId, error: refused(1) });
  const ids = [await bury(), await bury(), await bury()];
  await using operator = await fixture.open();
  const { page } = operator;
  await grantScopes(sql, await operator.signUp("selecting-operator"), ["swarm:operate"]);

  await operator.go("/operations?view=dead");
  const letters = page.getByRole("row").filter({ hasText: "selected-owner@example.test" });
  await letters.nth(2).waitFor();
  await letters.nth(0).getByRole("checkbox").check();
  await letters.nth(1).getByRole("checkbox").check();
  await picture(page, "operations_dead_selected");
  await assertAccessible(page, "selected dead letters");
  await page.getByRole("button", { name: "Redrive 2" }).click();
  await page.getByRole("dialog").getByLabel("Reason").fill("Both at once");
  await page.getByRole("dialog").getByRole("button", { name: "Redrive" }).click();
  await page.getByText("Redrove 2 jobs").waitFor();
  await letters.getByText("Retried").nth(1).waitFor();
  const [acts] = await sql`
    select count(*)::int as count from private.operator_acts
    where owner_id = ${ownerId} and act = 'dead_letter.redriven' and reason = 'Both at once'`;
  assert.equal(acts?.count, 2);
  assert.equal(ids.length, 3);
  assert.deepEqual(operator.offences, []);
});
