import type { OpenLogger as Logger } from "../shared/platform/log/logger.ts";

/** How long one part may take to stop; more than the database's process, which is then killed. */
const STOP_LIMIT_MS = 7_000;

interface StopStep {
  readonly name: string;
  readonly stop: () => Promise<void>;
}

/**
 * Stops the running parts in the reverse order of their start. When that takes as long as one part
 * may, usually because the database does not answer, it stops all others at once, so that the end has
 * a limit.
 */
export class StopSequence {
  readonly #log: Logger;
  readonly #limitMs: number;
  readonly #steps: StopStep[] = [];
  #running: Promise<void> | null = null;

  constructor(log: Logger, limitMs: number = STOP_LIMIT_MS) {
    this.#log = log;
    this.#limitMs = limitMs;
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
    const steps = [...this.#steps];
    const until = performance.now() + this.#limitMs;
    while (steps.length > 0) {
      const next = steps.splice(performance.now() < until ? -1 : 0);
      await Promise.all(next.map((step) => this.#runStep(step)));
    }
  }

  async #runStep({ name, stop }: StopStep): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      this.#log("error", "stop_too_slow", { part: name, limit_ms: this.#limitMs });
      resolve();
    }, this.#limitMs);
    try {
      await Promise.race([stop(), late]);
    } catch (error) {
      this.#log("error", "stop_failed", { part: name, reason: String(error) });
    } finally {
      clearTimeout(timer);
    }
  }
}
