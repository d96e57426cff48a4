/**
 * Started by worker_pool.ts: the product's worker in a separate process, with the platform's CPU
 * limits, whose store stops at both points of every step until the referee lets it continue. Each
 * line on stdin is a wake-up; the end of stdin is the end of the run.
 */
import { z } from "../../../shared/vendor/zod.js";
import { surviveStrayErrors } from "../../../shared/platform/isolate/survive_stray_errors.ts";
import { createWorkerPorts } from "../../../shared/app/worker_ports.ts";
import { createSql } from "../../../shared/platform/db/sql_client.ts";
import { createLogger, type Logger } from "../../../shared/platform/log/logger.ts";
import { isolateClock } from "../../../shared/platform/isolate/clock.ts";
import { TOOL_SEARCH_BYTES } from "../../../shared/engine/agent/offer_tools.ts";
import { createSqlTaskStore } from "../../../shared/engine/worker/sql_task_store.ts";
import { createTaskListener } from "../../../shared/engine/worker/task_listener.ts";
import { createTaskWorker } from "../../../shared/engine/worker/task_worker.ts";
import { startWorkerIsolates } from "../../../scripts/platform/worker_isolates.ts";
import { CHAOS_CONFIG } from "./chaos_config.ts";
import { reportingStore } from "./reporting_store.ts";

/** The configuration of a worker process on its command line, as JSON. */
export type ChaosWorkerOptions = z.infer<typeof optionsSchema>;

const optionsSchema = z.object({
  workerId: z.string(),
  databaseUrl: z.string(),
  refereeUrl: z.string(),
  slots: z.int(),
  leaseSeconds: z.int(),
  /** Whether it listens. Otherwise it polls, like one behind a pooler. */
  isListening: z.boolean(),
  isVerbose: z.boolean(),
});

if (import.meta.main) await runChaosWorker(optionsSchema.parse(JSON.parse(Deno.args[0] ?? "")));

async function runChaosWorker(options: ChaosWorkerOptions): Promise<void> {
  const { workerId, databaseUrl, refereeUrl, slots, leaseSeconds, isListening, isVerbose } =
    options;
  const log: Logger = isVerbose ? warnings(createLogger(workerId)) : () => {};
  surviveStrayErrors(log);
  const tell = async (path: string, message: unknown) => {
    const response = await fetch(`${refereeUrl}/${workerId}/${path}`, {
      method: "POST",
      body: JSON.stringify(message),
    });
    await response.body?.cancel();
  };
  const settings = {
    slots,
    leaseSeconds,
    heartbeatSeconds: leaseSeconds / 4,
    wallClockSeconds: 86_400,
    idleSeconds: 3_600,
    modelTimeoutSeconds: 30,
    toolSearchBytes: TOOL_SEARCH_BYTES,
  };
  const sql = createSql(databaseUrl, { maxConnections: 4, applicationName: workerId });
  const store = reportingStore(createSqlTaskStore(sql, { leaseSeconds, clock: isolateClock }), {
    meet: (encounter) => tell("meet", encounter),
    refused: ({ taskId, epoch }) => tell("refused", { taskId, epoch }),
  });
  const listen = createTaskListener({ databaseUrl, sql, clock: isolateClock, log });
  const config = { ...CHAOS_CONFIG, worker: settings };
  const ports = createWorkerPorts({ config, sql, store, log });
  const isolates = startWorkerIsolates(settings.wallClockSeconds, (lifetime) =>
    createTaskWorker({
      id: workerId,
      ports,
      settings,
      lifetime,
      ...(isListening ? { listen } : {}),
    }));
  for await (const _ of Deno.stdin.readable) isolates.wake();
  // The process that started this one has ended.
  Deno.exit(0);
}

function warnings(log: Logger): Logger {
  return (level, event, fields) => {
    const isNotable = level !== "info" || /listening$/.test(event);
    if (isNotable) log(level, event, fields);
  };
}
