import { type BenchResult, judge, type Spread } from "./bench_result.ts";
import { installPeers } from "./peers/install_peers.ts";
import { AGENT, openQueueDatabase, type QueueDatabase } from "./queue_database.ts";
import { mediansOf, ratioIn, runRounds, spreadIn } from "./rounds.ts";
import { requireSessions, serverVersion } from "./server_version.ts";
import { startWorkerProcess, type WorkerOrder, type WorkerProcess } from "./worker_process.ts";

/** In total 20,000 tasks of each system at each concurrency. */
const ROUNDS = 5;
const TASKS = 4_000;
const WARM_UP_TASKS = 400;
const CONCURRENCIES = [10, 50];
/** Minimum ratio to the rate of a peer, by concurrency. */
const TARGETS = { c10: { graphile: 1.8, pgboss: 1.3 }, c50: { graphile: 1.8, pgboss: 0.6 } };
const POOL_SIZE = 10;
const TIMEOUT_MS = 180_000;

const NOTES = [
  "One process claims and finishes no-op tasks through the worker's SQL; no model is called, so no step is written. This includes everything that the platform always does: fencing, turns of owners, the whole context for the worker, two events in the trace and their " +
  "broadcasts. The peers keep no trace and send no broadcasts. All queues are full before the drain; the " +
  `first ${WARM_UP_TASKS} tasks of each are not counted.`,
  "pg-boss takes batches as large as the concurrency; graphile-worker runs with its defaults.",
];

/**
 * Throughput: how fast one worker process drains a queue of tasks that do nothing.
 *
 * @param db `native` or a URL.
 */
export async function benchThroughput(db: string): Promise<BenchResult> {
  requireSessions("throughput", db);
  const peers = await installPeers();
  await using database = await openQueueDatabase(db);
  const { url } = database;
  const spreads: Record<string, Spread> = {};
  for (const concurrency of CONCURRENCIES) {
    const order = { url, concurrency, poolSize: POOL_SIZE, marks: [WARM_UP_TASKS, TASKS] };
    const drain = async (system: WorkerOrder["system"], enqueueCount: number) => {
      await using worker = await startWorkerProcess({ ...order, system, enqueueCount }, peers);
      return await measureDrain(worker);
    };
    const rounds = await runRounds({
      supaswarm: async () => {
        await enqueue(database);
        return await drain("supaswarm", 0);
      },
      graphile: () => drain("graphile", TASKS),
      pgboss: () => drain("pgboss", TASKS),
    }, { bench: `throughput c${concurrency}`, count: ROUNDS, before: () => database.reset() });
    const rate = "tasks_per_second";
    spreads[`c${concurrency}_${rate}`] = spreadIn(rounds, "supaswarm", rate);
    spreads[`c${concurrency}_graphile_${rate}`] = spreadIn(rounds, "graphile", rate);
    spreads[`c${concurrency}_pgboss_${rate}`] = spreadIn(rounds, "pgboss", rate);
    spreads[`c${concurrency}_to_graphile`] = ratioIn(rounds, rate, "supaswarm", "graphile");
    spreads[`c${concurrency}_to_pgboss`] = ratioIn(rounds, rate, "supaswarm", "pgboss");
  }
  const targets = Object.fromEntries(
    Object.entries(TARGETS).flatMap(([at, ratios]) =>
      Object.entries(ratios).map(([peer, min]) => [`${at}_to_${peer}`, { min }])
    ),
  );
  const { node: _, ...versions } = peers.versions;
  return judge("throughput", { tasks: ROUNDS * TASKS, ...mediansOf(spreads) }, targets, {
    spreads,
    versions: { ...versions, ...await serverVersion(database.sql) },
    notes: NOTES,
  });
}

async function enqueue({ sql }: QueueDatabase): Promise<void> {
  await sql`
    select count(*)
    from generate_series(1, ${TASKS}::int) as n
    cross join lateral private.create_task(${AGENT}, to_jsonb('now' || n)) as created`;
  await sql`analyze public.tasks`;
}

async function measureDrain(worker: WorkerProcess): Promise<Record<string, number>> {
  const warm = await worker.next(TIMEOUT_MS);
  const last = await worker.next(TIMEOUT_MS);
  return { tasks_per_second: (last.count - warm.count) / (last.at_ms - warm.at_ms) * 1_000 };
}
