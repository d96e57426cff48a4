import { SwarmError } from "../shared/platform/errors/swarm_error.ts";
import { isConnectionLoss } from "./database/connection_loss.ts";
import type { ReportDoing, StackDatabase } from "./database/database_port.ts";

/** The steps of a start, in their order. */
export const BOOT_STEPS = [
  "Opening the database",
  "Applying migrations and starting the endpoints",
  "Preparing the project",
  "Starting schedules and the API",
] as const;

type BootStep = typeof BOOT_STEPS[number];

/** How far a start is. */
export interface BootProgress {
  readonly step: BootStep;
  /** What the step does now, such as `building it, which only the first start does`. */
  readonly doing: string | null;
  /** The done part of that, from 0 to 1; null where it is unknown. */
  readonly done: number | null;
}

interface BootOptions {
  /** Ends the start. */
  readonly signal?: AbortSignal;
  /** How long a step may go on without a report. */
  readonly limitMs: number;
  readonly onProgress?: (progress: BootProgress) => void;
}

/** How long a step may clean up after the start was ended. */
const CLEAN_UP_MS = 2_000;

/**
 * Runs the steps of a start so that none of them waits forever: each ends when the caller's signal
 * aborts, when it makes no progress, and when the database is lost, because the driver never settles
 * some of the queries that it loses with their connection. What a step has begun may still go on.
 */
export class Boot implements Disposable {
  readonly #options: BootOptions;
  readonly #ending = new AbortController();
  readonly #release: (() => void)[] = [];
  #step: BootStep = BOOT_STEPS[0];

  constructor(options: BootOptions) {
    this.#options = options;
    const { signal } = options;
    if (signal === undefined) return;
    const end = () => this.fail(signal.reason);
    if (signal.aborted) end();
    signal.addEventListener("abort", end);
    this.#release.push(() => signal.removeEventListener("abort", end));
  }

  /** Aborts when the start must end. It does not abort once the stack serves. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** Ends the start with this error. */
  fail(error: unknown): void {
    this.#ending.abort(error);
  }

  /** Ends the start when this database restarts. */
  follow(database: Pick<StackDatabase, "onRestart">): void {
    this.#release.push(database.onRestart(() => this.fail(lostDatabase(this.#step))));
  }

  /**
   * Runs a step.
   *
   * @throws SwarmError DATABASE_UNAVAILABLE when it makes no progress or loses the database; the
   * reason of the signal; an error of `work`.
   */
  async run<T>(step: BootStep, work: (report: ReportDoing) => Promise<T>): Promise<T> {
    const { limitMs, onProgress } = this.#options;
    const abandoned = Promise.withResolvers<never>();
    let limit: ReturnType<typeof setTimeout> | undefined;
    let abandon: ReturnType<typeof setTimeout> | undefined;
    const report = (doing: string | null, done: number | null) => {
      if (this.signal.aborted) return;
      clearTimeout(limit);
      limit = setTimeout(() => this.fail(tooSlow(step, limitMs)), limitMs);
      onProgress?.({ step, doing, done });
    };
    const onEnd = () => {
      abandon = setTimeout(() => abandoned.reject(this.signal.reason), CLEAN_UP_MS);
    };
    this.signal.throwIfAborted();
    this.signal.addEventListener("abort", onEnd);
    this.#step = step;
    report(null, null);
    try {
      return await Promise.race([
        work((doing, done) => report(doing, done ?? null)),
        abandoned.promise,
      ]);
    } catch (error) {
      throw isConnectionLoss(error) ? lostDatabase(step, error) : error;
    } finally {
      this.signal.removeEventListener("abort", onEnd);
      clearTimeout(limit);
      clearTimeout(abandon);
      // What the work says about its end would hide why it had to end.
      this.signal.throwIfAborted();
    }
  }

  [Symbol.dispose](): void {
    for (const release of this.#release) release();
  }
}

function tooSlow(step: BootStep, limitMs: number): SwarmError {
  return new SwarmError(
    "DATABASE_UNAVAILABLE",
    `Cannot start: "${step}" made no progress for ${limitMs / 1_000} s`,
    {
      hint:
        "Other programs may keep this machine or the database busy: start again when they have " +
        "ended, or set SUPASWARM_START_LIMIT_SECONDS to a longer time.",
      details: { step },
    },
  );
}

function lostDatabase(step: BootStep, cause?: unknown): SwarmError {
  return new SwarmError(
    "DATABASE_UNAVAILABLE",
    `Cannot start: the database ended or did not answer during "${step}"`,
    {
      cause,
      hint: "Start again: what was done is kept. If it happens again, free memory or processor " +
        "time, or read the lines above this one.",
      details: { step },
    },
  );
}
