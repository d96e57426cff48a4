import type { Sql } from "../../shared/platform/db/sql_client.ts";
import type { Logger } from "../database/database_port.ts";

/** A row of `cron.job`. */
export interface CronJob {
  readonly jobid: string;
  readonly schedule: string;
  readonly command: string;
  readonly database: string;
  readonly username: string;
}

/** The login role that `owner` connects as. */
const OWNER_ROLE = "postgres";

/** Connections for jobs and their records. */
export interface CronConnections {
  /** As a role that can switch to any other role and write `cron.job_run_details`. */
  readonly admin: Sql;
  /** As `postgres`. */
  readonly owner: Sql;
  readonly log: Logger;
}

/** Runs commands of jobs and records the runs. */
export interface CronRunner {
  /** Runs the job once and resolves when its end is recorded. Never rejects. */
  run(job: CronJob): Promise<void>;
  /** Marks runs that a crash interrupted as failed. */
  closeInterrupted(): Promise<void>;
}

/** Creates the runner of a stack's jobs. */
export function createCronRunner({ admin, owner, log }: CronConnections): CronRunner {
  return {
    run: async (job) => {
      try {
        const runid = await recordStart(admin, job);
        const { status, message } = await execute({ admin, owner, log }, job);
        await recordEnd(admin, runid, status, message);
      } catch (error) {
        // The database disconnected. `closeInterrupted` closes the record after the restart.
        log("debug", "cron.run_unrecorded", { jobid: job.jobid, reason: String(error) });
      }
    },
    closeInterrupted: async () => {
      await admin`
        update cron.job_run_details
        set status = 'failed', return_message = 'server restarted', end_time = clock_timestamp()
        where status = 'running'
      `;
    },
  };
}

/**
 * Runs the command as the job's role. A job of `postgres` runs in a session of that role and
 * outside any transaction, as `vacuum` requires. Any other job runs in a transaction that sets the
 * role.
 */
async function execute(
  { admin, owner }: CronConnections,
  job: CronJob,
): Promise<{ status: "succeeded" | "failed"; message: string }> {
  try {
    const result = job.username === OWNER_ROLE
      ? await owner.unsafe(job.command)
      : await admin.begin(async (tx) => {
        await tx`set local role ${tx(job.username)}`;
        return await tx.unsafe(job.command);
      });
    return { status: "succeeded", message: toMessage(result) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { status: "failed", message: `ERROR:  ${message}` };
  }
}

/** The result of one statement in postgres.js. */
interface StatementEnd {
  readonly command?: string;
  /** Null for statements that count no rows. */
  readonly count?: number | null;
}

/**
 * Returns pg_cron's message for the last statement: the number of rows read, or the command tag.
 */
function toMessage(result: StatementEnd | readonly StatementEnd[]): string {
  // Several statements return a list of results. A single result is itself a list of rows.
  const last = Array.isArray(result) && !("command" in result) ? result.at(-1) : result;
  const { command = "", count = null } = (last ?? {}) as StatementEnd;
  if (command === "SELECT") return count === 1 ? "1 row" : `${count ?? 0} rows`;
  if (command === "INSERT") return `INSERT 0 ${count ?? 0}`;
  return count === null ? command : `${command} ${count}`;
}

async function recordStart(sql: Sql, job: CronJob): Promise<string> {
  const [row] = await sql<{ runid: string }[]>`
    insert into cron.job_run_details (jobid, database, username, command, status, start_time)
    values (${job.jobid}, ${job.database}, ${job.username}, ${job.command}, 'running',
      clock_timestamp())
    returning runid
  `;
  return row?.runid ?? "";
}

async function recordEnd(sql: Sql, runid: string, status: string, message: string): Promise<void> {
  await sql`
    update cron.job_run_details
    set status = ${status}, return_message = ${message}, end_time = clock_timestamp()
    where runid = ${runid}
  `;
}
