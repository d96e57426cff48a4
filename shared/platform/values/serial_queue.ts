/**
 * Runs work one after the other, in the order in which it was added. Work whose signal aborts before
 * its turn leaves the queue; work that has begun is completed.
 *
 * @throws the signal's reason if it aborts first; errors of `work`.
 */
export type SerialQueue = <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T>;

/**
 * Creates an empty queue.
 *
 * @param patienceMs Work that takes longer mostly waits for others: the next then runs beside it.
 */
export function createSerialQueue(patienceMs: number): SerialQueue {
  let last: Promise<void> = Promise.resolve();
  return (work, signal) =>
    new Promise((resolve, reject) => {
      const leave = () => reject(signal.reason);
      signal.addEventListener("abort", leave, { once: true });
      last = last.then(() => {
        signal.removeEventListener("abort", leave);
        if (signal.aborted) return leave();
        const turn = Promise.withResolvers<void>();
        const timer = setTimeout(turn.resolve, patienceMs);
        void work().then(resolve, reject).finally(() => {
          clearTimeout(timer);
          turn.resolve();
        });
        return turn.promise;
      });
    });
}
