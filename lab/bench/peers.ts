import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { type BenchResult, judge, type Spread } from "./bench_result.ts";
import { measureSerially, nowMs } from "./measure_serially.ts";
import { installPeers } from "./peers/install_peers.ts";
import { AGENT, openQueueDatabase } from "./queue_database.ts";
import { mediansOf, ratioIn, type Rounds, runRounds, spreadIn } from "./rounds.ts";
import { readServerUse } from "./server_cost.ts";
import { requireSessions, serverVersion } from "./server_version.ts";
import { PEER_SYSTEMS, type PeerSystem, startWorkerProcess } from "./worker_process.ts";

const ROUNDS = 3;
const CONCURRENCIES = [10, 50];
const POOL_SIZE = 10;
const TIMEOUT_MS = 180_000;
/** Tasks of a drain, which takes a few seconds. */
const TASKS: Readonly<Record<PeerSystem | "supaswarm", number>> = {
  supaswarm: 2_000,
  graphile: 20_000,
  pgboss: 20_000,
  openworkflow: 1_000,
  dbos: 1_000,
};
const WARM_UP_SHARE = 0.1;
const SYSTEMS = ["supaswarm", ...PEER_SYSTEMS] as const;

const NOTES = [
  "A task of the product calls a model once, which answers immediately, in isolates with the platform's CPU limits. " +
  "A workflow of openworkflow and DBOS has one durable step. A job of the queues graphile-worker and pg-boss does " +
  "nothing: they keep no step, no trace and no result.",
  "`…_pickup_p50_ms`: from before a task is created to the entry of its handler, one at a time; for " +
  "the product to the call of the model. `c10_…` and `c50_…`: a full queue drained by one worker, ten and fifty " +
  "at once; server CPU and WAL of the drain for each task.",
  "Settings: graphile-worker reserves 200 jobs and completes them in batches, pg-boss takes batches as large as " +
  "the concurrency, openworkflow polls at its defaults, DBOS every 10 ms instead of its default second. " +
  "absurd is not among them: its SQL is not on npm.",
];

/** The figures of a drain. */
const DRAIN_FIGURES = ["tasks_per_second", "server_cpu_ms", "wal_kb"] as const;

/**
 * Peers: pickup and throughput beside queues (graphile-worker, pg-boss) and engines for durable
 * workflows (openworkflow, DBOS) on the same server, in the same minutes.
 *
 * @param db `native` or a URL of a server on this machine.
 */
export async function benchPeers(db: string): Promise<BenchResult> {
  requireSessions("peers", db);
  const peers = await installPeers();
  await using database = await openQueueDatabase(db);
  const { sql, url } = database;

  const pickUp = (system: (typeof SYSTEMS)[number]) => async () => {
    const order = { system, url, concurrency: 10, poolSize: POOL_SIZE, marks: null };
    await using worker = await startWorkerProcess(order, peers);
    const create = system === "supaswarm"
      ? () => sql`select task_id from private.create_task(${AGENT}, '"now"')`
      : () => worker.createTask();
    return await measureSerially(async () => {
      const sentAtMs = nowMs();
      await create();
      const { at_ms, created_at_ms = sentAtMs } = await worker.next(TIMEOUT_MS);
      return at_ms - created_at_ms;
    });
  };
  const drain = (concurrency: number) => (system: (typeof SYSTEMS)[number]) => async () => {
    const count = TASKS[system];
    if (system === "supaswarm") await enqueue(sql, count);
    const warmUpCount = count * WARM_UP_SHARE;
    const order = { system, url, concurrency, poolSize: POOL_SIZE, marks: [warmUpCount, count] };
    const enqueueCount = system === "supaswarm" ? 0 : count;
    await using worker = await startWorkerProcess({ ...order, enqueueCount }, peers);
    const warm = await worker.next(TIMEOUT_MS);
    const before = await readServerUse(database.admin);
    const last = await worker.next(TIMEOUT_MS);
    const after = await readServerUse(database.admin);
    return {
      tasks_per_second: (last.count - warm.count) / (last.at_ms - warm.at_ms) * 1_000,
      server_cpu_ms: (after.cpuMs - before.cpuMs) / (last.count - warm.count),
      wal_kb: (after.walBytes - before.walBytes) / (last.count - warm.count) / 1_000,
    };
  };

  const before = async () => {
    // DBOS works on the queues of earlier runs as soon as it starts, while this run fills its own.
    await database.admin`drop schema if exists dbos cascade`;
    await database.reset();
  };
  const eachOf = (measure: typeof pickUp) =>
    Object.fromEntries(SYSTEMS.map((system) => [system, measure(system)]));
  const options = { bench: "peers", count: ROUNDS, before };
  const spreads = compare(await runRounds(eachOf(pickUp), options), "p50_ms", "pickup_p50_ms");
  for (const concurrency of CONCURRENCIES) {
    const rounds = await runRounds(eachOf(drain(concurrency)), options);
    for (const figure of DRAIN_FIGURES) {
      Object.assign(spreads, compare(rounds, figure, `c${concurrency}_${figure}`));
    }
  }
  const { node: _, ...versions } = peers.versions;
  return judge("peers", mediansOf(spreads), {
    pickup_p50_ms_to_graphile: { max: 2 },
    c10_tasks_per_second_to_openworkflow: { min: 1 },
    c10_tasks_per_second_to_dbos: { min: 1 },
  }, { spreads, versions: { ...await serverVersion(sql), ...versions }, notes: NOTES });
}

async function enqueue(sql: Sql, count: number): Promise<void> {
  await sql`
    select count(*) from generate_series(1, ${count}::int) as n
    cross join lateral private.create_task(${AGENT}, to_jsonb('now' || n)) as created`;
  await sql`analyze public.tasks`;
}

function compare(rounds: Rounds, name: string, figure: string): Record<string, Spread> {
  return Object.fromEntries([
    ...SYSTEMS.map((system) => [`${system}_${figure}`, spreadIn(rounds, system, name)]),
    ...PEER_SYSTEMS.map((peer) => [
      `${figure}_to_${peer}`,
      ratioIn(rounds, name, "supaswarm", peer),
    ]),
  ]);
}
