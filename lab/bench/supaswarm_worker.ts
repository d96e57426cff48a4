/**
 * The product's worker with a model that answers immediately, in isolates with the platform's CPU
 * limits, which follow each other in this process. Without tools, unless its jobs have several turns.
 */
import { createDeskGateway, DESK_TOOL } from "./desk_jobs.ts";
import { createSql } from "../../shared/platform/db/sql_client.ts";
import { NO_TELEMETRY } from "../../shared/platform/telemetry/telemetry.ts";
import { isolateClock } from "../../shared/platform/isolate/clock.ts";
import { createSqlTaskStore } from "../../shared/engine/worker/sql_task_store.ts";
import { createTaskListener } from "../../shared/engine/worker/task_listener.ts";
import type { CallTaskModel } from "../../shared/engine/worker/task_ports.ts";
import { createTaskWorker } from "../../shared/engine/worker/task_worker.ts";
import { startWorkerIsolates } from "../../scripts/platform/worker_isolates.ts";
import { createMomentReporter, readOrder, reportReady, untilStdinEnds } from "./worker_report.ts";

const LEASE_SECONDS = 30;
/** As on paid plans. */
const WALL_CLOCK_SECONDS = 400;
const IDLE_SECONDS = 3_600;

const order = readOrder();
const sql = createSql(order.url, { maxConnections: order.poolSize, applicationName: "supaswarm" });
const reportMoment = createMomentReporter(order);
const listening = Promise.withResolvers<void>();
const ports = {
  store: {
    ...createSqlTaskStore(sql, { leaseSeconds: LEASE_SECONDS, clock: isolateClock }),
    wakeSuccessor: () => Promise.resolve(isolates.wake()),
  },
  callModel: ({ prompt }: Pick<Parameters<CallTaskModel>[0], "prompt">) => {
    reportMoment();
    return Promise.resolve({
      answer: answerTo(prompt.messages.filter(({ role }) => role === "assistant").length + 1),
      usage: {
        provider_id: null,
        model: "bench",
        input_tokens: 0,
        cached_input_tokens: 0,
        output_tokens: 0,
        key_source: "none" as const,
      },
    });
  },
  gateway: order.desk === undefined
    ? {
      listAgentTools: () => Promise.resolve({ tools: [], unavailable: [] }),
      call: () => Promise.reject(new TypeError("No tool was expected")),
      relay: () => Promise.reject(new TypeError("No resource was expected")),
    }
    : createDeskGateway(sql),
  artifacts: { put: () => Promise.reject(new TypeError("No artifact was expected")) },
  describeFiles: () => Promise.reject(new TypeError("No file was expected")),
  clock: isolateClock,
  telemetry: NO_TELEMETRY,
  log: (_level: string, event: string) => {
    if (event === "worker.listening") listening.resolve();
    if (event === "worker.not_listening") listening.reject(new Error("The worker cannot listen"));
  },
};
function answerTo(turn: number) {
  const { desk } = order;
  const name = desk === undefined ? "complete_task" : DESK_TOOL;
  if (desk !== undefined && turn >= desk.turns) {
    return { text: desk.answer, tool_calls: [], finish_reason: "stop" as const };
  }
  return {
    text: desk?.answer ?? "",
    tool_calls: [{
      call_id: String(turn),
      name,
      arguments: desk === undefined ? { output: "done" } : { order: turn },
    }],
    finish_reason: "tool_calls" as const,
  };
}

const listen = createTaskListener({
  databaseUrl: order.url,
  sql,
  clock: isolateClock,
  log: ports.log,
});
const isolates = startWorkerIsolates(WALL_CLOCK_SECONDS, (lifetime) =>
  createTaskWorker({
    id: crypto.randomUUID(),
    ports,
    settings: {
      slots: order.concurrency,
      leaseSeconds: LEASE_SECONDS,
      heartbeatSeconds: 10,
      idleSeconds: IDLE_SECONDS,
    },
    lifetime,
    listen,
  }));
isolates.wake();
await listening.promise;
reportReady();
await untilStdinEnds();
await isolates.unload();
await sql.end({ timeout: 1 });
