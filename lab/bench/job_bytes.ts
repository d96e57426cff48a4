import { createToolGateway } from "../../shared/gateway/tools/gateway.ts";
import { createSql, type Sql } from "../../shared/platform/db/sql_client.ts";
import { NO_TELEMETRY } from "../../shared/platform/telemetry/telemetry.ts";
import { isolateClock } from "../../shared/platform/isolate/clock.ts";
import { createCpuMeter } from "../../shared/platform/isolate/cpu_meter.ts";
import { createLifetime } from "../../shared/platform/isolate/lifetime.ts";
import { createSqlTaskStore } from "../../shared/engine/worker/sql_task_store.ts";
import type { CallTaskModel } from "../../shared/engine/worker/task_ports.ts";
import { createTaskWorker } from "../../shared/engine/worker/task_worker.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { type BenchResult, judge, rounded } from "./bench_result.ts";
import { AGENT, openQueueDatabase, type QueueDatabase } from "./queue_database.ts";
import { serverVersion } from "./server_version.ts";
import { SessionCost } from "./session_cost.ts";

/** Jobs of each of two runs. The first warms up the functions' plans. */
const JOBS = 80;
const ANSWER_CHARACTERS = 400;
const RESULT_BYTES = 2_000;
/** The number of tool calls in each turn of a job. The last turn has none, so a job has 8 steps. */
const CALLS_OF_TURN = [2, 1, 1, 0];
const STEPS = CALLS_OF_TURN.reduce((sum, calls) => sum + 1 + calls, 0);
/** Tables whose rows belong to one job. Retention deletes the first eight with the job. */
const TABLES = [
  "public.tasks",
  "public.task_steps",
  "public.task_events",
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
  await runJobs(database, ownerId);
  const written = await tableBytes(sql);
  const cost = await runJobs(database, ownerId);
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
    kept_bytes: keptBytes,
    ...perJob,
    ...values,
    written_bytes: Math.round(
      TABLES.reduce((sum, table) => sum + (written[table] ?? 0) - (empty[table] ?? 0), 0) / JOBS,
    ),
    wal_kib: rounded(cost.walBytes / JOBS / 1_024),
    wal_kib_of_turn: rounded(cost.walBytes / JOBS / CALLS_OF_TURN.length / 1_024),
    server_cpu_ms_of_turn: rounded(cost.cpuUs / JOBS / CALLS_OF_TURN.length / 1_000),
  };
  return judge("job_bytes", figures, { kept_bytes: { max: 20_480 } }, {
    versions: await serverVersion(sql),
    notes: [
      `Jobs of ${STEPS} steps of one user: ${CALLS_OF_TURN.length} answers of ${ANSWER_CHARACTERS} characters, and tool calls with results of ${RESULT_BYTES} bytes. \`kept_bytes\` is the sum of the tables with their indexes after a vacuum, except \`realtime_messages_bytes\`, which Realtime deletes after three days. \`…_value_bytes\` is the size of single columns as stored. \`written_bytes\` includes the dead versions.`,
      "`server_cpu_ms_of_turn` and `wal_kib…` are of all sessions of the worker, with 8 slots, from the creation of the jobs to their ends.",
    ],
  });
}

function nameOf(table: string): string {
  return table === "realtime.messages" ? "realtime_messages" : table.split(".")[1] ?? table;
}

