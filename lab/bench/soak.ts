import type { TransactionSql } from "../../shared/vendor/postgres.js";
import { writeProgress } from "../../scripts/terminal.ts";
import { type BenchResult, judge } from "./bench_result.ts";
import { installPeers } from "./peers/install_peers.ts";
import { AGENT, openQueueDatabase, type QueueDatabase } from "./queue_database.ts";
import { mediansOf, runRounds, spreadIn } from "./rounds.ts";
import { requireSessions, serverVersion } from "./server_version.ts";
import { startWorkerProcess, type WorkerOrder, type WorkerProcess } from "./worker_process.ts";

const ROUNDS = 2;
const CONCURRENCY = 10;
const POOL_SIZE = 10;
/** The number of tasks per batch, and the maximum number of waiting tasks. */
const BATCH = 500;
/** A task takes the server longer to create than to run, so one session would not keep up. */
const CREATORS = 3;
const MOST_WAITING = 2_000;
const REPORT_EACH = 50;
const WARM_UP_MS = 5_000;
const MEASURED_MS = 10_000;
const HELD_MS = 70_000;
const SILENCE_MS = 60_000;

const NOTES = [
  `Tasks with one model call, which answers immediately, in isolates with the platform's CPU limits; for graphile-worker no-op jobs. Created by ${CREATORS} sessions as fast as they are done. ` +
  "`before` is the rate of ten seconds, then another session opens a snapshot and keeps it, and " +
  `\`held\` is the rate of ten seconds once it is ${
    HELD_MS / 1_000
  } seconds old. \`kept\` is the ` +
  "share of one in the other: vacuum cannot remove anything that was written in between.",
];

type Enqueue = (database: QueueDatabase) => Promise<unknown>;

const ENQUEUE = {
  supaswarm: ({ sql }) =>
    sql`
    select count(*)
    from generate_series(1, ${BATCH}::int) as n
    cross join lateral private.create_task(${AGENT}, to_jsonb('now' || n)) as created`,
  // In the select list, because a function in `from` without `n` would be called once.
  graphile: ({ sql }) =>
    sql`
    select count(graphile_worker.add_job('noop', '{}'))
    from generate_series(1, ${BATCH}::int) as n`,
} satisfies Record<string, Enqueue>;

/**
 * Soak: how much of a queue's rate remains while a session of the database holds an old snapshot.
 *
 * @param db `native` or a URL.
 */
export async function benchSoak(db: string): Promise<BenchResult> {
  requireSessions("soak", db);
  const peers = await installPeers();
  await using database = await openQueueDatabase(db);
  const soak = (system: keyof typeof ENQUEUE) => async () => {
    await using worker = await startWorkerProcess(orderOf(system, database.url), peers);
    return await measureSoak(database, worker, ENQUEUE[system]);
  };
  const rounds = await runRounds({ supaswarm: soak("supaswarm"), graphile: soak("graphile") }, {
    bench: "soak",
    count: ROUNDS,
    before: () => database.reset(),
  });
  const names = ["before_per_second", "held_per_second", "kept"];
  const spreads = Object.fromEntries(names.flatMap((name) => [
    [name, spreadIn(rounds, "supaswarm", name)],
    [`graphile_${name}`, spreadIn(rounds, "graphile", name)],
  ]));
  return judge("soak", mediansOf(spreads), { kept: { min: 0.45 } }, {
    spreads,
    versions: {
      ...await serverVersion(database.sql),
      "graphile-worker": peers.versions["graphile-worker"] ?? "",
    },
    notes: NOTES,
  });
}

function orderOf(system: WorkerOrder["system"], url: string): WorkerOrder {
  return { system, url, concurrency: CONCURRENCY, poolSize: POOL_SIZE, marks: REPORT_EACH };
}

async function measureSoak(database: QueueDatabase, worker: WorkerProcess, enqueue: Enqueue) {
  const load = startLoad(database, worker, enqueue);
  try {
    await load.pass(WARM_UP_MS);
    const before = await load.pass(MEASURED_MS);
    const held = await database.sql.begin("isolation level repeatable read", async (tx) => {
      await takeSnapshot(tx);
      writeProgress(`soak: holding a snapshot for ${HELD_MS / 1_000} s`);
      await load.pass(HELD_MS);
      return await load.pass(MEASURED_MS);
    });
    return { before_per_second: before, held_per_second: held, kept: held / before };
  } finally {
    await load.stop();
  }
}

/** Takes a snapshot, which requires a query of a table. */
async function takeSnapshot(tx: TransactionSql): Promise<void> {
  await tx`select count(*) from private.settings`;
}

/** Keeps a queue filled and counts the tasks of its worker. */
function startLoad(database: QueueDatabase, worker: WorkerProcess, enqueue: Enqueue) {
  let isOver = false;
  let doneCount = 0;
  let createdCount = 0;
  const done = (async () => {
    while (!isOver) doneCount = (await worker.next(SILENCE_MS)).count;
  })();
  const create = async () => {
    while (!isOver) {
      if (createdCount - doneCount < MOST_WAITING) {
        createdCount += BATCH;
        await enqueue(database);
      } else {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  };
  const created = Array.from({ length: CREATORS }, create);
  const whenBroken = Promise.all([done, ...created]).then(() => {
    throw new Error("Cannot measure the rate: the load has ended");
  });
  whenBroken.catch(() => {});
  return {
    /** Waits and returns the number of started tasks per second. */
    async pass(ms: number): Promise<number> {
      const [startedAtMs, startedCount] = [performance.now(), doneCount];
      await Promise.race([new Promise((resolve) => setTimeout(resolve, ms)), whenBroken]);
      return (doneCount - startedCount) / (performance.now() - startedAtMs) * 1_000;
    },
    /** Stops the load. Resolves when no more tasks are created or read. */
    async stop(): Promise<void> {
      isOver = true;
      await Promise.allSettled([done, ...created]);
    },
  };
}
