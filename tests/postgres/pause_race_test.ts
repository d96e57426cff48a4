import assert from "node:assert/strict";
import {
  AGENT,
  assertNoDeadlock,
  claimAll,
  createTasks,
  endLeases,
  openRaceTrack,
} from "./race_fixture.ts";
import { inLanes, statusCounts } from "./race_fixture.ts";

Deno.test("pauses hold against claims, deaths and each other", async (t) => {
  await using track = await openRaceTrack();
  const { sql, store } = track;
  const pause = (kind: string, name: string | null) =>
    sql`select public.pause_work(${kind}, ${name}, 'A race')`;
  const resume = async (kind: string, name: string | null) => {
    const [row] = await sql`select public.resume_work(${kind}, ${name}) as is_resumed`;
    return row?.is_resumed === true;
  };
  const finish = async () => {
    for (const lease of await claimAll(store)) await store.finish(lease, "done", null);
  };

  await t.step("once a pause has returned, no claim starts a task, whoever claims", async () => {
    for (const [kind, name] of [["project", null], ["agent", AGENT]] as const) {
      await createTasks(sql, 200);
      let isPaused = false;
      const late: string[] = [];
      const claims = inLanes(8, Array.from({ length: 60 }), async (_, index) => {
        const wasPaused = isPaused;
        const claimed = await store.claim(`worker-${index % 8}`, 2);
        if (wasPaused) late.push(...claimed.map(({ taskId }) => taskId));
      });
      await pause(kind, name);
      isPaused = true;
      await claims;

      assert.deepEqual(late, [], kind);
      assert.equal(await resume(kind, name), true);
      await endLeases(sql);
      await finish();
      assert.deepEqual(Object.keys(await statusCounts(sql)), ["completed"]);
    }
  });

  await t.step("a task whose worker dies during the pause goes on after it", async () => {
    const ids = await createTasks(sql, 3);
    assert.equal((await claimAll(store, "dying")).length, 3);
    await pause("project", null);
    await endLeases(sql);

    assert.deepEqual(await claimAll(store), []);
    await resume("project", null);
    const leases = await claimAll(store);
    assert.deepEqual(leases.map(({ taskId }) => taskId).toSorted(), ids.toSorted());
    for (const lease of leases) await store.finish(lease, "done", null);
  });

  await t.step("a task that begins to wait while its pause ends is not left behind", async () => {
    await createTasks(sql, 60);
    const leases = await claimAll(store);
    await pause("agent", AGENT);
    const waits = inLanes(
      8,
      leases,
      (lease) => store.yield(lease, { pause: { kind: "agent", name: AGENT } }),
    );
    const flips = inLanes(2, Array.from({ length: 20 }), async () => {
      await resume("agent", AGENT);
      await pause("agent", AGENT);
    });
    await Promise.all([waits, flips]);
    await resume("agent", AGENT);
    // What a resume skipped because somebody else held it, the tick returns.
    await sql`select private.return_resumed_tasks(10000)`;

    assert.equal((await statusCounts(sql)).pending, 60);
    const [row] = await sql`
      select max(deliveries)::int as deliveries, max(attempts)::int as attempts,
        max(yields)::int as yields from public.tasks where status = 'pending'`;
    assert.deepEqual({ ...row }, { deliveries: 0, attempts: 0, yields: 0 });
    const again = await claimAll(store);
    assert.equal(again.length, 60);
    for (const lease of again) await store.finish(lease, "done", null);
  });

  await t.step("pausing and resuming from two sides leaves one of the two states", async () => {
    await createTasks(sql, 20);
    await inLanes(8, Array.from({ length: 40 }), async (_, index) => {
      if (index % 2 === 0) await pause("agent", AGENT);
      else await resume("agent", AGENT);
    });
    const [row] = await sql`select count(*)::int as count from private.pauses`;
    assert.ok(row?.count === 0 || row?.count === 1);
    assert.equal(await resume("agent", AGENT), row?.count === 1);
    assert.equal(await resume("agent", AGENT), false, "the second call finds nothing");
    await finish();
    assert.deepEqual(Object.keys(await statusCounts(sql)), ["completed"]);
  });

  await t.step("pausing twice keeps since when, and replaces the reason", async () => {
    const [first] = await sql`select public.pause_work('agent', ${AGENT}, 'One') as since`;
    const [second] = await sql`select public.pause_work('agent', ${AGENT}, 'Two') as since`;
    assert.deepEqual(second?.since, first?.since);
    const rows = await sql`select reason from public.paused_work`;
    assert.deepEqual([...rows.map(({ reason }) => reason)], ["Two"]);
    await resume("agent", AGENT);
  });

  await t.step("cancelling jobs while their pause ends locks nothing up", async () => {
    const ids = await createTasks(sql, 100);
    await pause("agent", AGENT);
    assert.deepEqual(await claimAll(store), []);
    await Promise.all([
      inLanes(4, ids.slice(0, 50), (id) => sql`select public.cancel_task(${id}::uuid)`),
      resume("agent", AGENT),
    ]);
    await sql`select private.return_resumed_tasks(10000)`;
    await finish();
    const counts = await statusCounts(sql);
    assert.deepEqual([counts.pending, counts.cancelled], [undefined, 50]);
  });

  await assertNoDeadlock(track);
});
