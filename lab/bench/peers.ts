import { type BenchResult, judge } from "./bench_result.ts";
import { measureSerially, nowMs } from "./measure_serially.ts";
import { installPeers } from "./peers/install_peers.ts";
import { AGENT, openQueueDatabase } from "./queue_database.ts";
import { mediansOf, ratioIn, type Rounds, runRounds, spreadIn } from "./rounds.ts";
import { requireSessions, serverVersion } from "./server_version.ts";
import { PEER_SYSTEMS, type PeerSystem, startWorkerProcess } from "./worker_process.ts";

const ROUNDS = 3;
const CONCURRENCY = 10;
const POOL_SIZE = 10;
const TIMEOUT_MS = 180_000;
/** Tasks of a drain. DBOS dispatches too few per second for more. */
const TASKS: Readonly<Record<PeerSystem | "supaswarm", number>> = {
  supaswarm: 2_000,
  graphile: 2_000,
  pgboss: 2_000,
  openworkflow: 1_000,
  dbos: 200,
};
const WARM_UP_SHARE = 0.1;
const SYSTEMS = ["supaswarm", ...PEER_SYSTEMS] as const;

const NOTES = [
  "`…_pickup_p50_ms`: from before a task is created to the entry of its handler, one at a time; for " +
  "the product to the call of the model. graphile-worker and pg-boss are notified of a task by NOTIFY; " +
  "openworkflow polls at its defaults, DBOS polls every 10 ms instead of its default second. " +
  "`…_tasks_per_second`: no-op tasks drained by one worker, ten at once.",
  "absurd is not among them: its SQL is not on npm.",
];

/**
 * Peers: pickup and throughput beside queues (graphile-worker, pg-boss) and engines for durable
 * workflows (openworkflow, DBOS) on the same server, in the same minutes.
 *
 * @param db `native` or a URL.
 */
export async function benchPeers(db: string): Promise<BenchResult> {
  requireSessions("peers", db);
  const peers = await installPeers();
  await using database = await openQueueDatabase(db);
  const { sql, url } = database;
  const shared = { url, concurrency: CONCURRENCY, poolSize: POOL_SIZE };

  const pickUp = (system: (typeof SYSTEMS)[number]) => async () => {
    const program = system === "supaswarm" ? "supaswarm_agent" : system;
    await using worker = await startWorkerProcess(
      { ...shared, system: program, marks: null },
      peers,
    );
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
  const drain = (system: (typeof SYSTEMS)[number]) => async () => {
    const count = TASKS[system];
    if (system === "supaswarm") {
      await sql`
        select count(*) from generate_series(1, ${count}::int) as n
        cross join lateral private.create_task(${AGENT}, to_jsonb('now' || n)) as created`;
      await sql`analyze public.tasks`;
    }
    const marks = [count * WARM_UP_SHARE, count];
    const enqueueCount = system === "supaswarm" ? 0 : count;
    await using worker = await startWorkerProcess(
      { ...shared, system, marks, enqueueCount },
      peers,
    );
    const [warm, last] = [await worker.next(TIMEOUT_MS), await worker.next(TIMEOUT_MS)];
    return { tasks_per_second: (last.count - warm.count) / (last.at_ms - warm.at_ms) * 1_000 };
  };

  const before = () => database.reset();
  const eachOf = (measure: typeof pickUp | typeof drain) =>
    Object.fromEntries(SYSTEMS.map((system) => [system, measure(system)]));
  const options = { bench: "peers", count: ROUNDS, before };
  const spreads = {
    ...compare(await runRounds(eachOf(pickUp), options), "p50_ms", "pickup_p50_ms"),
    ...compare(await runRounds(eachOf(drain), options), "tasks_per_second", "tasks_per_second"),
  };
  const { node: _, ...versions } = peers.versions;
  return judge("peers", mediansOf(spreads), {
    pickup_p50_ms_to_graphile: { max: 1.3 },
    tasks_per_second_to_graphile: { min: 1.8 },
    tasks_per_second_to_pgboss: { min: 1.3 },
  }, { spreads, versions: { ...await serverVersion(sql), ...versions }, notes: NOTES });
}

function compare(rounds: Rounds, name: string, figure: string) {
  return Object.fromEntries([
    ...SYSTEMS.map((system) => [`${system}_${figure}`, spreadIn(rounds, system, name)]),
    ...PEER_SYSTEMS.map((peer) => [
      `${figure}_to_${peer}`,
      ratioIn(rounds, name, "supaswarm", peer),
    ]),
  ]);
}
