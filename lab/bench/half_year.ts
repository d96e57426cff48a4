import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { writeProgress } from "../../scripts/terminal.ts";
import { type BenchResult, judge, rounded } from "./bench_result.ts";
import { addDeskAgent, runDeskJobs, startDesk, STEPS } from "./desk_jobs.ts";
import { openQueueDatabase } from "./queue_database.ts";
import { serverVersion } from "./server_version.ts";
import { SessionCost } from "./session_cost.ts";

const DAYS = 182;
const JOBS_A_DAY = 1_000;
/** Jobs that the worker runs. The others are copies of them. */
const TEMPLATES = 40;
const FREE_PLAN_MB = 500;
/** On each of these days, the owner of a job keeps it. */
const KEPT_EVERY_DAYS = 7;
/** On each of these days, a job asks a person who never answers. */
const OPEN_EVERY_DAYS = 28;

/** The tables with rows of jobs, in the order of their references. */
const TABLES = [
  "public.tasks",
  "public.task_steps",
  "private.task_events",
  "private.job_totals",
  "private.stored_traces",
  "public.sessions",
  "public.mcp_executions",
  "public.usage_events",
] as const;
const RETENTIONS = [
  "keep_jobs_days",
  "keep_events_days",
  "keep_executions_days",
  "keep_usage_days",
  "keep_tool_days",
] as const;

/**
 * Half a year: the size of a database that gets 1,000 jobs of eight steps each day, with the
 * default retention, and what it costs to delete them. The real worker runs some jobs, whose rows
 * are copied with new ids and earlier times, day by day; then retention runs as on that day.
 *
 * @param db Only `native`, because it measures the server's processes.
 */
export async function benchHalfYear(db: string): Promise<BenchResult> {
  if (db !== "native") throw new Error("Cannot run the benchmark half_year: use --db native");
  await using database = await openQueueDatabase(db);
  const { sql } = database;
  const emptyMb = await databaseMb(sql);
  await using desk = startDesk();
  const ownerId = await addDeskAgent(sql, desk.url);
  await runDeskJobs(database, { ownerId, count: TEMPLATES });
  await sql`select private.sum_stored_debits(1000000)`;
  const single = await sql.reserve();
  const sizesMb: number[] = [];
  let deleteUs = 0;
  let deletedCount = 0;
  try {
    const cost = await SessionCost.of(single as unknown as Sql);
    for (let day = 0; day < DAYS; day++) {
      const daysAgo = DAYS - 1 - day;
      writeProgress(`half_year: day ${day + 1} of ${DAYS}, ${sizesMb.at(-1) ?? 0} MB`);
      await addDay(single as unknown as Sql, daysAgo);
      if (day % KEPT_EVERY_DAYS === 0) await keepJob(single as unknown as Sql);
      if (day % OPEN_EVERY_DAYS === 0) await openReview(single as unknown as Sql);
      await moveRetention(single as unknown as Sql, daysAgo);
      await single`
        select private.add_tool_calls(p_until => now() - make_interval(days => ${daysAgo}::int))`;
      deleteUs += await cost.cpuUs(async () => {
        deletedCount += await deleteOld(single as unknown as Sql);
      });
      await vacuum(sql);
      sizesMb.push(Math.round(await databaseMb(sql)));
    }
  } finally {
    single.release();
  }
  return judge(
    "half_year",
    {
      days: DAYS,
      jobs_a_day: JOBS_A_DAY,
      steps: STEPS,
      empty_mb: rounded(emptyMb),
      most_mb: Math.max(...sizesMb),
      last_mb: sizesMb.at(-1) ?? Number.NaN,
      mb_after_60_days: sizesMb[59] ?? Number.NaN,
      deleted_jobs: deletedCount,
      delete_cpu_ms_a_job: rounded(deleteUs / deletedCount / 1_000),
      delete_cpu_share_at_100000_jobs_a_day: rounded(
        deleteUs / deletedCount * 100_000 / 86_400_000_000,
      ),
    },
    { most_mb: { max: FREE_PLAN_MB }, delete_cpu_share_at_100000_jobs_a_day: { max: 0.02 } },
    {
      versions: await serverVersion(sql),
      notes: [
        "The rows of `TEMPLATES` jobs that the worker ran are copied with new ids and earlier times, one day after the other, with the default retention; one job of each week is kept, and one of each four weeks waits for a person until the end. Each day ends with a vacuum, as autovacuum does several times a day. Sizes are those of the whole database. `delete_cpu_…`: processor time of the session that runs `private.delete_old()` and `drop_old_partitions()`, for all that belongs to a job."
          .replace("`TEMPLATES`", String(TEMPLATES)),
      ],
    },
  );
}

