import type { Process, Scheduler } from "./scheduler.ts";

/** Resolves after a time of the world. @throws the signal's reason if it aborts first. */
export function waitFor(
  durationMs: number,
  process: Process,
  signal: AbortSignal,
  scheduler: Scheduler,
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const cancel = scheduler.after(durationMs, process, resolve);
    signal.addEventListener("abort", () => {
      cancel();
      reject(signal.reason);
    }, { once: true });
  });
}
