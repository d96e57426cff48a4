import type { Clock } from "../isolate/clock.ts";

/** Lets a loop sleep until something happens. A ring while nobody waits is kept. */
export class Bell {
  readonly #clock: Clock;
  #rung = new AbortController();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  ring(): void {
    this.#rung.abort();
  }

  /** Resolves at the next ring, or after `timeoutMs`. */
  async wait(timeoutMs: number): Promise<void> {
    await this.#clock.sleep(timeoutMs, this.#rung.signal);
    if (this.#rung.signal.aborted) this.#rung = new AbortController();
  }
}
