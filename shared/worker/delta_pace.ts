import type { Clock } from "../isolate/clock.ts";

/** Between two messages as long as text streams in. */
const INTERVAL_MS = 500;
/** In which a task sends at most two. */
const WINDOW_MS = 1_000;

/** Of one task, over all its model calls: at most two messages in any second. */
export class DeltaPace {
  readonly #clock: Pick<Clock, "nowMs">;
  #lastMs = Number.NEGATIVE_INFINITY;
  #beforeLastMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Clock, "nowMs">) {
    this.#clock = clock;
  }

  /** Milliseconds until the next message may go. */
  get waitMs(): number {
    const dueMs = Math.max(this.#lastMs + INTERVAL_MS, this.#beforeLastMs + WINDOW_MS);
    return Math.max(0, dueMs - this.#clock.nowMs());
  }

  /** Whether the end of an answer may go at once, without the interval before it. */
  get isEndAllowed(): boolean {
    return this.#beforeLastMs + WINDOW_MS <= this.#clock.nowMs();
  }

  /** A message was sent. */
  note(): void {
    this.#beforeLastMs = this.#lastMs;
    this.#lastMs = this.#clock.nowMs();
  }
}
