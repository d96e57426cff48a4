import { createSql, type Sql } from "../../shared/platform/db/sql_client.ts";
import type { Logger, StackDatabase } from "../database/database_port.ts";
import { createCronRunner, type CronJob, type CronRunner } from "./cron_run.ts";
import { parseCronSchedule } from "./cron_schedule.ts";
import { CronTimings } from "./cron_timing.ts";

/** The scheduler notices new and changed jobs within this time. */
const LONGEST_WAIT_MS = 1_000;
const MAX_CONNECTIONS = 4;
const END_LIMIT_SECONDS = 2;

/** A running scheduler of the stack. */
export interface Ticker {
  /** Starts no more work and waits at most two seconds for running work. */
  stop(): Promise<void>;
}

/**
 * Runs the jobs of the stack's `pg_cron` extension. Reads `cron.job` every second, runs due jobs,
 * one instance of a job at a time, and records each run in `cron.job_run_details`. Runs that were
 * due while the stack was stopped are skipped. Does nothing on a server with the real pg_cron.
 */
export function startCron(database: StackDatabase, log: Logger): Ticker {
  const open = (url: string) =>
    createSql(url, { maxConnections: MAX_CONNECTIONS, applicationName: "cron" });
  const admin = open(database.adminUrl);
  const owner = database.url === database.adminUrl ? admin : open(database.url);
  const runner = createCronRunner({ admin, owner, log });
  const start = oneAtATime(runner);
  const timings = new CronTimings(LONGEST_WAIT_MS);
  let hasJustStarted = true;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStopped = false;

  const tick = async () => {
    try {
      const isOurs = await hasOurExtension(admin);
      if (isOurs && hasJustStarted) await runner.closeInterrupted();
      const jobs = isOurs ? await readJobs(admin) : [];
      if (hasJustStarted) jobs.filter(isDueAtStart).forEach(start);
      hasJustStarted = false;
      for (const job of timings.takeDue(jobs, Date.now())) start(job);
    } catch (error) {
      // The database is unreachable. The next tick tries again.
      log("debug", "cron.tick_failed", { reason: String(error) });
    }
    if (isStopped) return;
    const waitMs = Math.max(0, Math.min(LONGEST_WAIT_MS, timings.nextAt() - Date.now()));
    timer = setTimeout(tick, waitMs);
  };

  const unsubscribe = database.onRestart(() => hasJustStarted = true);
  tick();
  return {
    stop: async () => {
      isStopped = true;
      clearTimeout(timer);
      unsubscribe();
      await Promise.all([admin, owner].map((sql) => sql.end({ timeout: END_LIMIT_SECONDS })));
    },
  };
}

function isDueAtStart(job: CronJob): boolean {
  return parseCronSchedule(job.schedule)?.kind === "start";
}

/** Whether the server has the stack's extension. The real pg_cron is written in C. */
async function hasOurExtension(sql: Sql): Promise<boolean> {
  const [schedule] = await sql<{ language: string }[]>`
    select language.lanname as language
    from pg_catalog.pg_proc as proc
    join pg_catalog.pg_language as language on language.oid = proc.prolang
    where proc.pronamespace = to_regnamespace('cron') and proc.proname = 'schedule'
    limit 1
  `;
  return schedule !== undefined && schedule.language !== "c";
}

async function readJobs(sql: Sql): Promise<CronJob[]> {
  return await sql<CronJob[]>`
    select jobid, schedule, command, database, username from cron.job where active
  `;
}

/**
 * Returns a function that starts jobs. A job that becomes due while it runs starts once more after.
 */
function oneAtATime(runner: CronRunner): (job: CronJob) => void {
  const running = new Set<string>();
  const queued = new Map<string, CronJob>();
  const start = async (job: CronJob) => {
    if (running.has(job.jobid)) return void queued.set(job.jobid, job);
    running.add(job.jobid);
    await runner.run(job);
    running.delete(job.jobid);
    const next = queued.get(job.jobid);
    queued.delete(job.jobid);
    if (next !== undefined) start(next);
  };
  return start;
}
