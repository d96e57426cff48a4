/** How long {@linkcode waitFor} tries. */
export interface WaitOptions {
  /** Long, since only a failure ever waits for so long, however busy the machine. @default 60_000 */
  readonly timeoutMs?: number;
  /** @default 25 */
  readonly intervalMs?: number;
  /** What was awaited, for the error. */
  readonly what?: string;
}

/**
 * Polls `condition` until it answers something other than `undefined`, `null` or `false`,
 * and returns that.
 *
 * @throws Error after `timeoutMs`, naming what was awaited.
 */
export async function waitFor<T>(
  condition: () => Promise<T | undefined | null | false> | T | undefined | null | false,
  options: WaitOptions = {},
): Promise<T> {
  const { timeoutMs = 60_000, intervalMs = 25, what = "the condition" } = options;
  const deadline = performance.now() + timeoutMs;
  while (true) {
    const value = await condition();
    if (value !== undefined && value !== null && value !== false) return value;
    if (performance.now() > deadline) throw new Error(`Waited ${timeoutMs} ms for ${what} in vain`);
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
  }
}
