import type { Clock } from "../../platform/isolate/clock.ts";

/** Interval of messages while text streams in. */
const INTERVAL_MS = 500;
/** Window in which a task sends at most two messages. */
const WINDOW_MS = 1_000;

/** The message rate of one task across its model calls: at most two messages in any second. */
export class DeltaPace {
  readonly #clock: Pick<Clock, "nowMs">;
  #lastMs = Number.NEGATIVE_INFINITY;
  #beforeLastMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Clock, "nowMs">) {
    this.#clock = clock;
  }

  /** Milliseconds until the next message may be sent. */
  get waitMs(): number {
    const dueMs = Math.max(this.#lastMs + INTERVAL_MS, this.#beforeLastMs + WINDOW_MS);
    return Math.max(0, dueMs - this.#clock.nowMs());
  }

  /** Whether the end of an answer may be sent immediately, without the interval. */
  get isEndAllowed(): boolean {
    return this.#beforeLastMs + WINDOW_MS <= this.#clock.nowMs();
  }

  /** Records a sent message. */
  note(): void {
    this.#beforeLastMs = this.#lastMs;
    this.#lastMs = this.#clock.nowMs();
  }
}
