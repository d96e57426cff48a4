/**
 * The worker's complete function on the edge runtime's Deno. It wakes itself once, then reports for
 * each line of stdin what its meter and the operating system last counted, in milliseconds.
 */
import { createWorkerApp } from "../../shared/app/worker_app.ts";
import { readConfig } from "../../shared/platform/config/env.ts";
import { startMetering } from "../../shared/platform/isolate/cpu_meter.ts";
import type { OpenLogger } from "../../shared/platform/log/logger.ts";
import { surviveStrayErrors } from "../../shared/platform/isolate/survive_stray_errors.ts";
import { keepCombinedSignals } from "../../shared/platform/isolate/keep_combined_signals.ts";

surviveStrayErrors(() => {});
keepCombinedSignals();
const noteArrival = startMetering();
const counted = { meter_ms: 0, thread_ms: 0 };
const noteUse: OpenLogger = (_level, _event, fields = {}) => {
  const { cpu_used_ms: meterMs } = fields;
  if (typeof meterMs !== "number") return;
  counted.meter_ms = meterMs;
  counted.thread_ms = readThreadMs() - beganMs;
};
const app = createWorkerApp(readConfig(), noteUse);
const beganMs = readThreadMs();
noteArrival();
const answer = await app.fetch(
  new Request("http://127.0.0.1/functions/v1/supaswarm-worker", {
    method: "POST",
    headers: { "x-supaswarm-wake-token": Deno.env.get("SUPASWARM_BENCH_WAKE_TOKEN") ?? "" },
  }),
);
if (answer.status !== 202) throw new Error(`Cannot wake the worker: it returned ${answer.status}`);
await answer.body?.cancel();
for await (const _line of Deno.stdin.readable) {
  await Deno.stdout.write(new TextEncoder().encode(`${JSON.stringify(counted)}\n`));
}

/** CPU time of the main thread, on which the isolate runs. */
function readThreadMs(): number {
  const text = Deno.readTextFileSync(`/proc/${Deno.pid}/task/${Deno.pid}/schedstat`);
  return Number(text.split(" ")[0]) / 1e6;
}
