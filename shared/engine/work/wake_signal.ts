import type { Clock } from "../../platform/isolate/clock.ts";

/** Lets a loop sleep until something happens. A signal without a waiter is kept. */
export class WakeSignal {
  readonly #clock: Clock;
  #sent = new AbortController();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  send(): void {
    // abort() creates its reason, an error with a stack, even if it is too late to be one.
    if (!this.#sent.signal.aborted) this.#sent.abort();
  }

  /** Resolves at the next signal, or after `timeoutMs`. */
  async wait(timeoutMs: number): Promise<void> {
    await this.#clock.sleep(timeoutMs, this.#sent.signal);
    if (this.#sent.signal.aborted) this.#sent = new AbortController();
  }
}
