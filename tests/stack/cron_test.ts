import assert from "node:assert/strict";
import { startCron } from "../../stack/scheduler/cron.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { testsSharing } from "../shared_fixture.ts";
import { type DatabaseFixture, openDatabaseFixture } from "./database_fixture.ts";

/** Long enough for every statement but one, even on a busy machine. */
const STATEMENT_LIMIT_MS = 4_000;

const databaseTest = testsSharing(() =>
  openDatabaseFixture({ statementLimitMs: STATEMENT_LIMIT_MS })
);

/** Registers a test with a running scheduler, which finds only the jobs of `jobsSql` at its start. */
function cronTest(
  claim: string,
  test: (fixture: DatabaseFixture) => Promise<void>,
  jobsSql = "",
): void {
  databaseTest(claim, async (fixture) => {
    const { sql, database } = fixture;
    await sql.unsafe(`create extension pg_cron; ${jobsSql}`);
    const cron = startCron(database, () => {});
    try {
      await test(fixture);
    } finally {
      await cron.stop();
      await sql`drop extension pg_cron`;
    }
  });
}

cronTest("a job runs on its schedule and each run is recorded", async ({ sql }) => {
  await sql`create table runs (at timestamptz default clock_timestamp())`;
  await sql`select cron.schedule('tick', '1 second', 'insert into public.runs default values')`;

  const rows = await waitFor(async () => {
    const found = await sql`
      select job.jobname, run.status, run.return_message, run.username,
        run.end_time >= run.start_time as is_timed
      from cron.job_run_details as run join cron.job as job using (jobid)
      where run.status <> 'running'
    `;
    return found.length >= 2 ? found : null;
  }, { what: "two runs" });

  assert.deepEqual(rows[0], {
    jobname: "tick",
    status: "succeeded",
    return_message: "INSERT 0 1",
    username: "postgres",
    is_timed: true,
  });
});

cronTest(
  "a job runs as the role that scheduled it, and its failure is recorded",
  async ({ sql }) => {
    await sql.unsafe("create table secrets_of_postgres (i int)");
    await sql.begin(async (tx) => {
      await tx`grant usage on schema cron to service_role`;
      await tx`set local role service_role`;
      await tx`select cron.schedule('who', '1 second', 'select current_user::text')`;
      await tx`select cron.schedule('peek', '1 second', 'select * from public.secrets_of_postgres')`;
    });

    const runs = await waitFor(async () => {
      const found = await sql<{ jobname: string; status: string; return_message: string }[]>`
        select distinct on (job.jobname) job.jobname, run.status, run.return_message
        from cron.job_run_details as run join cron.job as job using (jobid)
        where run.status <> 'running' order by job.jobname
      `;
      return found.length === 2 ? found : null;
    }, { what: "a run of each" });

    assert.deepEqual([...runs], [
      {
        jobname: "peek",
        status: "failed",
        return_message: "ERROR:  permission denied for table secrets_of_postgres",
      },
      { jobname: "who", status: "succeeded", return_message: "1 row" },
    ]);
  },
);

cronTest(
  "a job of '@reboot' runs once when the scheduler starts",
  async ({ sql }) => {
    const count = async (name: string) => {
      const [row] = await sql<{ count: string }[]>`
        select count(*) from cron.job_run_details join cron.job using (jobid)
        where jobname = ${name}`;
      return Number(row?.count);
    };
    await waitFor(async () => await count("second") >= 2, { what: "two runs of the other job" });

    assert.equal(await count("first"), 1);
  },
  `select cron.schedule('first', '@reboot', 'select 1');
   select cron.schedule('second', '1 second', 'select 2');`,
);

cronTest(
  "jobs continue after a restart of the database, and the interrupted run is closed",
  async ({ sql }) => {
    // No other client sees the first run, because the database runs one statement at a time. It
    // exceeds the limit of a statement, which ends the database.
    await sql`
      select cron.schedule('long', '1 second', $$
        select pg_sleep(case when exists (
          select from cron.job_run_details where status = 'failed'
        ) then 0 else 60 end) $$)`;

    const runs = await waitFor(async () => {
      const found = await sql`
        select distinct status, return_message from cron.job_run_details
        where status <> 'running' order by status`.catch(() => []);
      return found.length >= 2 ? found : null;
    }, { what: "the closed run and another one" });

    assert.deepEqual([...runs], [
      { status: "failed", return_message: "server restarted" },
      { status: "succeeded", return_message: "1 row" },
    ]);
  },
);
