/**
 * Wakes are debounced: of several within 150 ms only the first is sent. Looking again for more
 * than twice as long after each sign of work finds what the others would have said.
 */
const HOT_FOR_MS = 350;
const HOT_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

/**
 * How long to wait before looking for work again.
 *
 * @param quietMs Milliseconds since there last was work or a wake.
 */
export function pollingPauseMs(quietMs: number): number {
  if (quietMs < HOT_FOR_MS) return HOT_PAUSE_MS;
  return Math.min(LONGEST_PAUSE_MS, quietMs / 4);
}
