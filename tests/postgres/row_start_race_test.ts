import assert from "node:assert/strict";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { AGENT, assertNoDeadlock, openRaceTrack } from "./race_fixture.ts";

Deno.test("changes of rows start jobs", async (t) => {
  await using track = await openRaceTrack();
  const { sql, admin } = track;
  await sql`create table public.orders (id int primary key, customer int, status text)`;
  await addTrigger(sql, { events: ["insert", "update"], key: ["customer"], max_per_hour: 100_000 });

  await t.step("once each, however many starters there are", async () => {
    await sql`insert into public.orders (id) select generate_series(1, 400)`;

    await Promise.all(Array.from({ length: 12 }, () => startUntilIdle(sql)));

    assert.deepEqual(await counted(sql), { starts: 0, jobs: 400, rows: 400 });
  });

  await t.step("once, although their starter is killed in the middle", async () => {
    await sql`insert into public.orders (id) select generate_series(401, 500)`;
    // Holds a table that a job needs, so that the starter below waits in the middle of its work.
    const isHeld = Promise.withResolvers<void>();
    const held = sql.begin(async (holder) => {
      await holder`lock table private.job_totals in exclusive mode`;
      isHeld.resolve();
      await untilSomeWaits(sql);
      await sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where query like '%start_row_jobs%' and wait_event_type = 'Lock'`;
    });
    await isHeld.promise;
    await assert.rejects(async () => await sql`select private.start_row_jobs()`);
    await held;

    assert.deepEqual(await counted(sql), { starts: 100, jobs: 400, rows: 400 });
    await startUntilIdle(sql);
    assert.deepEqual(await counted(sql), { starts: 0, jobs: 500, rows: 500 });
  });

  await t.step("at the next claim, which returns their tasks", async () => {
    await sql`delete from public.tasks`;
    await sql`insert into public.orders (id) values (501), (502)`;

    const claimed = await sql`select from private.claim_tasks('w', 5, 30)`;

    assert.equal(claimed.length, 2);
  });

  await t.step("and wait for no other change of the same key, nor for a starter", async () => {
    await sql.begin(async (first) => {
      await first`insert into public.orders (id, customer) values (503, 7)`;
      await sql`insert into public.orders (id, customer) values (504, 7)`;
      await first`select private.start_row_jobs()`;

      await sql.begin(async (second) => {
        await second`set local lock_timeout = '100ms'`;
        await second`insert into public.orders (id, customer) values (505, 7)`;
        await second`update public.orders set status = 'paid' where id = 504`;
      });
    });

    const failed = await sql`select error from private.row_starts where error is not null`;
    assert.deepEqual([...failed], []);
  });

  await t.step("also changes that Auth makes for a new account", async () => {
    await startUntilIdle(sql);
    await admin`grant all on public.orders to supabase_auth_admin`;
    await admin.begin(async (auth) => {
      await auth`set local role supabase_auth_admin`;
      await auth`insert into public.orders (id) values (506)`;
    });

    const [start] = await sql`select row_key, error from private.row_starts`;
    assert.deepEqual({ ...start }, { row_key: "", error: null });
  });

  await t.step("in turn among owners, although one has many starts", async () => {
    await sql`delete from public.tasks`;
    await sql`alter table public.orders add column owner uuid`;
    await addTrigger(sql, { events: ["insert"], owner_column: "owner", max_per_hour: 100_000 });
    const [many, few] = await addUsers(admin);
    await sql`
      insert into public.orders (id, owner) select n, ${many} from generate_series(1001, 3000) as n`;
    await sql`insert into public.orders (id, owner) values (3001, ${few})`;

    await sql`select private.start_row_jobs(p_limit => 30)`;

    const jobs = await sql`
      select count(*)::int as count from public.tasks where created_by is not null
      group by created_by order by 1`;
    assert.deepEqual(jobs.map(({ count }) => count), [1, 10]);
  });

  await t.step(
    "but a rolled back change starts none, nor one of an account that is gone",
    async () => {
      await sql`delete from private.row_starts`;
      await assert.rejects(sql.begin(async (tx) => {
        await tx`insert into public.orders (id) values (4001)`;
        throw new Error("rolled back");
      }));
      const [user] = await addUsers(admin);
      await sql`insert into public.orders (id, owner) values (4002, ${user})`;
      await admin`delete from auth.users where id = ${user}`;

      assert.equal((await counted(sql)).starts, 0);
    },
  );

  await t.step("a definition does not wait for long for a table that is in use", async () => {
    await sql.begin(async (writer) => {
      await writer`insert into public.orders (id) values (5001)`;

      await assert.rejects(
        addTrigger(sql, { events: ["delete"] }),
        (error) =>
          error instanceof Error && "detail" in error && error.detail === "TRIGGER_TABLE_BUSY",
      );
    });

    await addTrigger(sql, { events: ["delete"] });
  });

  await assertNoDeadlock(track);
});

async function addTrigger(sql: Sql, changes: Record<string, unknown>): Promise<void> {
  const definition = { table: "orders", agent: AGENT, input: { order: "id" }, ...changes };
  await sql`select private.write_row_trigger('orders', ${sql.json(definition as never)})`;
}

async function addUsers(admin: Sql): Promise<[string, string]> {
  const rows = await admin<{ id: string }[]>`
    insert into auth.users (id, email)
    select id, id || '@example.test' from (select gen_random_uuid() as id from generate_series(1, 2)) as new
    returning id`;
  const [first, second] = rows.map(({ id }) => id);
  assert.ok(first !== undefined && second !== undefined);
  return [first, second];
}

async function startUntilIdle(sql: Sql): Promise<void> {
  while ((await counted(sql)).starts > 0) await sql`select private.start_row_jobs(p_limit => 25)`;
}

async function untilSomeWaits(sql: Sql): Promise<void> {
  while (true) {
    const [row] = await sql`
      select count(*)::int as count from pg_stat_activity
      where query like '%start_row_jobs%' and wait_event_type = 'Lock'`;
    if (row?.count > 0) return;
  }
}

/** What waits, and what became a job, also by the different rows of the jobs. */
async function counted(sql: Sql) {
  const [row] = await sql<{ starts: number; jobs: number; rows: number }[]>`
    select (select count(*)::int from private.row_starts) as starts, count(*)::int as jobs,
      count(distinct input ->> 'order')::int as rows from public.tasks`;
  assert.ok(row !== undefined);
  return { ...row };
}
