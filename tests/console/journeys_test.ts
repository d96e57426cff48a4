import assert from "node:assert/strict";
import { waitFor } from "../../scripts/wait_for.ts";
import { addAgent, addTool, grantToUser } from "../e2e/operator.ts";
import { call, complete, newestResults, scriptTurns } from "../e2e/script.ts";
import { startHttpServer } from "../gateway/tools/http_fixture.ts";
import { testsSharing } from "../shared_fixture.ts";
import {
  assertAccessible,
  assertFits,
  openConsoleFixture,
  picture,
  type Reader,
} from "./console_fixture.ts";
import { startJob, untilChip } from "./job_steps.ts";

const consoleTest = testsSharing(openConsoleFixture);

/** A job whose agent completes with its input and with the review's answer. */
interface ForkedJob {
  readonly id: string;
  readonly input: string;
  readonly status: string;
  readonly output: { readonly given: readonly string[]; readonly answered: readonly string[] };
}

/** Closes the message about a success, which closes by itself a few seconds after it has opened. */
async function dismissToast({ page }: Reader): Promise<void> {
  await page.getByRole("button", { name: "Dismiss" }).click();
}

consoleTest("a new user runs a first job and reads its answer", async (fixture) => {
  await using reader = await fixture.open();
  const { page } = reader;
  await reader.signUpByForm("first");
  await page.getByRole("heading", { name: "No jobs yet" }).waitFor();
  await picture(page, "jobs_empty");

  const id = await startJob(reader, "writer", "Queues and patience");
  await untilChip(reader, "Needs review");
  await page.getByRole("link", { name: "Answer the review" }).click();
  await page.getByRole("button", { name: "Approve" }).click();
  await dismissToast(reader);
  await page.getByRole("heading", { name: "No open reviews" }).waitFor();
  await reader.go(`/jobs/${id}`);
  await untilChip(reader, "Completed");
  await page.getByRole("treeitem").nth(1).click();
  await page.getByRole("heading", { name: "Answer" }).waitFor();
  await page.locator("header").getByText(/^[1-9].* in, [1-9].* out$/).waitFor();
  await assertAccessible(page, "the trace with a step");
  await picture(page, "job_trace");
  await page.getByRole("tab", { name: "Conversation" }).click();
  await page.getByText("Queues and patience").first().waitFor();
  await page.getByRole("link", { name: "Jobs", exact: true }).first().click();
  await page.locator("[data-job]").getByText(`${id.slice(0, 8)}…${id.slice(-4)}`).waitFor();
  await picture(page, "jobs");
  assert.deepEqual(reader.offences, []);
});

consoleTest("a review is answered on a phone, and the job resumes", async (fixture) => {
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
  await page.getByRole("heading", { name: "No open reviews" }).waitFor();

  await reader.go(`/jobs/${id}`);
  await untilChip(reader, "Completed");
  // The step is below the trace here.
  await page.getByRole("treeitem").getByText("complete_task").waitFor();
  await page.getByRole("tree").focus();
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  const panel = page.getByRole("complementary");
  await panel.getByRole("button", { name: "Fork from here" }).waitFor();
  await page.waitForURL(/step=/);
  await picture(page, "job_step_360_opened");
  await waitFor(async () => {
    const box = await panel.boundingBox();
    return box !== null && box.y >= 0 && box.y < 600;
  }, { what: "the page to scroll to the step" });
  assert.equal(await panel.evaluate((element) => element.matches(":focus")), true);
  await page.keyboard.press("Escape");
  assert.equal(await page.getByRole("tree").evaluate((tree) => tree.matches(":focus")), true);
  await page.getByRole("button", { name: "Make a test" }).click();
  const test = page.getByRole("dialog").getByLabel("Test", { exact: true });
  await test.getByText("type: review").waitFor();
  assert.match(
    await test.innerText(),
    /vars: Ask me\n[^]*choice: Tomorrow[^]*value: published\n?$/,
  );
  await assertFits(page, "a test of a job");
  await picture(page, "job_test_360");
  await page.getByRole("button", { name: "Close" }).first().click();
  const [review] = await fixture.platform.sql`
    select approved, response, comments from public.human_reviews where task_id = ${id}`;
  assert.deepEqual(review, {
    approved: true,
    response: { choice: "Tomorrow" },
    comments: "After lunch",
  });
  assert.deepEqual(reader.offences, []);
});

