/** Waits. @throws the signal's reason */
export function pause(durationMs: number, signal?: AbortSignal): Promise<void> {
  return new ChangeSignal().wait(durationMs, signal);
}

/** How long to wait before another attempt: doubles up to ten seconds, and differs per client. */
export function backoffMs(failures: number): number {
  const longest = Math.min(10_000, 250 * 2 ** failures);
  return longest * (0.5 + Math.random() / 2);
}

/** Ends a wait early when something may have changed. */
export class ChangeSignal {
  #hasChanged = false;
  #wake: () => void = () => {};

  notify(): void {
    this.#hasChanged = true;
    this.#wake();
  }

  /**
   * Resolves with the next change, immediately if there was one since the last wait, or after
   * `limitMs`.
   *
   * @throws the signal's reason
   */
  async wait(limitMs: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (!this.#hasChanged) {
      await new Promise<void>((resolve) => {
        const end = () => {
          clearTimeout(timer);
          signal?.removeEventListener("abort", end);
          resolve();
        };
        const timer = setTimeout(end, limitMs);
        signal?.addEventListener("abort", end);
        this.#wake = end;
      });
    }
    this.#hasChanged = false;
    signal?.throwIfAborted();
  }
}

/** The result of work that cannot be aborted, unless the signal aborts first. @throws its reason */
export async function unlessAborted<Data>(
  work: PromiseLike<Data>,
  signal?: AbortSignal,
): Promise<Data> {
  if (signal === undefined) return await work;
  let onAbort = () => {};
  const aborted = new Promise<never>((_, reject) => onAbort = () => reject(signal.reason));
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort);
  try {
    return await Promise.race([aborted, work]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
