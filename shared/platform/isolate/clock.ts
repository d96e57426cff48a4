/** A worker's clock; tests use their own. */
export interface Clock {
  /** Milliseconds since the isolate started. Monotonic. */
  nowMs(): number;
  /** Resolves after `durationMs`, or immediately when `signal` aborts. */
  sleep(durationMs: number, signal?: AbortSignal): Promise<void>;
}

/** A longer timer would overflow, and end at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The isolate's own clock. Its sleeps end after 24 days at the latest. */
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
      const timer = setTimeout(end, Math.min(durationMs, MAX_TIMER_MS));
      signal?.addEventListener("abort", end);
    }),
};
