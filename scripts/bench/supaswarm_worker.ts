/** The queue's own path: claims tasks and finishes them as a worker does, without a model. */
import { createSql, prepareStatements } from "../../shared/db/sql_client.ts";
import { WakeSignal } from "../../shared/work/wake_signal.ts";
import { isolateClock } from "../../shared/isolate/clock.ts";
import { createSqlTaskStore } from "../../shared/worker/sql_task_store.ts";
import type { Lease } from "../../shared/worker/task_store.ts";
import { createMomentReporter, readOrder, reportReady, untilDismissed } from "./worker_report.ts";

const order = readOrder();
const sql = createSql(order.url, { maxConnections: order.poolSize, applicationName: "supaswarm" });
// As the worker does once it listens.
prepareStatements(sql);
const store = createSqlTaskStore(sql, { leaseSeconds: 30, clock: isolateClock });
const signal = new WakeSignal(isolateClock);
const begin = createMomentReporter(order);
let running = 0;
let isDismissed = false;
const dismissed = untilDismissed().then(() => {
  isDismissed = true;
  signal.send();
});

async function finish(lease: Lease): Promise<void> {
  begin();
  await store.finish(lease, "done", null);
  running--;
  signal.send();
}

await sql`select 1`;
reportReady();
while (!isDismissed) {
  const room = order.concurrency - running;
  const claimed = room === 0 ? [] : await store.claim("bench", room);
  running += claimed.length;
  for (const lease of claimed) void finish(lease);
  await signal.wait(50);
}
await dismissed;
await sql.end({ timeout: 1 });
