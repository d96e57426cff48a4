import assert from "node:assert/strict";
import { waitFor } from "../../scripts/wait_for.ts";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { isolateClock } from "../../shared/platform/isolate/clock.ts";
import { createSqlTaskStore } from "../../shared/engine/worker/sql_task_store.ts";
import type { Lease } from "../../shared/engine/worker/task_store.ts";
import { assertNoDeadlock, createRunning, modelResult, openRaceTrack } from "./race_fixture.ts";

const TASKS = 12;
/** Each task writes them when nothing changes anymore. */
const LAST_STEPS = 5;
const WEEKS = 12;

Deno.test("jobs that go on while their partitions are dropped lose nothing", async () => {
  await using track = await openRaceTrack();
  const { sql } = track;
  const [deleted, ...leases] = await createRunning(track, TASKS);
  assert.ok(deleted);
  await sql`update public.tasks set is_kept = true`;

  const writing = writeSteps(sql, leases);
  let dropping: Promise<number> | undefined;
  await sql.begin(async (deleter) => {
    await deleter`select from public.tasks where id = ${deleted.taskId} for update`;
    dropping = dropAll(sql);
    await waitFor(async () => await waitingCount(sql) > 0, { what: "the drop to wait" });
    await deleter`delete from public.tasks where id = ${deleted.taskId}`;
  });
  assert.ok(await dropping);
  const count = await writing.stop();

  const [row] = await sql`
    select
      (select count(*)::int from public.task_steps where state = 'done') as steps,
      (select count(*)::int from public.task_events where type = 'model.completed') as events,
      (select count(*)::int from private.task_steps_other) as moved`;
  assert.deepEqual(row, { steps: count, events: count, moved: count });
  await assertNoDeadlock(track);
});

Deno.test("partitions are created while jobs write", async () => {
  await using track = await openRaceTrack();
  const { sql } = track;
  const writing = writeSteps(sql, await createRunning(track, TASKS));

  for (let week = 10; week < 10 + WEEKS; week++) {
    for (const table of ["task_events", "task_steps"]) {
      const [row] = await sql`
        select private.make_partition(${table}, 'week', now() + make_interval(weeks => ${week}::int))
          as is_made`;
      assert.equal(row?.is_made, true);
    }
  }

  await writing.stop();
  await assertNoDeadlock(track);
});

/** Writes steps of each task, as many workers do, until it is stopped. */
function writeSteps(sql: Sql, leases: readonly Lease[]): { stop(): Promise<number> } {
  let isStopped = false;
  const writing = Promise.all(leases.map(async (lease) => {
    const store = createSqlTaskStore(sql, { leaseSeconds: 60, clock: isolateClock });
    let seq = 0;
    for (let left = LAST_STEPS; left > 0; left -= Number(isStopped)) {
      await store.record(lease, [modelResult(++seq, "a")], []);
    }
    return seq;
  }));
  return {
    /** Returns how many steps were written. */
    async stop() {
      isStopped = true;
      return (await writing).reduce((sum, seq) => sum + seq, 0);
    },
  };
}

/** Drops all partitions as if their weeks were long over, and returns how many. */
async function dropAll(sql: Sql): Promise<number> {
  let count = 0;
  for (const table of ["events", "transcripts"]) {
    while (await isDropped(table)) count++;
  }
  return count;

  async function isDropped(table: string): Promise<boolean> {
    try {
      const [row] = await sql`
        select ${sql(`private.drop_old_${table}`)}(now() + interval '30 days') as is_dropped`;
      return row?.is_dropped === true;
    } catch (error) {
      // As an hour later.
      if (error instanceof Error && /lock timeout/.test(error.message)) return isDropped(table);
      throw error;
    }
  }
}

/** The number of sessions that wait for the lock of the tasks that a drop takes. */
async function waitingCount(sql: Sql): Promise<number> {
  const [row] = await sql`
    select count(*)::int as count from pg_locks
    where not granted and relation = 'public.tasks'::regclass and mode = 'AccessExclusiveLock'`;
  return Number(row?.count);
}
