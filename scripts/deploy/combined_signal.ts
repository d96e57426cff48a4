/**
 * Runs on the edge runtime's Deno with `--expose-gc`: whether a combined signal that only its
 * listeners know survives a collection. Prints `heard` or `lost`.
 */
import { keepCombinedSignals } from "../../shared/platform/isolate/keep_combined_signals.ts";

keepCombinedSignals();
const stop = new AbortController();
let isHeard = false;
listen();
for (let round = 0; round < 5; round++) {
  await new Promise((resolve) => setTimeout(resolve, 1));
  collectGarbage();
}
stop.abort();
await Deno.stdout.write(new TextEncoder().encode(isHeard ? "heard" : "lost"));

function listen(): void {
  const combined = AbortSignal.any([stop.signal, new AbortController().signal]);
  combined.addEventListener("abort", () => isHeard = true);
}

function collectGarbage(): void {
  const collect: unknown = Reflect.get(globalThis, "gc");
  if (typeof collect !== "function") throw new TypeError("run with --v8-flags=--expose-gc");
  collect();
}
