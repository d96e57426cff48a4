/** How work under a deadline ended. */
export type Timed<T> =
  | { readonly kind: "done"; readonly value: T }
  | { readonly kind: "timeout" };

/**
 * Runs `work` with a signal that aborts after `timeoutMs` or with the caller's own signal.
 *
 * @throws the caller's reason if its signal aborted, otherwise errors of `work`.
 */
export async function withDeadline<T>(
  timeoutMs: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<Timed<T>> {
  signal.throwIfAborted();
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(new Error("deadline")), timeoutMs);
  const both = AbortSignal.any([signal, deadline.signal]);
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(both.reason);
  both.addEventListener("abort", onAbort, { once: true });
  try {
    // Work that ignores the signal must not block the caller past the deadline.
    return { kind: "done", value: await Promise.race([work(both), aborted.promise]) };
  } catch (error) {
    signal.throwIfAborted();
    if (deadline.signal.aborted) return { kind: "timeout" };
    throw error;
  } finally {
    clearTimeout(timer);
    both.removeEventListener("abort", onAbort);
    aborted.promise.catch(() => {});
  }
}
