/** A worker's clock; tests use their own. */
export interface Clock {
  /** Milliseconds since the isolate started. Monotonic. */
  nowMs(): number;
  /** Resolves after `durationMs`, or immediately when `signal` aborts. */
  sleep(durationMs: number, signal?: AbortSignal): Promise<void>;
}

/** The isolate's own clock. */
export const isolateClock: Clock = {
  nowMs: () => performance.now(),
  sleep: (durationMs, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const end = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", end);
        resolve();
      };
      const timer = setTimeout(end, durationMs);
      signal?.addEventListener("abort", end);
    }),
};