consoleTest("a tool call is approved with other arguments, and runs with them", async (fixture) => {
  const { sql, stack } = fixture.platform;
  const bank = startHttpServer(() => new Response("paid"));
  try {
    const parameters = {
      type: "object",
      properties: { to: { type: "string" }, amount: { type: "integer", maximum: 1000 } },
      required: ["to", "amount"],
    };
    const config = { method: "POST", url: `${bank.url}/pay`, parameters };
    const toolId = await addTool(sql, { slug: "bank", type: "http_api", config });
    await addAgent(sql, { slug: "payer", tools: [{ id: toolId }] });
    await sql`
      insert into public.agent_approvals (agent_id, tool_id, ask)
      select id, ${toolId}, 'always' from public.agents where slug = 'payer'`;
    const pay = call("bank__bank", { to: "bob", amount: 500 });
    stack.models.addAgent(scriptTurns("payer", pay, complete("done")));
    await using reader = await fixture.open();
    const { page } = reader;
    const userId = await reader.signUp("approver");
    await grantToUser(sql, userId, [toolId]);
    const id = await startJob(reader, "payer", "Pay Bob");
    await untilChip(reader, "Needs review");
    await page.getByRole("link", { name: "Answer the review" }).click();

    await page.getByText("A rule requires a person's approval").first().waitFor();
    await assertAccessible(page, "the review of a call");
    await picture(page, "review_call");
    await page.getByLabel("amount").fill("5000");
    await page.getByRole("button", { name: "Approve" }).click();
    await page.locator("fieldset.call .problem").first().waitFor();
    await page.getByLabel("amount").fill("50");
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByRole("heading", { name: "No open reviews" }).waitFor();
    await reader.go(`/jobs/${id}`);
    await untilChip(reader, "Completed");

    assert.deepEqual(bank.seen.map(({ body }) => JSON.parse(body)), [{ to: "bob", amount: 50 }]);
    assert.deepEqual(reader.offences, []);
  } finally {
    await bank.stop();
  }
});

consoleTest("a job that has ended takes a follow-up message, and answers it", async (fixture) => {
  const { sql, stack } = fixture.platform;
  stack.models.addAgent(
    scriptTurns("linguist", complete("Hello"), (request) =>
      complete({
        heard: request.messages.filter(({ role }) => role === "user").map(({ text }) => text),
      })),
  );
  await addAgent(sql, { slug: "linguist" });
  await using reader = await fixture.open();
  const { page } = reader;
  await reader.signUp("speaker");
  const id = await startJob(reader, "linguist", "Greet me");
  await untilChip(reader, "Completed");

  await page.getByRole("tab", { name: "Conversation" }).click();
  await page.getByLabel("Follow-up message").fill("And in French?");
  await page.keyboard.press("ControlOrMeta+Enter");
  await page.locator(".message.output").getByText("And in French?").waitFor();
  await untilChip(reader, "Completed");
  await page.locator(".message.user").getByText("And in French?").waitFor();
  assert.equal(await page.getByLabel("Follow-up message").inputValue(), "");

  const [job] = await sql`select status, output from public.tasks where id = ${id}`;
  assert.deepEqual(job, {
    status: "completed",
    output: { heard: ["Greet me", "And in French?"] },
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
    await stranger.page.getByRole("heading", { name: "Job not found" }).waitFor();
    assert.deepEqual(stranger.offences, []);
  },
);

consoleTest(
  "a fork with a changed input and answer completes; its origin is unchanged",
  async (fixture) => {
    const { sql, stack } = fixture.platform;
    stack.models.addAgent(
      scriptTurns(
        "translator",
        call("request_human_review", {
          question: "Translate the **whole** text?",
          options: ["All of it", "The first page"],
        }),
        (request) =>
          complete({
            given: request.messages.filter(({ role }) => role === "user").map(({ text }) => text),
            answered: newestResults(request),
          }),
      ),
    );
    await addAgent(sql, { slug: "translator" });
    await using reader = await fixture.open();
    const { page } = reader;
    const userId = await reader.signUp("forker");
    const id = await startJob(reader, "translator", "The harbor at dawn");
    await untilChip(reader, "Needs review");

    await page.getByRole("treeitem").nth(2).click();
    await page.getByRole("button", { name: "Fork from here" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Change the task's input").check();
    await dialog.getByLabel("Input for the fork").fill("The harbor at night");
    await dialog.getByLabel("Skip it and use this answer").check();
    await dialog.getByLabel("Response as JSON").fill("{choice:");
    await dialog.getByRole("button", { name: "Fork", exact: true }).click();
    await dialog.getByRole("alert").waitFor();
    await dialog.getByLabel("Response as JSON").fill('{"choice": "The first page"}');
    await dialog.getByRole("alert").waitFor({ state: "detached" });
    await dialog.getByLabel("Comment").fill("Short is enough");
    await picture(page, "job_fork");
    await dialog.getByRole("button", { name: "Fork", exact: true }).click();
    await dismissToast(reader);
    await page.waitForURL((url) => !url.hash.includes(id));
    await untilChip(reader, "Completed");
    await page.getByText("Fork of").waitFor();

    const jobs = await sql<ForkedJob[]>`
      select id, input, status, output from public.tasks
      where created_by = ${userId} order by created_at`;
    const [, fork] = jobs;
    assert.ok(fork);
    assert.deepEqual(jobs.map(({ input, status }) => ({ input, status })), [
      { input: "The harbor at dawn", status: "needs_human_review" },
      { input: "The harbor at night", status: "completed" },
    ]);
    assert.deepEqual(fork.output.given, ["The harbor at night"]);
    assert.deepEqual(fork.output.answered.map((answer) => JSON.parse(answer)), [
      { approved: true, response: { choice: "The first page" }, comments: "Short is enough" },
    ]);
    const header = page.locator("header");
    await header.locator(`a[href$="/jobs/${id}"]`).click();
    await untilChip(reader, "Needs review");
    await header.locator(`a[href$="/jobs/${fork.id}"]`).waitFor();

    await reader.go("/tools?server=swarm&tool=list_tasks");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByRole("tab", { name: "Table" }).waitFor();
    await page.locator("[data-result]").scrollIntoViewIfNeeded();
    await picture(page, "tool_table");
    assert.deepEqual(reader.offences, []);
  },
);
