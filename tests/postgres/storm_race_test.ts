import assert from "node:assert/strict";
import { isolateClock } from "../../shared/worker/clock.ts";
import type { Lease } from "../../shared/worker/task_store.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import {
  assertAllSettled,
  assertNoDeadlock,
  createTasks,
  inLanes,
  openRaceTrack,
  printFigures,
  seededRandom,
  shuffled,
  statusCounts,
} from "./race_fixture.ts";
import { runStormAgent, type StormReport } from "./storm_agent.ts";

const SEED = 11;
const MASTERS = 30;
const WORKERS = 6;
const SLOTS = 4;
const REPAIR_PAUSE_MS = 150;
const POLL_MS = 25;

Deno.test("workers that die and freeze, cancellations and lost messages leave every job whole", async () => {
  await using track = await openRaceTrack({ connections: 20, leaseSeconds: 1 });
  const { sql, store } = track;
  const random = seededRandom(SEED);
  const report: StormReport = {
    deaths: 0,
    zombies: 0,
    refusals: 0,
    cancellations: 0,
    surprises: [],
    firstResults: new Map(),
  };
  let isOver = false;
  const masterIds = await createTasks(sql, MASTERS);

  async function runWorker(workerId: string): Promise<void> {
    const held = new Map<Lease, Promise<void>>();
    const frozen = new Set<string>();
    while (!isOver) {
      const claimed = await store.claim(workerId, SLOTS - held.size);
      for (const task of claimed) {
        const run = runStormAgent(task, { store, random, report, frozen });
        held.set(task, run.finally(() => held.delete(task)));
      }
      await isolateClock.sleep(POLL_MS);
      const beating = [...held.keys()].filter(({ taskId }) => !frozen.has(taskId));
      await store.heartbeat(workerId, beating);
    }
    await Promise.all(held.values());
  }

  async function repair(): Promise<void> {
    while (!isOver) {
      await sql`select private.reconcile()`;
      await isolateClock.sleep(REPAIR_PAUSE_MS);
    }
  }

  async function disturb(): Promise<void> {
    for (const masterId of shuffled(masterIds, random).slice(0, MASTERS / 5)) {
      await sql`
        delete from pgmq.q_agent_tasks
        where msg_id = (select msg_id from pgmq.q_agent_tasks order by random() limit 1)`;
      await sql`select public.cancel_task(${masterId}::uuid)`;
      await isolateClock.sleep(REPAIR_PAUSE_MS);
    }
  }

  const startedAtMs = performance.now();
  const lanes = [
    ...Array.from({ length: WORKERS }, (_, index) => runWorker(`worker-${index}`)),
    repair(),
    repair(),
    disturb(),
  ];
  try {
    await waitFor(async () => {
      const [row] =
        await sql`select count(*)::int as count from public.tasks where finished_at is null`;
      return row?.count === 0 || report.surprises.length > 0;
    }, { timeoutMs: 60_000, intervalMs: 200, what: "every task to end" });
  } catch (cause) {
    const stuck = await sql`
      select id, status, epoch, deliveries, pending_children, message_id, worker_id,
        lease_expires_at - clock_timestamp() as lease, to_jsonb(logs) as logs
      from public.tasks where finished_at is null limit 5`;
    throw new Error(`Tasks are stuck: ${JSON.stringify(stuck)}`, { cause });
  } finally {
    isOver = true;
    await inLanes(1, lanes, (lane) => lane);
  }

  const { surprises, firstResults, ...counts } = report;
  printFigures({
    seed: SEED,
    ...await statusCounts(sql),
    ...counts,
    steps: firstResults.size,
    seconds: Math.round((performance.now() - startedAtMs) / 100) / 10,
  });
  assert.deepEqual(surprises, []);
  const rows = await sql`
    select task_id || ':' || seq as key, output ->> 'text' as text
    from public.task_steps where kind = 'model' and state = 'done'`;
  assert.deepEqual(
    new Map(rows.map(({ key, text }) => [String(key), String(text)])),
    new Map(rows.map(({ key }) => [String(key), firstResults.get(String(key)) ?? "none"])),
  );
  await assertAllSettled(sql);
  await assertNoDeadlock(track);
});
