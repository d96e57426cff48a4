import { type Clock, isolateClock } from "../isolate/clock.ts";

/** Whether somebody watches a piece of work, as far as its worker knows. */
export class Watch {
  readonly #clock: Pick<Clock, "nowMs">;
  #untilMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Clock, "nowMs"> = isolateClock) {
    this.#clock = clock;
  }

  get isOn(): boolean {
    return this.#clock.nowMs() < this.#untilMs;
  }

  /** @param seconds For how much longer it is watched; 0 when nobody watches. */
  note(seconds: number): void {
    this.#untilMs = this.#clock.nowMs() + seconds * 1_000;
  }
}
