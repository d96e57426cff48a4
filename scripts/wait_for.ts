/**
 * Long, because only a failure waits this long: a condition that comes true ends the wait at once,
 * and a machine with much other work takes many times as long for everything.
 */
export const LONGEST_WAIT_MS = 300_000;

interface WaitOptions {
  /** @default {@linkcode LONGEST_WAIT_MS} */
  readonly timeoutMs?: number;
  /** @default 25 */
  readonly intervalMs?: number;
  /** The name of the condition, for the error; a function also says how far it came. */
  readonly what?: string | (() => string);
}

/**
 * Polls `condition` until it returns something other than `undefined`, `null` or `false`, and
 * returns that.
 *
 * @throws Error after `timeoutMs`, with the name of the condition.
 */
export async function waitFor<T>(
  condition: () => Promise<T | undefined | null | false> | T | undefined | null | false,
  options: WaitOptions = {},
): Promise<T> {
  const { timeoutMs = LONGEST_WAIT_MS, intervalMs = 25, what = "the condition" } = options;
  const deadline = performance.now() + timeoutMs;
  while (true) {
    const value = await condition();
    if (value !== undefined && value !== null && value !== false) return value;
    if (performance.now() > deadline) {
      const name = typeof what === "string" ? what : what();
      throw new Error(`Timed out after ${timeoutMs} ms waiting for ${name}`);
    }
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
  }
}
