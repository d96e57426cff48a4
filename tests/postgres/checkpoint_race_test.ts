import assert from "node:assert/strict";
import { seededRandom } from "../../scripts/seeded_random.ts";
import { isolateClock } from "../../shared/platform/isolate/clock.ts";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { createSqlTaskStore } from "../../shared/engine/worker/sql_task_store.ts";
import type { Lease } from "../../shared/engine/worker/task_store.ts";
import {
  assertConsistent,
  assertNoDeadlock,
  createFamilies,
  createRunning,
  modelResult,
  openRaceTrack,
  shuffled,
} from "./race_fixture.ts";

const FAMILIES = 3;
const CHILDREN = 10;
const WORKERS = 2;
const ROUNDS = 40;
const TOOLS = 9;
const ENDS = 120;

const USAGE = {
  provider_id: null,
  model: "script-1",
  key_source: "none",
  input_tokens: 10,
  cached_input_tokens: 0,
  output_tokens: 1,
};

Deno.test("checkpoints of many tasks at once", async (t) => {
  await using track = await openRaceTrack();
  const { sql } = track;
  const families = await createFamilies(track, FAMILIES, CHILDREN);
  const leases = families.flatMap(({ children }) => children);
  const stores = Array.from(
    { length: WORKERS },
    () => createSqlTaskStore(sql, { leaseSeconds: 60, clock: isolateClock }),
  );
  const random = seededRandom(11);

  await t.step("workers that share jobs record all of their steps", async () => {
    const tools = callModels(sql, leases, random);
    for (let seq = 1; seq <= ROUNDS; seq++) {
      // Each worker has some tasks of each job.
      await Promise.all(
        shuffled(leases, random).map((lease, index) =>
          stores[index % WORKERS]?.record(lease, [{ ...modelResult(seq, "a"), usage: USAGE }], [])
        ),
      );
    }
    const usageCount = await tools.stop();

    const [row] = await sql`
      select
        (select count(*)::int from public.task_steps where kind = 'model' and state = 'done') as steps,
        (select count(*)::int from public.task_events where type = 'model.completed') as events,
        (select sum(input_tokens)::int from private.job_totals) as tokens`;
    const count = FAMILIES * CHILDREN * ROUNDS;
    assert.deepEqual({ ...row }, {
      steps: count,
      events: count,
      tokens: 10 * (count + usageCount),
    });
    await assertConsistent(sql);
  });

  await t.step("a lost lease affects only its own task", async () => {
    const [store] = stores;
    const [lost, held] = [families[0]?.children[0], families[1]?.children[0]];
    assert.ok(store && lost && held);

    const [refused, recorded] = await Promise.allSettled([
      store.record({ ...lost, epoch: "1" }, [modelResult(ROUNDS + 1, "a")], []),
      store.record(held, [modelResult(ROUNDS + 1, "a")], []),
    ]);

    assert.equal(refused.status, "rejected");
    assert.equal(refused.reason.code, "LEASE_LOST");
    assert.equal(recorded.status, "fulfilled");
    const rows = await sql`select task_id from public.task_steps where seq = ${ROUNDS + 1}`;
    assert.deepEqual(rows.map(({ task_id }) => task_id), [held.taskId]);
  });

  await t.step("two checkpoints of one task are both recorded", async () => {
    const [store] = stores;
    const [lease] = leases;
    assert.ok(store && lease);
    const seqs = [ROUNDS + 2, ROUNDS + 3];

    await Promise.all(seqs.map((seq) => store.record(lease, [modelResult(seq, "a")], [])));

    const rows = await sql`
      select seq from public.task_steps where task_id = ${lease.taskId} and seq > ${
      ROUNDS + 1
    } order by seq`;
    assert.deepEqual(rows.map(({ seq }) => seq), seqs);
  });

  await t.step("a task that another session holds delays no other one", async () => {
    const [held, other] = [families[0]?.children[1], families[1]?.children[1]];
    assert.ok(held && other);
    const checkpoints = [held, other].map(({ taskId, epoch }) => ({
      id: taskId,
      held_epoch: epoch,
      steps: [modelResult(ROUNDS + 4, "a")],
      next: [],
    }));

    await sql.begin(async (holder) => {
      await holder`select from public.tasks where id = ${held.taskId}::uuid for no key update`;
      const recorded = await sql.begin(async (worker) => {
        // Without the skip it would wait for the holder, which waits for it.
        await worker`set local lock_timeout = '5s'`;
        return await worker`
          select task_id from private.record_checkpoints(${
          JSON.stringify(checkpoints)
        }::text::jsonb, 60)`;
      });

      assert.deepEqual(recorded.map(({ task_id }) => task_id), [other.taskId]);
    });
  });

  await t.step("ends record all of their last results", async () => {
    const ending = await createRunning(track, ENDS);
    const tools = callModels(sql, ending, random);
    const ends = await Promise.all(
      shuffled(ending, random).map((lease, index) =>
        stores[index % WORKERS]?.finish(lease, "a", null, [{
          ...modelResult(1, "a"),
          usage: USAGE,
        }])
      ),
    );
    const usageCount = await tools.stop();

    assert.deepEqual(new Set(ends), new Set(["completed"]));
    const [row] = await sql`
      select sum(task.input_tokens)::int as of_tasks, sum(total.input_tokens)::int as of_jobs
      from public.tasks as task join private.job_totals as total using (master_task_id)
      where task.status = 'completed'`;
    const tokens = 10 * (ENDS + usageCount);
    assert.deepEqual({ ...row }, { of_tasks: tokens, of_jobs: tokens });
    await assertConsistent(sql);
  });

  await t.step("a busy job delays no other end", async () => {
    const running = await createRunning(track, 2);
    const [busy, free] = running.map(({ taskId }) => taskId);
    const ends = running.map(({ taskId, epoch }) => ({
      id: taskId,
      held_epoch: epoch,
      output: "a",
    }));

    await sql.begin(async (holder) => {
      await holder`select private.lock_job_of(${busy ?? null}::uuid)`;
      const ended = await sql.begin(async (worker) => {
        await worker`set local lock_timeout = '5s'`;
        return await worker`
          select task_id from private.finish_tasks(${JSON.stringify(ends)}::text::jsonb)`;
      });

      assert.deepEqual(ended.map(({ task_id }) => task_id), [free]);
    });
  });

  await t.step("no deadlock", () => assertNoDeadlock(track));
});

/** Tools that call models for tasks, which locks the task and then the totals of its job. */
function callModels(sql: Sql, leases: readonly Lease[], random: () => number) {
  let isOver = false;
  let callCount = 0;
  const calling = Promise.all(Array.from({ length: TOOLS }, async () => {
    while (!isOver) {
      const [lease] = shuffled(leases, random);
      await sql`select private.record_usage(${
        JSON.stringify({ ...USAGE, task_id: lease?.taskId ?? null })
      }::text::jsonb)`;
      callCount++;
    }
  }));
  return {
    async stop(): Promise<number> {
      isOver = true;
      await calling;
      return callCount;
    },
  };
}
