import { type CronSchedule, nextRunAt, parseCronSchedule } from "./cron_schedule.ts";

/** The parts of a job that decide when it runs. */
export interface TimedJob {
  readonly jobid: string;
  readonly schedule: string;
}

/** The state of a known job. */
interface Timing {
  readonly text: string;
  readonly schedule: CronSchedule | null;
  /** Milliseconds since 1970; null when the job never runs. */
  readonly nextAt: number | null;
}

/**
 * Computes when each job runs next. A job counts from when it is first seen or its schedule
 * changes. A job that is more than `lateLimitMs` late runs once; other missed runs are skipped.
 */
export class CronTimings {
  readonly #lateLimitMs: number;
  #timings = new Map<string, Timing>();

  constructor(lateLimitMs: number) {
    this.#lateLimitMs = lateLimitMs;
  }

  /** Returns the jobs that are due at `now`, each once. Forgets jobs that are not passed. */
  takeDue<J extends TimedJob>(jobs: readonly J[], now: number): J[] {
    const before = this.#timings;
    this.#timings = new Map();
    return jobs.filter((job) => {
      const known = before.get(job.jobid);
      if (known === undefined || known.text !== job.schedule) {
        this.#remember(job, parseCronSchedule(job.schedule), now);
        return false;
      }
      const { nextAt } = known;
      const isDue = nextAt !== null && nextAt <= now;
      if (!isDue) this.#timings.set(job.jobid, known);
      else this.#remember(job, known.schedule, now - nextAt > this.#lateLimitMs ? now : nextAt);
      return isDue;
    });
  }

  /** Returns when the next job is due, or infinity when none is. */
  nextAt(): number {
    return Math.min(...[...this.#timings.values()].map(({ nextAt }) => nextAt ?? Infinity));
  }

  #remember(job: TimedJob, schedule: CronSchedule | null, from: number): void {
    const nextAt = schedule === null ? null : nextRunAt(schedule, from);
    this.#timings.set(job.jobid, { text: job.schedule, schedule, nextAt });
  }
}
