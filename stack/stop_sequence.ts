import type { OpenLogger as Logger } from "../shared/platform/log/logger.ts";

/** How long one part may take to stop before the next one is stopped. */
const STOP_LIMIT_MS = 6_000;

interface StopStep {
  readonly name: string;
  readonly stop: () => Promise<void>;
}

/** Stops the running parts in the reverse order of their start. */
export class StopSequence {
  readonly #log: Logger;
  readonly #steps: StopStep[] = [];
  #running: Promise<void> | null = null;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Registers a running part. Stops it immediately if the sequence has already run. */
  add(name: string, stop: () => Promise<void>): void {
    if (this.#running === null) this.#steps.push({ name, stop });
    else this.#running = this.#running.then(() => this.#runStep({ name, stop }));
  }

  /** Stops all parts. Logs a part that fails or hangs, and goes on. Safe to repeat. */
  run(): Promise<void> {
    return this.#running ??= this.#runAll();
  }

  async #runAll(): Promise<void> {
    for (const step of this.#steps.toReversed()) await this.#runStep(step);
  }

  async #runStep({ name, stop }: StopStep): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      this.#log("error", "stop_too_slow", { part: name, limit_ms: STOP_LIMIT_MS });
      resolve();
    }, STOP_LIMIT_MS);
    try {
      await Promise.race([stop(), late]);
    } catch (error) {
      this.#log("error", "stop_failed", { part: name, reason: String(error) });
    } finally {
      clearTimeout(timer);
    }
  }
}
