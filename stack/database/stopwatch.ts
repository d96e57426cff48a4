/**
 * Calls `onLimit` when it has run for `limitMs` without a reset. It counts ticks instead of reading
 * the clock, so that a laptop that wakes from sleep does not reach the limit. Of each tick it does
 * not count the milliseconds that `readExcusedMs` returns.
 */
export class Stopwatch {
  readonly #tickMs: number;
  readonly #limitMs: number;
  readonly #onLimit: () => void;
  readonly #readExcusedMs: () => number;
  #elapsedMs = 0;
  #timer: ReturnType<typeof setInterval> | null = null;

  constructor(
    tickMs: number,
    limitMs: number,
    onLimit: () => void,
    readExcusedMs: () => number = () => 0,
  ) {
    this.#readExcusedMs = readExcusedMs;
    this.#tickMs = tickMs;
    this.#limitMs = limitMs;
    this.#onLimit = onLimit;
  }

  start(): void {
    this.stop();
    this.#elapsedMs = 0;
    this.#timer = setInterval(() => this.#tick(), this.#tickMs);
  }

  reset(): void {
    this.#elapsedMs = 0;
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  #tick(): void {
    this.#elapsedMs += Math.max(0, this.#tickMs - this.#readExcusedMs());
    if (this.#elapsedMs <= this.#limitMs) return;
    this.stop();
    this.#onLimit();
  }
}
