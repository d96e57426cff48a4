import assert from "node:assert/strict";
import {
  assertAllSettled,
  assertConsistent,
  assertNoDeadlock,
  claimAll,
  createFamilies,
  createTasks,
  inLanes,
  openRaceTrack,
  printFigures,
} from "./race_fixture.ts";

Deno.test("several reconcilers repair each problem once and block nobody", async (t) => {
  await using track = await openRaceTrack();
  const { sql, store } = track;
  const reconcile = async () => await sql`select private.reconcile() as repaired`;
  const total = (answers: readonly (readonly Record<string, unknown>[])[], what: string) =>
    answers.flat().reduce((sum, row) => sum + Number(Reflect.get(Object(row.repaired), what)), 0);

  await t.step("200 lost messages and 6 reconcilers: each is sent again once", async () => {
    const count = 200;
    await createTasks(sql, count);
    await sql`delete from pgmq.q_agent_tasks`;

    const answers = await inLanes(6, [1, 2, 3, 4, 5, 6], reconcile);

    await assertConsistent(sql);
    printFigures({ lost: count, resent: total(answers, "resent") });
    assert.equal(total(answers, "resent"), count);
    const leases = await claimAll(store);
    assert.equal(leases.length, count);
    await inLanes(8, leases, (lease) => store.finish(lease, "done", null));
    await assertAllSettled(sql);
  });

  await t.step("50 crash loops and 6 reconcilers: each task fails once", async () => {
    const count = 50;
    const families = await createFamilies(track, count, 1);
    await inLanes(8, families, ({ parent }) => store.park(parent));
    await sql`
      update public.tasks
      set deliveries = max_deliveries, lease_expires_at = clock_timestamp()
      where status = 'running'`;

    const answers = await inLanes(6, [1, 2, 3, 4, 5, 6], reconcile);

    const [row] = await sql`
      select count(*)::int as letters, count(distinct task_id)::int as tasks
      from private.dead_letters`;
    printFigures({ dead: count, ended: total(answers, "ended"), letters: row?.letters });
    assert.deepEqual({ ...row }, { letters: count, tasks: count });
    const woken = await claimAll(store);
    assert.equal(woken.length, count);
    await inLanes(8, woken, (parent) => store.finish(parent, "done", null));
    await assertAllSettled(sql);
  });

  await t.step("a reconciler skips a busy job and locks none of its tasks", async () => {
    const [family] = await createFamilies(track, 1, 2);
    assert.ok(family !== undefined);
    const { parent, children } = family;
    await store.park(parent);
    await inLanes(1, children, (child) => store.yield(child));
    // A state that no function produces: a child without its message, and a parent without its
    // review.
    await sql`delete from pgmq.q_agent_tasks`;
    await sql`
      update public.tasks set status = 'needs_human_review' where id = ${parent.taskId}::uuid`;

    await sql.begin(async (canceller) => {
      await canceller`select private.lock_job(${parent.taskId}::uuid)`;
      assert.equal(total([await reconcile()], "woken"), 0);
      // The next step of a cancellation.
      await canceller`
        update public.tasks set updated_at = now()
        where master_task_id = ${parent.taskId}::uuid`;
    });
    assert.equal(total([await reconcile()], "woken"), 1);

    assert.equal((await claimAll(store)).length, 3);
    await sql`select public.cancel_task(${parent.taskId}::uuid)`;
  });

  await t.step("no statement was a deadlock victim", () => assertNoDeadlock(track));
});
