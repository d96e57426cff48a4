import type { Plan, Resource } from "./plans.ts";

const DAYS_A_MONTH = 30;
const DAYS_A_WEEK = 7;
const SECONDS_A_DAY = 86_400;

/** What one job costs. Bytes are those of the tables with their indexes. */
export interface JobCost {
  readonly invocations: number;
  /** Rows that Realtime sends while one client watches the job, with its streamed text. */
  readonly sentMessages: number;
  /** What a client receives that reads all events of the job. */
  readonly traceBytes: number;
  /** What the functions send to the model's provider. */
  readonly promptBytes: number;
  readonly jobBytes: number;
  /** Of tables from which retention drops whole weeks. */
  readonly stepBytes: number;
  readonly eventBytes: number;
  readonly ledgerBytes: number;
  readonly modelCallBytes: number;
  readonly databaseCpuMs: number;
  readonly functionCpuMs: number;
}

/** Days that retention keeps, as `private.retention_days()` returns them by default. */
export const KEPT_DAYS = {
  keep_jobs_days: 10,
  keep_events_days: 7,
  keep_executions_days: 10,
  keep_usage_days: 35,
} as const;

/** How a project is used. */
export interface Load {
  readonly jobsPerDay: number;
  /** Share of the jobs that one client watches. */
  readonly watchedShare: number;
}

/** What a project uses in a month, and how busy it is on average. */
export interface MonthlyUse {
  readonly counts: Readonly<Record<Resource, number>>;
  readonly messagesPerSecond: number;
  /** Shares of one core. */
  readonly databaseCpuShare: number;
  readonly functionCpuShare: number;
}

/** Calculates the use of a project that has run for longer than retention keeps anything. */
export function monthlyUse(
  job: JobCost,
  { jobsPerDay, watchedShare }: Load,
  emptyBytes: number,
): MonthlyUse {
  const monthlyJobs = jobsPerDay * DAYS_A_MONTH;
  // Realtime counts the row and its receiver.
  const messages = 2 * job.sentMessages * watchedShare;
  const keptBytes = job.jobBytes * KEPT_DAYS.keep_jobs_days +
    job.stepBytes * (KEPT_DAYS.keep_jobs_days + DAYS_A_WEEK) +
    job.eventBytes * (KEPT_DAYS.keep_events_days + DAYS_A_WEEK) +
    job.ledgerBytes * KEPT_DAYS.keep_executions_days +
    job.modelCallBytes * KEPT_DAYS.keep_usage_days;
  const cores = jobsPerDay / SECONDS_A_DAY / 1_000;
  return {
    counts: {
      "million invocations": monthlyJobs * job.invocations / 1e6,
      "million messages": monthlyJobs * messages / 1e6,
      "GB of database": (emptyBytes + jobsPerDay * keptBytes) / 1e9,
      "GB of egress": monthlyJobs * (job.traceBytes + job.promptBytes) / 1e9,
    },
    messagesPerSecond: jobsPerDay * messages / SECONDS_A_DAY,
    databaseCpuShare: job.databaseCpuMs * cores,
    functionCpuShare: job.functionCpuMs * cores,
  };
}

/** The price of a month in US dollars, or null when the plan does not allow the use. */
export function monthlyUsd({ counts }: MonthlyUse, plan: Plan): number | null {
  let usd = plan.baseUsd;
  for (const [resource, { included, usdPerUnit }] of Object.entries(plan.limits)) {
    const more = Math.max(0, counts[resource as Resource] - included);
    if (more > 0 && usdPerUnit === null) return null;
    usd += more * (usdPerUnit ?? 0);
  }
  return usd;
}
