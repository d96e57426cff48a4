import assert from "node:assert/strict";
import { addAgent } from "../e2e/operator.ts";
import { call, complete, scriptTurns } from "../e2e/script.ts";
import { testsSharing } from "../shared_fixture.ts";
import { assertAccessible, assertFits, openConsoleFixture, picture } from "./console_fixture.ts";
import { startJob, untilChip } from "./job_steps.ts";

const consoleTest = testsSharing(openConsoleFixture);

consoleTest("a new user runs a first job and reads what it thought", async (fixture) => {
  await using reader = await fixture.open();
  const { page } = reader;
  await reader.signUpByForm("first");
  await page.getByRole("heading", { name: "No jobs yet" }).waitFor();
  await picture(page, "jobs_empty");

  const id = await startJob(reader, "writer", "Queues and patience");
  await untilChip(reader, "Needs review");
  await page.getByRole("link", { name: "Answer the review" }).click();
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByRole("heading", { name: "No open questions" }).waitFor();
  await reader.go(`/jobs/${id}`);
  await untilChip(reader, "Completed");
  await page.getByRole("treeitem").nth(1).click();
  await page.getByRole("heading", { name: "Answer" }).waitFor();
  await picture(page, "job_trace");
  await page.getByRole("tab", { name: "Conversation" }).click();
  await page.getByText("Queues and patience").first().waitFor();
  await page.getByRole("link", { name: "Jobs", exact: true }).first().click();
  await page.locator("[data-job]").getByText(id.slice(0, 8)).waitFor();
  await picture(page, "jobs");
  assert.deepEqual(reader.offences, []);
});

consoleTest("a review is answered on a phone, and the job goes on", async (fixture) => {
  fixture.platform.stack.models.addAgent(
    scriptTurns(
      "asker",
      call("request_human_review", {
        question: "**Publish** the draft?",
        options: ["Now", "Tomorrow"],
        context: { words: 1200 },
      }),
      complete("published"),
    ),
  );
  await addAgent(fixture.platform.sql, { slug: "asker" });
  await using reader = await fixture.open({ width: 360, scheme: "dark" });
  const { page } = reader;
  await reader.signUp("reviewer");
  const id = await startJob(reader, "asker", "Ask me");

  await untilChip(reader, "Needs review");
  await page.getByRole("link", { name: "Answer the review" }).click();
  await page.getByText("Publish", { exact: true }).first().waitFor();
  await assertFits(page, "the reviews");
  await assertAccessible(page, "the reviews at 360 px, dark");
  await picture(page, "review_360_dark");
  await page.getByLabel("Tomorrow").check();
  await page.getByLabel("Comment").fill("After lunch");
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByRole("heading", { name: "No open questions" }).waitFor();

  await reader.go(`/jobs/${id}`);
  await untilChip(reader, "Completed");
  const [review] = await fixture.platform.sql`
    select approved, response, comments from public.human_reviews where task_id = ${id}`;
  assert.deepEqual(review, {
    approved: true,
    response: { choice: "Tomorrow" },
    comments: "After lunch",
  });
  assert.deepEqual(reader.offences, []);
});

consoleTest(
  "a job is cancelled, retried and forked; a second user sees none of it",
  async (fixture) => {
    fixture.platform.stack.models.addAgent(
      scriptTurns("waiter", call("request_human_review", { question: "Go on?" }), complete("done")),
    );
    await addAgent(fixture.platform.sql, { slug: "waiter" });
    await using reader = await fixture.open();
    const { page } = reader;
    await reader.signUp("owner");
    const id = await startJob(reader, "waiter", "Wait for me");
    await untilChip(reader, "Needs review");
    await page.getByRole("button", { name: "Cancel" }).click();
    await untilChip(reader, "Cancelled");
    await page.getByRole("button", { name: "Retry" }).click();
    await untilChip(reader, "Needs review");
    await page.getByRole("treeitem").nth(2).click();
    await page.getByRole("button", { name: "Fork from here" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Fork", exact: true }).click();
    await page.waitForURL((url) => !url.hash.includes(id));
    await page.getByText("Fork of").waitFor();
    assert.deepEqual(reader.offences, []);

    await using stranger = await fixture.open();
    await stranger.signUp("stranger");
    await stranger.go("/jobs");
    await stranger.page.getByRole("heading", { name: "No jobs yet" }).waitFor();
    await stranger.go(`/jobs/${id}`);
    await stranger.page.getByRole("heading", { name: "There is no such job" }).waitFor();
    assert.deepEqual(stranger.offences, []);
  },
);
