import { type Clock, isolateClock } from "../../platform/isolate/clock.ts";

/** Whether work is being watched, as far as its worker knows. */
export class Watch {
  readonly #clock: Pick<Clock, "nowMs">;
  #untilMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Clock, "nowMs"> = isolateClock) {
    this.#clock = clock;
  }

  get isOn(): boolean {
    return this.#clock.nowMs() < this.#untilMs;
  }

  /** @param seconds Remaining seconds of the watch; 0 if it is not watched. */
  note(seconds: number): void {
    this.#untilMs = this.#clock.nowMs() + seconds * 1_000;
  }
}
