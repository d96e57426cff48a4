/**
 * Measures only the queue: the product's runner, whose tasks end without a model. Isolates with the
 * platform's CPU limits follow each other in this process.
 */
import { createSql, prepareStatements } from "../../shared/platform/db/sql_client.ts";
import { isolateClock } from "../../shared/platform/isolate/clock.ts";
import { WorkRunner } from "../../shared/engine/work/work_runner.ts";
import { createSqlTaskStore } from "../../shared/engine/worker/sql_task_store.ts";
import { startWorkerIsolates } from "../../scripts/platform/worker_isolates.ts";
import { createMomentReporter, readOrder, reportReady, untilStdinEnds } from "./worker_report.ts";

const LEASE_SECONDS = 30;
/** As on paid plans. */
const WALL_CLOCK_SECONDS = 400;
const IDLE_SECONDS = 3_600;

const order = readOrder();
const sql = createSql(order.url, { maxConnections: order.poolSize, applicationName: "supaswarm" });
// Like the worker when it listens.
prepareStatements(sql);
const store = createSqlTaskStore(sql, { leaseSeconds: LEASE_SECONDS, clock: isolateClock });
const begin = createMomentReporter(order);
const isolates = startWorkerIsolates(WALL_CLOCK_SECONDS, (lifetime) =>
  new WorkRunner({
    id: crypto.randomUUID(),
    kind: {
      noun: "task",
      claim: async (workerId, { limit, isIdle }) =>
        (await store.claim(workerId, limit, isIdle))
          .map(({ taskId, epoch }) => ({ id: taskId, epoch })),
      renew: async (workerId, leases) =>
        (await store.heartbeat(workerId, leases.map(({ id, epoch }) => ({ taskId: id, epoch }))))
          .map(({ taskId, ...state }) => ({ id: taskId, ...state })),
      run({ id, epoch }, { settle }) {
        begin();
        settle();
        return store.finish({ taskId: id, epoch }, "done", null);
      },
      wakeSuccessor: () => Promise.resolve(isolates.wake()),
    },
    settings: {
      slots: order.concurrency,
      leaseSeconds: LEASE_SECONDS,
      heartbeatSeconds: 10,
      idleSeconds: IDLE_SECONDS,
    },
    lifetime,
    clock: isolateClock,
    log: () => {},
  }));

await sql`select 1`;
reportReady();
isolates.wake();
await untilStdinEnds();
await isolates.unload();
await sql.end({ timeout: 1 });
