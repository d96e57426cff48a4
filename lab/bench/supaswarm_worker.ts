/** Measures only the queue: the product's runner, whose tasks end without a model. */
import { createSql, prepareStatements } from "../../shared/platform/db/sql_client.ts";
import { isolateClock } from "../../shared/platform/isolate/clock.ts";
import { createLifetime } from "../../shared/platform/isolate/lifetime.ts";
import { WorkRunner } from "../../shared/engine/work/work_runner.ts";
import { createSqlTaskStore } from "../../shared/engine/worker/sql_task_store.ts";
import { createMomentReporter, readOrder, reportReady, untilStdinEnds } from "./worker_report.ts";

const LEASE_SECONDS = 30;
const LIFE_SECONDS = 3_600;

const order = readOrder();
const sql = createSql(order.url, { maxConnections: order.poolSize, applicationName: "supaswarm" });
// Like the worker when it listens.
prepareStatements(sql);
const store = createSqlTaskStore(sql, { leaseSeconds: LEASE_SECONDS, clock: isolateClock });
const begin = createMomentReporter(order);
const runner = new WorkRunner({
  id: "bench",
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
    wakeSuccessor: () => Promise.resolve(),
  },
  settings: {
    slots: order.concurrency,
    leaseSeconds: LEASE_SECONDS,
    heartbeatSeconds: 10,
    idleSeconds: LIFE_SECONDS,
  },
  lifetime: createLifetime(LIFE_SECONDS),
  clock: isolateClock,
  log: () => {},
});

await sql`select 1`;
reportReady();
const ended = runner.run();
await untilStdinEnds();
await runner.unload();
await ended;
await sql.end({ timeout: 1 });
