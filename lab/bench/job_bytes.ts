import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { type BenchResult, judge, rounded } from "./bench_result.ts";
import {
  addDeskAgent,
  ANSWER_CHARACTERS,
  RESULT_BYTES,
  runDeskJobs,
  startDesk,
  STEPS,
  TURNS,
} from "./desk_jobs.ts";
import { openQueueDatabase } from "./queue_database.ts";
import { serverVersion } from "./server_version.ts";

/** Jobs of each of two runs: enough that whole pages and the upper levels of indexes add little. */
const JOBS = 240;
/** Tables with rows of jobs. */
const TABLES = [
  "public.tasks",
  "public.task_steps",
  "private.task_events",
  "private.job_totals",
  "private.stored_traces",
  "public.sessions",
  "public.mcp_executions",
  "public.usage_events",
  "realtime.messages",
] as const;

/**
 * Job bytes: what a job of eight steps keeps in each table, and what a turn costs. The real worker
 * runs jobs of a user: four answers of 400 characters and four calls of an HTTP tool whose results
 * have 2 KB. Nobody watches.
 *
 * @param db Only `native`, because it measures the server's processes.
 */
export async function benchJobBytes(db: string): Promise<BenchResult> {
  if (db !== "native") throw new Error("Cannot run the benchmark job_bytes: use --db native");
  await using database = await openQueueDatabase(db);
  const { sql } = database;
  await using desk = startDesk();
  const ownerId = await addDeskAgent(sql, desk.url);
  const empty = await tableBytes(sql);
  const [size] = await sql<{ bytes: number }[]>`
    select pg_database_size(current_database())::float8 as bytes`;
  const emptyBytes = size?.bytes ?? Number.NaN;
  await runDeskJobs(database, { ownerId, count: JOBS });
  const written = await tableBytes(sql);
  const cost = await runDeskJobs(database, { ownerId, count: JOBS });
  // Retention and autovacuum keep tables compact, so the dead versions of a job are not counted.
  await compact(sql);
  const after = await tableBytes(sql);
  const rows = await rowBytes(sql);
  const perJob = Object.fromEntries(
    TABLES.map((table) => [
      `${nameOf(table)}_bytes`,
      Math.round(((after[table] ?? 0) - (empty[table] ?? 0)) / (2 * JOBS)),
    ]),
  );
  const keptBytes = Object.entries(perJob)
    .filter(([name]) => name !== "realtime_messages_bytes")
    .reduce((sum, [, bytes]) => sum + bytes, 0);
  const values = Object.fromEntries(
    Object.entries(rows).map(([name, bytes]) => [name, Math.round(bytes / (2 * JOBS))]),
  );
  const figures = {
    steps: STEPS,
    empty_bytes: emptyBytes,
    kept_bytes: keptBytes,
    ...perJob,
    ...values,
    written_bytes: Math.round(
      TABLES.reduce((sum, table) => sum + (written[table] ?? 0) - (empty[table] ?? 0), 0) / JOBS,
    ),
    wal_kib: rounded(cost.walBytes / JOBS / 1_024),
    wal_kib_of_turn: rounded(cost.walBytes / JOBS / TURNS / 1_024),
    server_cpu_ms_of_turn: rounded(cost.cpuUs / JOBS / TURNS / 1_000),
    worker_cpu_ms_of_turn: rounded(cost.processCpuUs / JOBS / TURNS / 1_000),
  };
  return judge("job_bytes", figures, { kept_bytes: { max: 20_480 } }, {
    versions: await serverVersion(sql),
    notes: [
      `Jobs of ${STEPS} steps of one user: ${TURNS} answers of ${ANSWER_CHARACTERS} characters, and tool calls with results of ${RESULT_BYTES} bytes. \`kept_bytes\` is the sum of the tables with their indexes after a vacuum, except \`realtime_messages_bytes\`, which Realtime deletes after three days. \`…_value_bytes\` is the size of single columns as stored. \`written_bytes\` includes the dead versions.`,
      "`server_cpu_ms_of_turn` and `wal_kib…` are of all sessions of the worker, with 8 slots, from the creation of the jobs to their ends. `worker_cpu_ms_of_turn` includes the tool and the model, which run in the worker's process. `empty_bytes`: the whole database before the first job.",
    ],
  });
}

function nameOf(table: string): string {
  return table === "realtime.messages" ? "realtime_messages" : table.split(".")[1] ?? table;
}

async function compact(sql: Sql): Promise<void> {
  await sql`select private.sum_stored_debits(1000000)`;
  const parts = await sql<{ name: string }[]>`
    select distinct part.relid::text as name
    from jsonb_array_elements_text(${sql.json([...TABLES])}) as listed (name)
    cross join lateral pg_partition_tree(listed.name::regclass) as part
    where part.isleaf and listed.name <> 'realtime.messages'
    union
    select listed.name from jsonb_array_elements_text(${sql.json([...TABLES])}) as listed (name)
    where not exists (select from pg_partition_tree(listed.name::regclass))`;
  for (const { name } of parts) await sql.unsafe(`vacuum full ${name}`);
}

async function tableBytes(sql: Sql): Promise<Record<string, number>> {
  const rows = await sql<{ name: string; bytes: number }[]>`
    select listed.name, (
      select sum(pg_total_relation_size(part.oid))
      from (
        select tree.relid as oid from pg_partition_tree(listed.name::regclass) as tree where tree.isleaf
        union
        select listed.name::regclass
      ) as part
    )::float8 as bytes
    from jsonb_array_elements_text(${sql.json([...TABLES])}) as listed (name)`;
  return Object.fromEntries(rows.map(({ name, bytes }) => [name, bytes]));
}

async function rowBytes(sql: Sql): Promise<Record<string, number>> {
  const [row] = await sql<Record<string, number>[]>`
    select
      (select sum(pg_column_size(output)) from public.task_steps where kind = 'model')::float8
        as model_output_value_bytes,
      (select sum(pg_column_size(output)) from public.task_steps where kind = 'tool')::float8
        as tool_output_value_bytes,
      (select sum(pg_column_size(payload)) from private.task_events where type is null)::float8
        as checkpoint_event_value_bytes,
      (select sum(pg_column_size(response_data)) from public.mcp_executions)::float8
        as ledger_response_value_bytes`;
  return { ...row };
}
