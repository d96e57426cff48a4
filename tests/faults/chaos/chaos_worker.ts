/**
 * Started by worker_pool.ts: the product's worker in a separate process, whose store stops at
 * both points of every step until the referee lets it continue. Each line on stdin is a wake-up,
 * and the first one starts the worker; the end of stdin is the end of the run.
 */
import { z } from "../../../shared/vendor/zod.js";
import { surviveStrayErrors } from "../../../shared/isolate/survive_stray_errors.ts";
import { createWorkerPorts } from "../../../shared/app/worker_ports.ts";
import { createSql } from "../../../shared/db/sql_client.ts";
import { createLogger, type Logger } from "../../../shared/log/logger.ts";
import { isolateClock } from "../../../shared/isolate/clock.ts";
import { createLifetime } from "../../../shared/isolate/lifetime.ts";
import { createSqlTaskStore } from "../../../shared/worker/sql_task_store.ts";
import { createTaskWorker } from "../../../shared/worker/task_worker.ts";
import { reportingStore } from "./reporting_store.ts";

/** The configuration of a worker process on its command line, as JSON. */
export type ChaosWorkerOptions = z.infer<typeof optionsSchema>;

const optionsSchema = z.object({
  workerId: z.string(),
  databaseUrl: z.string(),
  refereeUrl: z.string(),
  slots: z.int(),
  leaseSeconds: z.int(),
  isVerbose: z.boolean(),
});

if (import.meta.main) await runChaosWorker(optionsSchema.parse(JSON.parse(Deno.args[0] ?? "")));

async function runChaosWorker(options: ChaosWorkerOptions): Promise<void> {
  const { workerId, databaseUrl, refereeUrl, slots, leaseSeconds, isVerbose } = options;
  const log: Logger = isVerbose ? warnings(createLogger(workerId)) : () => {};
  surviveStrayErrors(log);
  const tell = async (path: string, message: unknown) => {
    await (await fetch(`${refereeUrl}/${workerId}/${path}`, {
      method: "POST",
      body: JSON.stringify(message),
    })).body?.cancel();
  };
  const settings = {
    slots,
    leaseSeconds,
    heartbeatSeconds: leaseSeconds / 4,
    wallClockSeconds: 86_400,
    idleSeconds: 3_600,
    modelTimeoutSeconds: 30,
  };
  const sql = createSql(databaseUrl, { maxConnections: 4, applicationName: workerId });
  const store = reportingStore(createSqlTaskStore(sql, { leaseSeconds, clock: isolateClock }), {
    meet: (encounter) => tell("meet", encounter),
    refused: (lease) => tell("refused", { taskId: lease.taskId, epoch: lease.epoch }),
  });
  const url = "http://127.0.0.1:9";
  const config = {
    databaseUrl,
    apiKeys: {
      url,
      publishableKeys: {},
      secretKeys: { default: "sb_secret_of_the_chaos_run" },
      jwks: new URL(url),
    },
    publicUrl: url,
    allowLoopback: true,
    worker: settings,
  };
  const ports = createWorkerPorts({ config, sql, store, log });
  const lifetime = createLifetime(settings.wallClockSeconds);
  const worker = createTaskWorker({ id: workerId, ports, settings, lifetime });
  let isWorking = false;
  for await (const _ of Deno.stdin.readable) {
    if (!isWorking) void worker.run();
    isWorking = true;
    worker.wake();
  }
  // The process that started this one has ended.
  Deno.exit(0);
}

function warnings(log: Logger): Logger {
  return (level, event, fields) => {
    if (level === "warn" || level === "error") log(level, event, fields);
  };
}
