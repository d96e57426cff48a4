import { startModelServer } from "../../../scripts/models/model_server.ts";
import { inLanes } from "../../postgres/race_fixture.ts";
import { ChaosDatabase } from "./chaos_database.ts";
import {
  CHAOS_AGENT,
  chaosModel,
  type GivenAnswer,
  registerJob,
  startToolApi,
} from "./chaos_job.ts";
import { startReferee } from "./referee.ts";
import { superviseChaos } from "./supervisor.ts";
import { judgeChaos, type Verdict } from "./verdict.ts";
import { setUpWitness } from "./witness.ts";
import { WorkerPool } from "./worker_pool.ts";

/** The size and time limit of a run. */
export interface ChaosOptions {
  readonly seed: number;
  /** Jobs of eight tasks each. */
  readonly masters: number;
  readonly isVerbose: boolean;
}

const WORKERS = 8;
const SLOTS = 4;
const LEASE_SECONDS = 2;
const FROZEN_WORKERS_MAX = 4;
/** One job in six is cancelled. */
const CANCELLED_SHARE = 1 / 6;
const TIMEOUT_MS = 600_000;

/**
 * Runs jobs on real workers that are killed, frozen and disconnected, on a Postgres that dies once,
 * and checks the result.
 *
 * @throws Error if tasks are stuck.
 */
export async function runChaos({ seed, masters, isVerbose }: ChaosOptions): Promise<Verdict> {
  const answers: GivenAnswer[] = [];
  await using cleanUp = new AsyncDisposableStack();
  const database = cleanUp.use(await ChaosDatabase.start());
  const model = await startModelServer({ agents: [chaosModel(answers)] });
  cleanUp.defer(() => model.stop());
  const toolApi = startToolApi();
  cleanUp.defer(() => toolApi.stop());
  await setUpWitness(database.sql);
  await registerJob(database.sql, model.url, toolApi.url);
  const referee = cleanUp.use(
    startReferee({
      seed,
      database,
      leaseSeconds: LEASE_SECONDS,
      frozenWorkersMax: FROZEN_WORKERS_MAX,
    }),
  );

  const startedAtMs = performance.now();
  const masterIds = await createMasters(database, masters);
  const pool = new WorkerPool({
    workers: WORKERS,
    databaseUrl: database.url,
    refereeUrl: referee.url,
    slots: SLOTS,
    leaseSeconds: LEASE_SECONDS,
    isVerbose,
  });
  cleanUp.defer(() => pool.stop());
  referee.rule(pool);
  const supervised = await superviseChaos({
    seed,
    database,
    pool,
    masterIds,
    cancellations: Math.floor(masters * CANCELLED_SHARE),
    timeoutMs: TIMEOUT_MS,
  });
  // A zombie may wake up after the last task has ended.
  await pool.stop();
  const seconds = Math.round((performance.now() - startedAtMs) / 100) / 10;

  const { violations, figures, failures } = await judgeChaos(database.sql, {
    masterCount: masters,
    cancelledJobs: supervised.cancelledJobs,
    answers,
    toolRequests: toolApi.seen,
    disturbances: pool.disturbances,
    outages: database.outages,
  });
  return {
    violations: {
      ...violations,
      deadlocks: await database.deadlockCount(),
      collapsed_workers: pool.collapsedCount,
    },
    figures: { seed, ...figures, ...toSnakeCase({ ...referee.counts, ...supervised }), seconds },
    failures,
  };
}

async function createMasters(database: ChaosDatabase, count: number): Promise<string[]> {
  const positions = Array.from({ length: count }, (_, index) => String(index));
  return await inLanes(4, positions, async (position) => {
    const [row] = await database.sql`
      select task_id from private.create_task(${CHAOS_AGENT}, ${database.sql.json({ position })})`;
    return String(row?.task_id);
  });
}

function toSnakeCase(counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(counts).map(([name, count]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      count,
    ]),
  );
}
