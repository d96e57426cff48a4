import assert from "node:assert/strict";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";
import { isolateClock } from "../../shared/platform/isolate/clock.ts";
import { createSqlTaskStore } from "../../shared/engine/worker/sql_task_store.ts";
import type { Lease } from "../../shared/engine/worker/task_store.ts";
import { seededRandom } from "../../scripts/seeded_random.ts";
import {
  assertAllSettled,
  assertConsistent,
  assertNoDeadlock,
  createFamilies,
  createRunning,
  inLanes,
  modelResult,
  openRaceTrack,
  printFigures,
  type RaceTrack,
  shuffled,
} from "./race_fixture.ts";

Deno.test("only an expired lease is lost, and a lost lease writes nothing", async (t) => {
  await using track = await openRaceTrack();
  const { sql, store } = track;
  const impatient = createSqlTaskStore(sql, { leaseSeconds: 2, clock: isolateClock });

  await t.step("a slow worker that sends heartbeats keeps its tasks", async () => {
    const families = await createFamilies(track, 4, 5);
    const parents = families.map(({ parent }) => parent);
    const children = families.flatMap(({ children }) => children);
    // One more death would end any of them.
    await sql`update public.tasks set max_deliveries = deliveries where status = 'running'`;
    await impatient.heartbeat("slow", [...parents, ...children]);
    const endAtMs = performance.now() + 5_000;
    const beats = { heartbeats: 0, checkpoints: 0, reconciliations: 0, claims: 0 };
    const until = async (name: keyof typeof beats, act: (turn: number) => Promise<unknown>) => {
      while (performance.now() < endAtMs) await act(beats[name]++);
    };

    await Promise.all([
      // Only heartbeats keep the parents' leases, while their children keep the job busy.
      until("heartbeats", async () => {
        const states = await impatient.heartbeat("slow", [...parents, ...children]);
        assert.ok(states.every(({ state }) => state === "held"), JSON.stringify(states));
        await isolateClock.sleep(100);
      }),
      ...[0, 1, 2].map(() =>
        until("checkpoints", async (turn) => {
          const child = children[turn % children.length];
          if (child !== undefined) await store.record(child, [modelResult(turn + 1, "text")], []);
        })
      ),
      until("reconciliations", async () => {
        await sql`select private.reconcile()`;
        await isolateClock.sleep(20);
      }),
      until("claims", async () => {
        await impatient.heartbeat("robber", []);
        assert.deepEqual(await impatient.claim("robber", 10), []);
        await isolateClock.sleep(20);
      }),
    ]);

    printFigures(beats);
    const [row] = await sql`
      select to_jsonb(array_agg(epoch::text order by epoch::text)) as epochs
      from public.tasks where status = 'running'`;
    const held = [...parents, ...children].map(({ epoch }) => epoch);
    assert.deepEqual(row?.epochs, held.toSorted());
    assert.equal((await sql`select from private.dead_letters`).length, 0);
    await inLanes(1, [...children, ...parents], (lease) => store.finish(lease, "done", null));
    await assertAllSettled(sql);
  });

  await t.step("a worker with an expired lease races its successor: 100 rounds", async () => {
    const rounds = 100;
    const leases = await createRunning(track, rounds);
    const random = seededRandom(4);
    let refused = 0;

    // One at a time, so that the successor can claim no other task.
    await inLanes(1, leases, async (late) => {
      await expire(sql, late);
      let isRefused = false;
      let successor: Lease | undefined;
      const record = async () => {
        isRefused = !await isRecorded(store.record(late, [modelResult(1, "late")], []));
      };
      const takeOver = async () => void (successor = await claimExpired(track));
      await Promise.all(shuffled([record, takeOver], random).map((start) => start()));

      // Either the late checkpoint renewed the lease, or the task was returned, and only the successor
      // has it.
      if (isRefused && successor === undefined) [successor] = await store.claim("successor", 1);
      assert.equal(isRefused, successor !== undefined);
      const holder = successor ?? late;
      await store.record(holder, [modelResult(1, "successor")], []);
      const [step] = await sql`
        select output ->> 'text' as text from public.task_steps
        where task_id = ${late.taskId}::uuid and seq = 1`;
      assert.equal(step?.text, isRefused ? "successor" : "late");
      await store.finish(holder, "done", null);
      if (isRefused) refused++;
    });

    printFigures({ rounds, refused, renewed: rounds - refused });
    await assertAllSettled(sql);
  });

  await t.step("a job's new events do not delay its master's heartbeat or claim", async () => {
    const [beating, released] = await createRunning(track, 2);
    assert.ok(beating !== undefined && released !== undefined);
    await store.yield(released);
    await impatient.heartbeat("w", [beating]);
    const leaseOf = async () => {
      const [row] = await sql`
        select extract(epoch from lease_expires_at)::float8 as seconds
        from public.tasks where id = ${beating.taskId}::uuid`;
      return Number(row?.seconds);
    };
    const before = await leaseOf();

    const claimed = await sql.begin(async (child) => {
      for (const { taskId } of [beating, released]) {
        await child`select private.emit_event(${taskId}::uuid, ${taskId}::uuid, 'data.saved', '{}')`;
      }
      await store.heartbeat("w", [beating]);
      return await store.claim("w", 1);
    });

    assert.ok(await leaseOf() > before + 10);
    assert.deepEqual(claimed.map(({ taskId }) => taskId), [released.taskId]);
    await inLanes(1, [beating, ...claimed], (lease) => store.finish(lease, "done", null));
    await assertAllSettled(sql);
  });

  await t.step(
    "a message sent for a running task gives no second lease and leaves nothing",
    async () => {
      const leases = await createRunning(track, 50);
      await inLanes(8, leases, ({ taskId }) =>
        sql`
      select pgmq.send('agent_tasks', jsonb_build_object('task_id', ${taskId}::uuid))`);

      const claims = await inLanes(8, leases, () => store.claim("second", 5));

      assert.deepEqual(claims.flat(), []);
      await sql`select private.reconcile()`;
      await assertConsistent(sql);
      await inLanes(8, leases, (lease) => store.finish(lease, "done", null));
      await assertAllSettled(sql);
    },
  );

  await t.step("no statement was a deadlock victim", () => assertNoDeadlock(track));
});

/** Simulates a worker without heartbeats for the length of a lease. */
async function expire(sql: Sql, { taskId }: Lease): Promise<void> {
  await sql`
    update public.tasks set lease_expires_at = clock_timestamp() where id = ${taskId}::uuid`;
}

/** Another worker notices that the lease has ended, and claims its task. */
async function claimExpired({ sql, store }: RaceTrack): Promise<Lease | undefined> {
  await sql`select private.return_expired_tasks()`;
  const [claimed] = await store.claim("successor", 1);
  return claimed;
}

/** False if the lease was lost; any other refusal is an error. */
async function isRecorded(checkpoint: Promise<unknown>): Promise<boolean> {
  try {
    await checkpoint;
    return true;
  } catch (error) {
    assert.ok(error instanceof SwarmError && error.code === "LEASE_LOST", String(error));
    return false;
  }
}
