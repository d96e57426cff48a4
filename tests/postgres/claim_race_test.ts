import assert from "node:assert/strict";
import type { Lease } from "../../shared/engine/worker/task_store.ts";
import { seededRandom } from "../../scripts/seeded_random.ts";
import {
  assertConsistent,
  assertNoDeadlock,
  createFamilies,
  createTasks,
  endLeases,
  inLanes,
  openRaceTrack,
  printFigures,
  shuffled,
} from "./race_fixture.ts";

const WORKERS = Array.from({ length: 8 }, (_, index) => `worker-${index}`);

Deno.test("claimers never share a task", async (t) => {
  await using track = await openRaceTrack();
  const { sql, store } = track;

  let epochs = new Map<string, string>();

  /** Eight concurrent workers claim until `count` tasks are claimed. */
  async function claimTogether(count: number, limit: number): Promise<Lease[]> {
    const leases: Lease[] = [];
    await inLanes(WORKERS.length, WORKERS, async (workerId) => {
      while (leases.length < count) leases.push(...await store.claim(workerId, limit));
    });
    return leases;
  }

  await t.step("200 tasks and 8 workers: each task is claimed exactly once", async () => {
    const taskIds = await createTasks(sql, 200);

    const leases = await claimTogether(200, 3);

    assert.deepEqual(leases.map(({ taskId }) => taskId).sort(), taskIds.sort());
    epochs = new Map(leases.map(({ taskId, epoch }) => [taskId, epoch]));
    await assertConsistent(sql);
  });

  await t.step("an expired lease goes to exactly one of 8 workers", async () => {
    await endLeases(sql);

    const leases = await claimTogether(200, 3);

    assert.equal(new Set(leases.map(({ taskId }) => taskId)).size, 200);
    assert.equal(leases.length, 200);
    assert.ok(leases.every(({ taskId, epoch }) => Number(epoch) > Number(epochs.get(taskId))));
    await assertConsistent(sql);
  });

  await t.step("a task created during other claims is not delayed", async () => {
    const total = 300;
    const [before] = await sql`select clock_timestamp() as at`;

    await Promise.all([
      inLanes(4, Array.from({ length: total }), () => createTasks(sql, 1)),
      claimTogether(total, 1),
    ]);

    const [row] = await sql`
      select
        count(*)::int as tasks,
        (count(*) filter (where started_at > created_at + interval '900 milliseconds'))::int as late
      from public.tasks where created_at > ${before?.at}`;
    printFigures({ tasks: row?.tasks, late: row?.late });
    assert.deepEqual({ ...row }, { tasks: total, late: 0 });
  });

  await t.step("workers that take over each other's jobs do not block one another", async () => {
    const families = await createFamilies(track, 40, 2);
    const leases = families.flatMap(({ parent, children }) => [parent, ...children]);
    for (const lease of shuffled(leases, seededRandom(1))) await store.yield(lease);

    const claimed = await claimTogether(leases.length, 6);

    assert.equal(new Set(claimed.map(({ taskId }) => taskId)).size, leases.length);
    await assertConsistent(sql);
  });

  await t.step("no statement was a deadlock victim", () => assertNoDeadlock(track));
});
