import assert from "node:assert/strict";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { AGENT, assertNoDeadlock, openRaceTrack } from "./race_fixture.ts";

Deno.test("schedules run when they are due", async (t) => {
  await using track = await openRaceTrack();
  const { sql } = track;

  await t.step("once each, however many runners there are", async () => {
    await addDueSchedules(sql, 400);

    await Promise.all(Array.from({ length: 12 }, () => runUntilIdle(sql)));

    assert.deepEqual(await jobsBySchedule(sql), { schedules: 400, jobs: 400 });
  });

  await t.step("once, although their runner is killed in the middle", async () => {
    await sql`delete from public.schedules`;
    await addDueSchedules(sql, 300);
    // Holds a table that a job needs, so that the runner below waits in the middle of its work.
    const isHeld = Promise.withResolvers<void>();
    const held = sql.begin(async (holder) => {
      await holder`lock table private.job_totals in exclusive mode`;
      isHeld.resolve();
      await untilSomeWaits(sql);
      await sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where query like '%run_due_schedules%' and wait_event_type = 'Lock'`;
    });
    await isHeld.promise;
    await assert.rejects(async () => await sql`select private.run_due_schedules()`);
    await held;

    assert.deepEqual(
      await jobsBySchedule(sql),
      { schedules: 300, jobs: 0 },
      "the killed run left nothing",
    );
    await runUntilIdle(sql);
    assert.deepEqual(await jobsBySchedule(sql), { schedules: 300, jobs: 300 });
  });

  await t.step("in batches of bounded duration", async () => {
    await sql`delete from public.schedules`;
    await addDueSchedules(sql, 50);

    const [first] = await sql`select private.run_due_schedules(p_limit => 20) as count`;
    const [second] = await sql`
      select private.run_due_schedules(p_max_duration => interval '0') as count`;

    assert.deepEqual([first?.count, second?.count], [20, 1]);
  });

  await assertNoDeadlock(track);
});

async function addDueSchedules(sql: Sql, count: number): Promise<void> {
  await sql`
    insert into public.schedules (agent, input, cron)
    select ${AGENT}, to_jsonb('n' || n), '@daily' from generate_series(1, ${count}::int) as n`;
  await sql`update public.schedules set next_run_at = now() - interval '1 minute'`;
}

async function runUntilIdle(sql: Sql): Promise<void> {
  while (true) {
    const [row] = await sql`select private.run_due_schedules(p_limit => 25) as count`;
    if (row?.count === 0) return;
  }
}

async function untilSomeWaits(sql: Sql): Promise<void> {
  while (true) {
    const [row] = await sql`
      select count(*)::int as count from pg_stat_activity
      where query like '%run_due_schedules%' and wait_event_type = 'Lock'`;
    if (row?.count > 0) return;
  }
}

/** The number of schedules, and of jobs that the existing ones have created. */
async function jobsBySchedule(sql: Sql) {
  const [row] = await sql`
    select count(distinct schedule.id)::int as schedules, count(task.id)::int as jobs
    from public.schedules as schedule
    left join public.tasks as task on task.metadata #>> '{schedule,id}' = schedule.id::text`;
  return { ...row };
}
