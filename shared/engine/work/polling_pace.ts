/**
 * Wake-ups are debounced: of several within 150 ms, only the first is sent. Polling for more than
 * twice as long after each sign of work finds the work of the dropped ones.
 */
const HOT_FOR_MS = 350;
const HOT_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

/**
 * Returns how long to wait before the next poll.
 *
 * @param quietMs Milliseconds since the last work or wake-up.
 */
export function pollingPauseMs(quietMs: number): number {
  if (quietMs < HOT_FOR_MS) return HOT_PAUSE_MS;
  return Math.min(LONGEST_PAUSE_MS, quietMs / 4);
}
