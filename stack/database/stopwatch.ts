/**
 * Calls `onLimit` when it has run for `limitMs` without a reset. It counts ticks instead of reading
 * the clock, so that a laptop that wakes from sleep does not reach the limit.
 */
export class Stopwatch {
  readonly #tickMs: number;
  readonly #limitMs: number;
  readonly #onLimit: () => void;
  #elapsedMs = 0;
  #timer: ReturnType<typeof setInterval> | null = null;

  constructor(tickMs: number, limitMs: number, onLimit: () => void) {
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
    this.#elapsedMs += this.#tickMs;
    if (this.#elapsedMs <= this.#limitMs) return;
    this.stop();
    this.#onLimit();
  }
}
