import type { Config } from "../platform/config/env.ts";
import { LentConnection } from "../platform/db/lent_connection.ts";
import { createHttpHandler } from "../platform/http/http_handler.ts";
import type { Logger } from "../platform/log/logger.ts";
import { definedOnly } from "../platform/values/defined_only.ts";
import { NO_TELEMETRY, type Telemetry } from "../platform/telemetry/telemetry.ts";
import { isolateClock } from "../platform/isolate/clock.ts";
import { createSqlTaskStore } from "../engine/worker/sql_task_store.ts";
import { createTaskListener } from "../engine/worker/task_listener.ts";
import { createTaskWorker } from "../engine/worker/task_worker.ts";
import { createReleaseCheck } from "./release_check.ts";
import { openIsolatePool } from "../platform/isolate/isolate_pool.ts";
import type { WorkerApp } from "./app.ts";
import { createProjectAnnouncer } from "./announce_project.ts";
import { createFileRemover } from "./deleted_files.ts";
import { serviceKeyOf } from "./service_key.ts";
import { createWakeGuard } from "./wake_guard.ts";
import { createWorkerPorts } from "./worker_ports.ts";
import { createIsolateSupervisor } from "./create_isolate_supervisor.ts";
import { tryInBackground } from "./try_in_background.ts";

/**
 * Composes `supaswarm-worker`: a wake-up gets 202 and the worker's id immediately; the work
 * continues in the background, with one worker per isolate.
 */
export function createWorkerApp(
  config: Config,
  log: Logger,
  telemetry: Telemetry = NO_TELEMETRY,
): WorkerApp {
  const lent = new LentConnection();
  const beside = ["caller", "listener"] as const;
  const sql = openIsolatePool(
    config.databaseUrl,
    "supaswarm-worker",
    beside,
    lent,
    config.connections,
  );
  const ready = createReleaseCheck(sql, log);
  const store = createSqlTaskStore(sql, {
    leaseSeconds: config.worker.leaseSeconds,
    clock: isolateClock,
  });
  const ports = createWorkerPorts({
    config,
    sql,
    store,
    telemetry,
    log,
  });
  // Where the setting says that there are no sessions, a log line at each start would tell nothing.
  const listen = config.poolMode === "transaction" ? undefined : createTaskListener({
    lent,
    databaseUrl: config.databaseUrl,
    sql,
    clock: isolateClock,
    log,
  });
  const supervisor = createIsolateSupervisor({
    config,
    log,
    createWorker: (id, lifetime) =>
      createTaskWorker({
        id,
        ports,
        settings: config.worker,
        lifetime,
        ...definedOnly({ listen }),
      }),
    afterRun: () => telemetry.close(),
  });
  const guard = createWakeGuard(config.apiKeys, store);
  const announceProject = createProjectAnnouncer(sql, config.apiKeys.url);
  const removeFiles = createFileRemover(sql, {
    url: config.apiKeys.url,
    secretKey: serviceKeyOf(config.apiKeys.secretKeys),
  });

  const wake = () => {
    tryInBackground(removeFiles(), {
      attempted: "remove files",
      event: "worker.files_not_removed",
      log,
    });
    return supervisor.wake();
  };
  const fetch = createHttpHandler({ methods: ["POST"], log, ready }, async (request) => {
    await guard(request);
    // Only a function knows the address at which the database reaches functions.
    tryInBackground(announceProject(), {
      attempted: "announce the project",
      event: "worker.project_not_announced",
      log,
    });
    return Response.json({ worker_id: wake() }, { status: 202 });
  });
  return {
    fetch,
    supervisor,
    wake,
    unload: () => supervisor.unload(),
    close: () => sql.end({ timeout: 1 }),
  };
}