/** An HTTP server with a record of 2 KB for each number. */
function startDesk() {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    const order = Number(new URL(request.url).searchParams.get("order"));
    return Response.json({ order, notes: wordsOf(order, RESULT_BYTES - 40) });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}/orders`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

const WORDS =
  "the order of customer was shipped to address in north and returned because parcel had damage refund invoice number approved by support on monday after second check with carrier who confirmed weight value insurance claim pending until warehouse team answers about replacement stock color size"
    .split(" ");

/** Text that compresses like prose. */
function wordsOf(seed: number, characters: number): string {
  let state = seed * 2_654_435_761 % 4_294_967_296;
  let text = "";
  while (text.length < characters) {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    text += `${WORDS[state % WORDS.length]}${state % 7 === 0 ? state % 1_000 : ""} `;
  }
  return text.slice(0, characters);
}

/** Adds a user, and the tool to the agent. Returns the user's id. */
async function addDeskAgent(sql: Sql, url: string): Promise<string> {
  const config = {
    method: "GET",
    url,
    query: { order: "{order}" },
    parameters: {
      type: "object",
      properties: { order: { type: "integer", description: "Number of the order." } },
      required: ["order"],
    },
    read_only: true,
  };
  const [row] = await sql<{ id: string }[]>`
    with tool as (
      insert into public.tools (name, slug, type, description, config)
      values ('Orders', 'orders', 'http_api', 'Reads an order.', ${sql.json(config)})
      returning id
    ),
    granted as (
      insert into public.agent_tools (agent_id, tool_id)
      select agent.id, tool.id from public.agents as agent, tool where agent.slug = ${AGENT}
    )
    insert into auth.users (id, email) values (gen_random_uuid(), 'bench@example.com') returning id`;
  if (row === undefined) throw new Error("Cannot add the user: the database returned no row");
  await sql`select public.grant_scopes(${row.id}, '{swarm:run,mcp:orders}')`;
  // Limits of users are not measured.
  await sql`
    insert into public.mcp_policies (mcp_name, calls_per_minute, burst_calls)
    values ('orders', 1000000, 1000000)`;
  await sql`update private.quotas set amount = null`;
  return row.id;
}

/** Creates the jobs and runs them on one worker. */
async function runJobs({ url, sql }: QueueDatabase, ownerId: string) {
  const pool = createSql(url, { maxConnections: 1, applicationName: "bench-worker" });
  const cost = await SessionCost.of(pool);
  const walBefore = await walPosition(sql);
  const cpuUs = await cost.cpuUs(async () => {
    for (let n = 0; n < JOBS; n++) {
      await pool`
        select task_id from private.create_task(
          p_agent => ${AGENT}, p_input => to_jsonb(${`Check order ${n}`}::text), p_created_by => ${ownerId}::uuid)`;
    }
    const ports = {
      store: createSqlTaskStore(pool, { leaseSeconds: 60, clock: isolateClock }),
      callModel: answerInTurn,
      gateway: createToolGateway({
        sql: pool,
        internalServers: {},
        supabaseUrl: "http://127.0.0.1:9",
        secretKey: "sb_secret_bench",
        allowLoopback: true,
        log: () => {},
      }),
      artifacts: { put: () => Promise.reject(new TypeError("No artifact was expected")) },
      describeFiles: () => Promise.reject(new TypeError("No file was expected")),
      clock: isolateClock,
      telemetry: NO_TELEMETRY,
      log: () => {},
    };
    const worker = createTaskWorker({
      id: crypto.randomUUID(),
      ports,
      settings: { slots: 8, leaseSeconds: 60, heartbeatSeconds: 20, idleSeconds: 60 },
      lifetime: createLifetime(3_600, {
        softMs: 1e9,
        hardMs: 2e9,
        meter: createCpuMeter(),
      }),
    });
    const ended = worker.run();
    await waitFor(async () => {
      const [row] = await sql`
        select count(*) filter (where finished_at is null)::int as open,
          min(error ->> 'message') as problem
        from public.tasks`;
      if (row?.problem) throw new Error(`Cannot measure the jobs: one failed: ${row.problem}`);
      return row?.open === 0 ? true : null;
    }, { what: "the jobs to end", timeoutMs: 300_000 });
    await worker.unload();
    await ended;
  });
  await pool.end({ timeout: 1 });
  return { cpuUs, walBytes: await walPosition(sql) - walBefore };
}

const answerInTurn: CallTaskModel = ({ context, prompt }) => {
  const turn = prompt.messages.filter(({ role }) => role === "assistant").length;
  const seed = Number.parseInt(context.task.id.slice(-6), 16) + turn;
  return Promise.resolve({
    answer: {
      text: wordsOf(seed, ANSWER_CHARACTERS),
      tool_calls: Array.from({ length: CALLS_OF_TURN[turn] ?? 0 }, (_, place) => ({
        call_id: `call_${turn}_${place}`,
        name: "orders__orders",
        arguments: { order: seed * 10 + place },
      })),
      finish_reason: CALLS_OF_TURN[turn] === 0 ? "stop" as const : "tool_calls" as const,
    },
    usage: {
      provider_id: null,
      model: "bench",
      input_tokens: 1_000,
      cached_input_tokens: 0,
      output_tokens: 100,
      key_source: "none" as const,
    },
  });
};

async function walPosition(sql: Sql): Promise<number> {
  const [row] = await sql<{ bytes: number }[]>`
    select (pg_current_wal_insert_lsn() - '0/0')::float8 as bytes`;
  return row?.bytes ?? Number.NaN;
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
      (select sum(pg_column_size(payload)) from public.task_events where type like 'model.%')::float8
        as model_event_value_bytes,
      (select sum(pg_column_size(payload)) from public.task_events where type like 'tool.%')::float8
        as tool_event_value_bytes,
      (select sum(pg_column_size(response_data)) from public.mcp_executions)::float8
        as ledger_response_value_bytes`;
  return { ...row };
}
