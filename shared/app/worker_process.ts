import type { Config } from "../platform/config/env.ts";
import { poolingOf } from "../platform/config/pooling.ts";
import { toSwarmError } from "../platform/db/to_swarm_error.ts";
import { openIsolatePool } from "../platform/isolate/isolate_pool.ts";
import type { Logger } from "../platform/log/logger.ts";
import { createTelemetry } from "../platform/telemetry/telemetry.ts";
import { createReleaseCheck } from "./release_check.ts";
import { createQuothSyncApp } from "./quoth_sync_app.ts";
import { createWebhooksApp } from "./webhooks_app.ts";
import { createWorkerApp } from "./worker_app.ts";

/** For tasks: more than an isolate may have, because a process runs more of them. */
const CONNECTIONS = 8;
/** Less than half of the time after which `private.has_free_process()` takes it for dead. */
const NOTE_EVERY_MS = 5_000;
const FUNCTION_NAME = "supaswarm-worker";

/** The workers of tasks, syncs and webhook messages in one process. */
export interface WorkerProcess {
  readonly id: string;
  /** How much more work each kind would claim now, by the name of its edge function. */
  freeSlots(): Readonly<Record<string, number>>;
  /** @throws SwarmError why it cannot work: SCHEMA_OUTDATED, DATABASE_UNAVAILABLE. */
  assertReady(): Promise<void>;
  /**
   * Claims no more. Running work ends after its current step; what still runs after `graceMs` is
   * returned, and others continue it.
   */
  stop(graceMs: number): Promise<void>;
}

/**
 * Starts the workers of the edge functions in this process, which has no limits of wall clock and
 * CPU time. While it has room, new tasks start no edge function.
 *
 * @throws SwarmError SCHEMA_OUTDATED, DATABASE_UNAVAILABLE
 */
export async function startWorkerProcess(config: Config, log: Logger): Promise<WorkerProcess> {
  const id = crypto.randomUUID();
  const name = "supaswarm worker process";
  const sql = openIsolatePool(config.databaseUrl, name, [], undefined, 1);
  const assertReady = createReleaseCheck(sql, log);
  try {
    await assertReady();
  } catch (error) {
    await sql.end({ timeout: 1 });
    throw error;
  }
  const unlimited: Config = {
    ...config,
    cpu: null,
    worker: { ...config.worker, wallClockSeconds: Infinity },
  };
  const telemetry = createTelemetry({
    settings: config.telemetry,
    functionName: FUNCTION_NAME,
    secrets: Object.values(config.apiKeys.secretKeys),
    log,
  });
  const apps = {
    [FUNCTION_NAME]: createWorkerApp({ ...unlimited, connections: CONNECTIONS }, log, telemetry),
    "quoth-sync": createQuothSyncApp(unlimited, log),
    "supaswarm-webhooks": createWebhooksApp(unlimited, log),
  };
  // A process behind a transaction pooler hears of no task, so tasks also wake an edge function.
  const isHeard = poolingOf(config.databaseUrl).hasSessions;
  const hasRoom = () => isHeard && (apps[FUNCTION_NAME].supervisor.freeSlots ?? 0) > 0;
  const look = () => {
    for (const app of Object.values(apps)) app.wake();
  };
  const note = () =>
    sql`select private.record_worker_process(${id}, ${hasRoom()})`.catch((error: unknown) => {
      const { code } = toSwarmError(error, "record the worker process");
      log("warn", "worker.not_noted", { code });
    });
  look();
  await note();
  // A worker that has failed is started again.
  const timer = setInterval(() => {
    look();
    void note();
  }, NOTE_EVERY_MS);

  return {
    id,
    freeSlots: () =>
      Object.fromEntries(
        Object.entries(apps).map(([name, { supervisor }]) => [name, supervisor.freeSlots ?? 0]),
      ),
    async assertReady() {
      await assertReady();
      await sql`select`.catch((error: unknown) => {
        throw toSwarmError(error, "reach the database");
      });
    },
    async stop(graceMs) {
      clearInterval(timer);
      // First, so that what is returned wakes others.
      await sql`select private.delete_worker_process(${id})`.catch(() => {});
      const all = Object.values(apps);
      await Promise.all(all.map(({ supervisor }) => supervisor.drain(graceMs)));
      await telemetry.close();
      await Promise.all([...all.map((app) => app.close()), sql.end({ timeout: 1 })]);
    },
  };
}
