/** A typical pgmq consumer: reads with a long poll, does nothing, archives each message. */
import { createSql } from "../../shared/platform/db/sql_client.ts";
import { createMomentReporter, readOrder, reportReady, untilStdinEnds } from "./worker_report.ts";

const order = readOrder();
const sql = createSql(order.url, { maxConnections: order.poolSize, applicationName: "pgmq_poll" });
const begin = createMomentReporter(order);
let isDismissed = false;
const stopped = untilStdinEnds().then(() => {
  isDismissed = true;
});
await sql`select 1`;
reportReady();
while (!isDismissed) {
  // Polls for up to 2 s, every 100 ms.
  const messages = await sql`
    select msg_id from pgmq.read_with_poll('bench_poll', 30, ${order.concurrency}::int, 2, 100)`;
  await Promise.all(messages.map(async ({ msg_id }) => {
    begin();
    await sql`select pgmq.archive('bench_poll', ${msg_id}::bigint)`;
  }));
}
await stopped;
await sql.end({ timeout: 1 });
