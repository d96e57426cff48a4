/** The time as a worker sees it; tests bring their own. */
export interface Clock {
  /** Milliseconds since the isolate began. Never goes back. */
  nowMs(): number;
  /** Resolves after `durationMs`, or at once when `signal` aborts. */
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
