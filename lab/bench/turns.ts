import { join } from "node:path";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { type BenchResult, judge } from "./bench_result.ts";
import { addDeskAgent, ANSWER_CHARACTERS, RESULT_BYTES, startDesk, wordsOf } from "./desk_jobs.ts";
import { installPeers, type Peers } from "./peers/install_peers.ts";
import { AGENT, openQueueDatabase, type QueueDatabase } from "./queue_database.ts";
import { mediansOf, ratioIn, runRounds, spreadIn } from "./rounds.ts";
import { readServerUse } from "./server_cost.ts";
import { requireSessions, serverVersion } from "./server_version.ts";
import { type DeskOrder, startWorkerProcess } from "./worker_process.ts";

const ROUNDS = 3;
const CONCURRENCY = 10;
const POOL_SIZE = 10;
const JOBS = 120;
const WARM_UP_JOBS = 20;
const TURNS = 10;
const TIMEOUT_MS = 180_000;
const FIGURES = ["turns_per_second", "server_cpu_ms", "wal_kb"] as const;

/**
 * Turns: jobs of ten model calls, of which nine ask for a tool call, ten at a time. The product's
 * worker calls the tool through the gateway; absurd, in its own process, writes a step for each
 * model call and each tool call.
 *
 * @param db `native` or a URL of a server on this machine.
 * @param absurd A clone of absurd, whose SQL is not on npm. Without it, only the product is measured.
 */
export async function benchTurns(db: string, absurd?: string): Promise<BenchResult> {
  requireSessions("turns", db);
  const peers = absurd === undefined ? null : await installPeers();
  await using database = await openQueueDatabase(db);
  await using desk = startDesk();
  const ownerId = await addDeskAgent(database.sql, desk.url);
  const order = { url: desk.url, turns: TURNS, answer: wordsOf(7, ANSWER_CHARACTERS) };
  if (absurd !== undefined) {
    await database.admin.unsafe(await Deno.readTextFile(join(absurd, "sql", "absurd.sql")))
      .simple();
    await database.admin`grant all on schema absurd to postgres`;
    await database.admin`grant all on all tables in schema absurd to postgres`;
  }
  const measures = {
    supaswarm: async () => {
      await createJobs(database.sql, ownerId);
      return await drain("supaswarm", order, database, null);
    },
    ...peers === null ? {} : {
      absurd: () =>
        drain("absurd", { ...order, queue: `bench_${Date.now() % 1e6}` }, database, peers),
    },
  };
  const rounds = await runRounds(measures, {
    bench: "turns",
    count: ROUNDS,
    before: () => database.reset(),
  });
  const spreads = Object.fromEntries(FIGURES.flatMap((figure) => [
    ...Object.keys(measures).map((system) => [
      `${system}_${figure}`,
      spreadIn(rounds, system, figure),
    ]),
    ...peers === null
      ? []
      : [[`${figure}_to_absurd`, ratioIn(rounds, figure, "supaswarm", "absurd")]],
  ]));
  return judge("turns", mediansOf(spreads), {
    supaswarm_server_cpu_ms: { max: 4 },
    ...peers === null
      ? {}
      : { turns_per_second_to_absurd: { min: 1.1 }, wal_kb_to_absurd: { max: 2 } },
  }, {
    spreads,
    versions: {
      ...await serverVersion(database.sql),
      ...peers === null ? {} : { absurd: peers.versions["absurd-sdk"] ?? "" },
    },
    notes: [
      `Jobs of ${TURNS} model calls with answers of ${ANSWER_CHARACTERS} characters, of which ${
        TURNS - 1
      } ask for a call of one HTTP tool with a result of ${RESULT_BYTES} bytes; ${CONCURRENCY} jobs at a time. A turn is a model call with what follows it until the next. Server CPU and WAL include the claims and the ends of the jobs.`,
      "The product also writes the trace, the usage of each call, the ledger of tools and what they teach, and it checks scopes, policies and quotas. absurd writes the results of two steps a turn.",
    ],
  });
}

async function drain(
  system: "supaswarm" | "absurd",
  desk: DeskOrder,
  { url, admin }: QueueDatabase,
  peers: Peers | null,
) {
  const marks = [WARM_UP_JOBS * TURNS, JOBS * TURNS];
  const enqueueCount = system === "supaswarm" ? 0 : JOBS;
  await using worker = await startWorkerProcess(
    { system, url, concurrency: CONCURRENCY, poolSize: POOL_SIZE, marks, enqueueCount, desk },
    peers,
  );
  const warm = await worker.next(TIMEOUT_MS);
  const before = await readServerUse(admin);
  const last = await worker.next(TIMEOUT_MS);
  const after = await readServerUse(admin);
  const turns = last.count - warm.count;
  return {
    turns_per_second: turns / (last.at_ms - warm.at_ms) * 1_000,
    server_cpu_ms: (after.cpuMs - before.cpuMs) / turns,
    wal_kb: (after.walBytes - before.walBytes) / turns / 1_000,
  };
}

async function createJobs(sql: Sql, ownerId: string): Promise<void> {
  await sql`
    select count(*) from generate_series(1, ${JOBS}::int) as n
    cross join lateral private.create_task(
      p_agent => ${AGENT}, p_input => to_jsonb('Check order ' || n), p_created_by => ${ownerId}::uuid
    ) as created`;
  await sql`analyze public.tasks`;
}
