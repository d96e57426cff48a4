/** Jobs of a user that call a tool, run by the real worker and gateway, for benchmarks of what a job costs. */
import process from "node:process";
import { createToolGateway } from "../../shared/gateway/tools/gateway.ts";
import type { ToolGateway } from "../../shared/gateway/tool_contracts/tool_gateway.ts";
import { createSql, prepareStatements, type Sql } from "../../shared/platform/db/sql_client.ts";
import { NO_TELEMETRY } from "../../shared/platform/telemetry/telemetry.ts";
import { isolateClock } from "../../shared/platform/isolate/clock.ts";
import { createCpuMeter } from "../../shared/platform/isolate/cpu_meter.ts";
import { createLifetime } from "../../shared/platform/isolate/lifetime.ts";
import { createSqlTaskStore } from "../../shared/engine/worker/sql_task_store.ts";
import type { CallTaskModel } from "../../shared/engine/worker/task_ports.ts";
import { createTaskWorker } from "../../shared/engine/worker/task_worker.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { AGENT, type QueueDatabase } from "./queue_database.ts";
import { SessionCost } from "./session_cost.ts";

export const ANSWER_CHARACTERS = 400;
export const RESULT_BYTES = 2_000;
/** The number of tool calls in each turn of a job. The last turn has none. */
const CALLS_OF_TURN = [2, 1, 1, 0];
export const TURNS = CALLS_OF_TURN.length;
export const CALLS = CALLS_OF_TURN.reduce((sum, calls) => sum + calls, 0);
/** The model calls and tool calls of a job. */
export const STEPS = TURNS + CALLS;

/** The tool in the name that a model uses. */
export const DESK_TOOL = "orders__orders";

/** An HTTP server with a record of 2 KB for each number. */
export function startDesk(): AsyncDisposable & { readonly url: string } {
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
export function wordsOf(seed: number, characters: number): string {
  let state = seed * 2_654_435_761 % 4_294_967_296;
  let text = "";
  while (text.length < characters) {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    text += `${WORDS[state % WORDS.length]}${state % 7 === 0 ? state % 1_000 : ""} `;
  }
  return text.slice(0, characters);
}

/** Adds the tool, and offers it to an agent. */
export async function addDeskTool(sql: Sql, agent: string, url: string): Promise<void> {
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
  await sql`
    with tool as (
      insert into public.tools (name, slug, type, description, config)
      values ('Orders', 'orders', 'http_api', 'Reads an order.', ${sql.json(config)})
      returning id
    )
    insert into public.agent_tools (agent_id, tool_id)
    select agent.id, tool.id from public.agents as agent, tool where agent.slug = ${agent}`;
}

/** Adds a user, and the tool to the agent. Returns the user's id. */
export async function addDeskAgent(sql: Sql, url: string): Promise<string> {
  await addDeskTool(sql, AGENT, url);
  const [row] = await sql<{ id: string }[]>`
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

/** The gateway of a worker whose jobs call the tool. */
export function createDeskGateway(sql: Sql): ToolGateway {
  return createToolGateway({
    sql,
    internalServers: {},
    supabaseUrl: "http://127.0.0.1:9",
    secretKey: "sb_secret_bench",
    allowLoopback: true,
    log: () => {},
  });
}

/** The processor time of the worker's session and of this process, and the WAL of the server. */
export interface DeskCost {
  readonly cpuUs: number;
  /** The worker, and the tool and the model that it calls. */
  readonly processCpuUs: number;
  readonly walBytes: number;
}

/** Creates jobs and runs them on one worker with eight slots and one connection. */
export async function runDeskJobs(
  { url, sql }: QueueDatabase,
  { ownerId, count }: { readonly ownerId: string; readonly count: number },
): Promise<DeskCost> {
  const pool = createSql(url, { maxConnections: 1, applicationName: "bench-worker" });
  prepareStatements(pool);
  const cost = await SessionCost.of(pool);
  const walBefore = await walPosition(sql);
  const processBefore = process.cpuUsage();
  const cpuUs = await cost.cpuUs(async () => {
    for (let n = 0; n < count; n++) {
      await pool`
        select task_id from private.create_task(
          p_agent => ${AGENT}, p_input => to_jsonb(${`Check order ${n}`}::text), p_created_by => ${ownerId}::uuid)`;
    }
    const ports = {
      store: createSqlTaskStore(pool, { leaseSeconds: 60, clock: isolateClock }),
      callModel: answerInTurn,
      gateway: createDeskGateway(pool),
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
  const { user, system } = process.cpuUsage(processBefore);
  await pool.end({ timeout: 1 });
  return { cpuUs, processCpuUs: user + system, walBytes: await walPosition(sql) - walBefore };
}

const answerInTurn: CallTaskModel = ({ context, prompt }) => {
  const turn = prompt.messages.filter(({ role }) => role === "assistant").length;
  const seed = Number.parseInt(context.task.id.slice(-6), 16) + turn;
  return Promise.resolve({
    answer: {
      text: wordsOf(seed, ANSWER_CHARACTERS),
      tool_calls: Array.from({ length: CALLS_OF_TURN[turn] ?? 0 }, (_, place) => ({
        call_id: `call_${turn}_${place}`,
        name: DESK_TOOL,
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
