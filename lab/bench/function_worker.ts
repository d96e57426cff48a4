/**
 * The worker's complete function in a separate process, like in an edge isolate: gateway, model
 * port and adapters, tool servers. It wakes itself once, then reports its memory for each line of
 * stdin.
 */
import { createWorkerApp } from "../../shared/app/worker_app.ts";
import { readConfig } from "../../shared/platform/config/env.ts";
import { writeLine } from "../../scripts/terminal.ts";

const app = createWorkerApp(readConfig(), () => {});
const answer = await app.fetch(
  new Request("http://127.0.0.1/functions/v1/supaswarm-worker", {
    method: "POST",
    headers: { "x-supaswarm-wake-token": Deno.env.get("SUPASWARM_BENCH_WAKE_TOKEN") ?? "" },
  }),
);
if (answer.status !== 202) throw new Error(`Cannot wake the worker: it returned ${answer.status}`);
await answer.body?.cancel();
for await (const _line of Deno.stdin.readable) {
  const { rss, heapUsed } = Deno.memoryUsage();
  writeLine(JSON.stringify({ rss, heap_used: heapUsed }));
}