/** Copies the jobs of a day. A template keeps its time of day and its order of rows. */
async function addDay(sql: Sql, daysAgo: number): Promise<void> {
  await sql`
    select private.make_partition(
      p_table => name, p_unit => 'week', p_at => now() - make_interval(days => ${daysAgo}::int)
    )
    from unnest('{task_events,task_steps}'::text[]) as name`;
  await sql`drop table if exists made`;
  await sql`
    create temp table made as
    select template.id as template_id, shift.value as shift,
      (left(private.first_id_of(template.created_at + shift.value)::text, 13) || '-7'
        || substr(gen_random_uuid()::text, 16))::uuid as id
    from (
      select id, created_at, row_number() over (order by id) as place from public.tasks
      where created_at > now() - interval '1 day' and metadata = '{}'
      order by id limit ${TEMPLATES}::int
    ) as template
    cross join generate_series(1, ${JOBS_A_DAY / TEMPLATES}::int) as n
    cross join lateral (
      select make_interval(days => -${daysAgo}::int, secs => -1 - n) as value
    ) as shift`;
  for (const table of TABLES) await sql.unsafe(await copyStatement(sql, table));
  await sql`delete from private.stored_debits`;
}

/** Lets the owner of a job of the day keep it. */
async function keepJob(sql: Sql): Promise<void> {
  await sql`update public.tasks set is_kept = true where id = (select min(id::text)::uuid from made)`;
}

/** Lets a job of the day wait for a person. */
async function openReview(sql: Sql): Promise<void> {
  await sql`
    with asking as (
      update public.tasks set status = 'needs_human_review', output = null, finished_at = null
      where id = (select max(id::text)::uuid from made)
      returning id
    )
    insert into public.human_reviews (task_id, seq, question) select id, 9, 'Go on?' from asking`;
}

/** The statement that copies a table's rows of the templates: new ids, earlier times. */
async function copyStatement(sql: Sql, table: string): Promise<string> {
  const columns = await sql<{ name: string; type: string }[]>`
    select attname as name, atttypid::regtype::text as type
    from pg_attribute
    where attrelid = ${table}::regclass and attnum > 0 and not attisdropped
      and attgenerated = '' and attidentity = ''`;
  const job = table === "public.sessions" || table === "public.tasks"
    ? "id"
    : columns.find(({ name }) => ["task_id", "job_id", "master_task_id"].includes(name))?.name;
  const values = columns.map(({ name, type }) => {
    if (name === job || ["master_task_id", "session_id"].includes(name)) return "made.id";
    if (name === "metadata") return `'{"is_copy": true}'`;
    if (name === "id" || name === "feedback_token") return "gen_random_uuid()";
    return type === "timestamp with time zone" ? `source.${name} + made.shift` : `source.${name}`;
  });
  // The order of the events' ids is the order of their times.
  const order = columns.some(({ name }) => name === "at") ? " order by source.id" : "";
  return `
    insert into ${table} (${columns.map(({ name }) => name).join(", ")})
    select ${values.join(", ")}
    from made join ${table} as source on source.${job} = made.template_id${order}`;
}

/** Lets retention see that day as today. */
async function moveRetention(sql: Sql, daysAgo: number): Promise<void> {
  await sql`delete from private.settings where ${sql.json([...RETENTIONS])} ? key`;
  await sql`
    insert into private.settings (key, value)
    select key, (private.retention_days(key) + ${daysAgo}::int)::text
    from jsonb_array_elements_text(${sql.json([...RETENTIONS])}) as key`;
}

async function deleteOld(sql: Sql): Promise<number> {
  let jobs = 0;
  while (true) {
    const [row] = await sql`select private.drop_old_partitions() as count`;
    if (row?.count === 0) break;
  }
  while (true) {
    const [row] = await sql<{ deleted: Record<string, number> }[]>`
      select private.delete_old() as deleted`;
    jobs += row?.deleted.jobs ?? 0;
    if (Object.values(row?.deleted ?? {}).every((count) => count === 0)) return jobs;
  }
}

async function vacuum(sql: Sql): Promise<void> {
  const parts = await sql<{ name: string }[]>`
    select relid::text as name
    from (values ('public.task_steps'), ('private.task_events')) as listed (name)
    cross join lateral pg_partition_tree(listed.name::regclass) as part
    where part.isleaf`;
  const whole = TABLES.filter((table) =>
    !["public.task_steps", "private.task_events"].includes(table)
  );
  const names = [
    ...whole,
    ...parts.map(({ name }) => name),
    "private.stored_debits",
    "private.stored_uses",
  ];
  for (const name of names) await sql.unsafe(`vacuum analyze ${name}`);
}

async function databaseMb(sql: Sql): Promise<number> {
  const [row] = await sql<{ mb: number }[]>`
    select (pg_database_size(current_database()) / 1e6)::float8 as mb`;
  return row?.mb ?? Number.NaN;
}
