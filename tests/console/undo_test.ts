import assert from "node:assert/strict";
import { addAgent } from "../e2e/operator.ts";
import { call, complete, scriptTurns } from "../e2e/script.ts";
import { testsSharing } from "../shared_fixture.ts";
import {
  assertAccessible,
  assertFits,
  openConsoleFixture,
  picture,
  pictures,
} from "./console_fixture.ts";
import { startJob, untilChip } from "./job_steps.ts";

const consoleTest = testsSharing(openConsoleFixture);

consoleTest("an answer is undone until the agent has read it", async (fixture) => {
  const { sql, stack } = fixture.platform;
  stack.models.addAgent(
    scriptTurns(
      "undone",
      call("request_human_review", { question: "Publish it?" }),
      complete("ok"),
    ),
  );
  await addAgent(sql, { slug: "undone" });
  await using reader = await fixture.open();
  const { page } = reader;
  await reader.signUp("undoing");
  const id = await startJob(reader, "undone", "Ask me");
  await untilChip(reader, "Needs review");
  // A review of a call is held; this one stands for it, without a server that has effects.
  await sql`update public.human_reviews set kind = 'provider_tools' where task_id = ${id}::uuid`;
  await page.getByRole("link", { name: "Answer the review" }).click();
  await page.getByRole("button", { name: "Reject" }).click();
  await page.getByText("The agent reads it in").waitFor();
  // As long as this test needs.
  await sql`update public.tasks set run_after = now() + interval '9 minutes' where id = ${id}::uuid`;

  const unread = page.getByRole("list", { name: "Answers that can be undone" });
  await unread.getByText("Publish it?").waitFor();
  await assertAccessible(page, "an answer that can be undone");
  for (const scheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    for (const width of [1280, 768, 390]) {
      await page.setViewportSize({ width, height: 800 });
      await assertFits(page, `an answer that can be undone at ${width} px`);
      await picture(page, `undo_${width}_${scheme}`);
    }
  }
  await unread.getByRole("button", { name: "Undo" }).click();
  await page.getByText("You took back the answer").waitFor();
  await unread.waitFor({ state: "detached" });
  await picture(page, "undo_reopened");
  const [task] = await sql`select status from public.tasks where id = ${id}::uuid`;
  assert.equal(task?.status, "needs_human_review");

  await page.getByRole("button", { name: "Approve" }).click();
  await unread.getByText("Publish it?").waitFor();
  await sql`update public.tasks set run_after = now() + interval '9 minutes' where id = ${id}::uuid`;
  await reader.go(`/jobs/${id}`);
  await unread.getByText("The agent reads it in").waitFor();
  await assertAccessible(page, "an answer that can be undone, on the page of its job");
  await assertFits(page, "an answer that can be undone, on the page of its job");
  await pictures(page, "undo_job");
  await unread.getByRole("button", { name: "Undo" }).click();
  await unread.waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Answer the review" }).click();
  await page.getByRole("button", { name: "Approve" }).click();
  await unread.getByText("Publish it?").waitFor();
  // The hold ends, and a worker claims the task.
  await sql`update public.tasks set run_after = null where id = ${id}::uuid`;
  await sql`select private.tick()`;
  await unread.waitFor({ state: "detached" });
  await reader.go(`/jobs/${id}`);
  await untilChip(reader, "Completed");
  const [review] = await sql`select approved from public.human_reviews where task_id = ${id}::uuid`;
  assert.equal(review?.approved, true, "the agent read the second answer");
  assert.deepEqual(reader.offences, []);
});
