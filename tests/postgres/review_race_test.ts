import assert from "node:assert/strict";
import {
  assertAllSettled,
  assertConsistent,
  assertNoDeadlock,
  claimAll,
  createRunning,
  inLanes,
  openRaceTrack,
  printFigures,
  sentMessageCount,
} from "./race_fixture.ts";

const QUESTION = { question: "Go on?", options: null, context: null, kind: "question" as const };

Deno.test("a review has one answer, and the task gets it once", async (t) => {
  await using track = await openRaceTrack();
  const { sql, store } = track;
  const answer = (taskId: string, words: string) =>
    sql`select public.respond_to_review(${taskId}::uuid, true, '{}', ${words})`;

  await t.step("of two answers one wins, the other gets an error: 100 rounds", async () => {
    const rounds = 100;
    const leases = await createRunning(track, rounds);
    await inLanes(8, leases, (lease) => store.requestReview(lease, { seq: 1, ...QUESTION }));
    const sentBefore = await sentMessageCount(sql);

    const winners = await inLanes(6, leases, async ({ taskId }) => {
      const outcomes = await Promise.allSettled([answer(taskId, "A"), answer(taskId, "B")]);
      const refusals = outcomes.filter((outcome) => outcome.status === "rejected");
      assert.deepEqual(refusals.map(({ reason }) => reason.detail), ["REVIEW_ALREADY_ANSWERED"]);
      return { taskId, words: outcomes[0]?.status === "fulfilled" ? "A" : "B" };
    });

    const stored = new Map(
      (await sql`select task_id, comments from public.human_reviews`)
        .map(({ task_id, comments }) => [String(task_id), comments]),
    );
    for (const { taskId, words } of winners) assert.equal(stored.get(taskId), words);
    const [events] = await sql`
      select count(*)::int as count from public.task_events where type = 'review.answered'`;
    const wakes = await sentMessageCount(sql) - sentBefore;
    const woken = await claimAll(store);
    printFigures({ rounds, answers: events?.count, wakes, resumed: woken.length });
    assert.deepEqual([events?.count, wakes, woken.length], [rounds, rounds, rounds]);
    await inLanes(8, woken, (lease) => store.finish(lease, "done", null));
    await assertAllSettled(sql);
  });

  await t.step(
    "an answer given while the task parks is not lost: 100 rounds",
    async () => {
      const rounds = 100;
      const leases = await createRunning(track, rounds);

      await inLanes(6, leases, async (lease) => {
        const answerWhenAsked = async () => {
          while (!await answer(lease.taskId, "yes").then(() => true, isTooEarly));
        };
        await Promise.all([
          store.requestReview(lease, { seq: 1, ...QUESTION }),
          answerWhenAsked(),
        ]);
      });

      await assertConsistent(sql);
      const woken = await claimAll(store);
      assert.equal(woken.length, rounds);
      await inLanes(8, woken, (lease) => store.finish(lease, "done", null));
      await assertAllSettled(sql);
    },
  );

  await t.step(
    "an answer is taken back or read by the agent, never both: 100 rounds",
    async () => {
      const rounds = 100;
      const leases = await createRunning(track, rounds);
      await inLanes(8, leases, (lease) => store.requestReview(lease, { seq: 1, ...QUESTION }));

      const read: string[] = [];
      const reopened: string[] = [];
      await inLanes(6, leases, async ({ taskId }) => {
        await answer(taskId, "yes");
        const reopen = sql`select public.reopen_review(${taskId}::uuid)`
          .then(() => reopened.push(taskId), (error) => {
            assert.equal(error.detail, "REVIEW_NOT_REOPENABLE");
          });
        const [claimed] = await Promise.all([store.claim("racer", 5), reopen]);
        read.push(...claimed.map((claim) => claim.taskId));
      });
      read.push(...(await claimAll(store)).map(({ taskId }) => taskId));

      printFigures({ rounds, read: read.length, reopened: reopened.length });
      assert.equal(new Set([...read, ...reopened]).size, read.length + reopened.length);
      assert.equal(read.length + reopened.length, rounds);
      const open = await sql`
        select review.task_id from public.human_reviews as review
        join public.tasks as task on task.id = review.task_id
        where review.answered_at is null and task.status = 'needs_human_review'`;
      assert.deepEqual(open.map(({ task_id }) => String(task_id)).sort(), reopened.sort());
      await assertConsistent(sql);
    },
  );

  await t.step("no statement was a deadlock victim", () => assertNoDeadlock(track));
});

function isTooEarly(error: { readonly detail?: string }): false {
  assert.equal(error.detail, "REVIEW_NOT_FOUND");
  return false;
}
