import { PROJECT_ROOT } from "../../../scripts/project_root.ts";
import { startModelServer } from "../../../scripts/models/model_server.ts";
import { inLanes } from "../../postgres/race_fixture.ts";
import { ChaosDatabase } from "./chaos_database.ts";
import {
  chaosModel,
  createMaster,
  type GivenAnswer,
  registerJob,
  startToolApi,
} from "./chaos_job.ts";
import { openOldCheckout } from "./old_checkout.ts";
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
  /** A commit that some of the workers run. @default none */
  readonly beside?: string | undefined;
}

const WORKERS = 8;
/** The others poll, like workers behind a transaction pooler. */
const LISTENING_WORKERS = 4;
const SLOTS = 4;
/** On a quiet machine. */
const SHORTEST_LEASE_SECONDS = 2;
const LONGEST_LEASE_SECONDS = 15;
const FROZEN_WORKERS_MAX = 4;
/** Of the jobs; the others are created later, when no task waits. */
const WAITING_SHARE = 1 / 2;
/** One job in six is cancelled. */
const CANCELLED_SHARE = 1 / 6;
/** Long, because only a failure waits this long, even on a busy machine. */
const TIMEOUT_MS = 1_800_000;

/**
 * Runs jobs on real workers that are killed, frozen and disconnected, on a Postgres that dies once,
 * and checks the result.
 *
 * @throws Error if tasks are stuck.
 */
export async function runChaos(
  { seed, masters, isVerbose, beside }: ChaosOptions,
): Promise<Verdict> {
  const answers: GivenAnswer[] = [];
  const leaseSeconds = await fittingLeaseSeconds();
  await using cleanUp = new AsyncDisposableStack();
  const checkouts = [PROJECT_ROOT];
  if (beside !== undefined) checkouts.push(cleanUp.use(await openOldCheckout(beside)).folder);
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
      leaseSeconds,
      frozenWorkersMax: FROZEN_WORKERS_MAX,
    }),
  );

  const startedAtMs = performance.now();
  const positions = Array.from({ length: masters }, (_, index) => String(index));
  const waiting = positions.slice(0, Math.floor(masters * WAITING_SHARE));
  await inLanes(4, waiting, (position) => createMaster(database.sql, position));
  const pool = new WorkerPool({
    workers: WORKERS,
    listeningWorkers: LISTENING_WORKERS,
    checkouts,
    databaseUrl: database.url,
    refereeUrl: referee.url,
    slots: SLOTS,
    leaseSeconds,
    isVerbose,
  });
  cleanUp.defer(() => pool.stop());
  referee.rule(pool);
  const supervised = await superviseChaos({
    seed,
    database,
    pool,
    waiting,
    arriving: positions.slice(waiting.length),
    cancellations: Math.floor(masters * CANCELLED_SHARE),
    timeoutMs: TIMEOUT_MS,
  });
  // A zombie may wake up after the last task has ended.
  await pool.stop();
  const seconds = Math.round((performance.now() - startedAtMs) / 100) / 10;

  const { violations, figures, failures } = await judgeChaos(database.sql, {
    masterCount: masters,
    leaseSeconds,
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
    figures: {
      seed,
      lease_seconds: leaseSeconds,
      ...figures,
      ...toSnakeCase({ ...referee.counts, ...supervised }),
      seconds,
    },
    failures,
  };
}

/**
 * The seconds of a lease, in proportion to how long this process waits for a processor: on a busy
 * machine, a shorter lease would end while its worker waits, and tasks would fail without a fault.
 */
async function fittingLeaseSeconds(): Promise<number> {
  const waitShare = await processorWaitShare();
  const seconds = Math.ceil(SHORTEST_LEASE_SECONDS / (1 - waitShare));
  return Math.min(seconds, LONGEST_LEASE_SECONDS);
}

/** The share of a second of work that this process waits for a processor. 0 where it is unknown. */
async function processorWaitShare(): Promise<number> {
  const before = await readSchedule();
  const untilMs = performance.now() + 1_000;
  while (performance.now() < untilMs);
  const after = await readSchedule();
  if (before === null || after === null) return 0;
  const waitedNs = after.waitedNs - before.waitedNs;
  return waitedNs / (after.ranNs - before.ranNs + waitedNs);
}

/** The running and waiting times of this thread. Linux only. */
async function readSchedule(): Promise<{ ranNs: number; waitedNs: number } | null> {
  const text = await Deno.readTextFile("/proc/self/schedstat").catch(() => null);
  if (text === null) return null;
  const [ranNs = 0, waitedNs = 0] = text.split(" ").map(Number);
  return { ranNs, waitedNs };
}

function toSnakeCase(counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(counts).map(([name, count]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      count,
    ]),
  );
}
