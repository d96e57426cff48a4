import { createMcpHandler, McpServer } from "../../../shared/vendor/mcp_server.js";
import type { Sql } from "../../../shared/platform/db/sql_client.ts";
import { byteLength } from "../../../shared/platform/values/byte_length.ts";
import { rounded } from "../bench_result.ts";
import { type MeasuredStack, startMeasuredStack } from "../measured_stack.ts";
import { waitFor } from "../../../scripts/wait_for.ts";
import { type ServedMcp, serveMcp } from "../../../tests/gateway/mcp/serve_mcp.ts";
import { answerByGuessing, type GuessingTask } from "./guessing_agent.ts";
import { PICKY_APIS } from "./picky_apis.ts";
import {
  addPickyTools,
  addUser,
  deleteEverything,
  runRounds,
  type TaskCalls,
} from "./rounds_of_tasks.ts";

/** Tools of the agent: those that its tasks need, and those of an external server. */
export const TOOL_COUNT = 500;

const AGENT = "bench-many-tools";
const ROUNDS = 3;
const LIST_TIMEOUT_MS = 120_000;

/** Things of an office and what is done with them; some share words with the needed tools. */
const THINGS = ("order invoice shift visit refund meter ticket contract customer supplier parcel " +
  "warehouse employee vehicle room meeting project budget payment discount campaign survey " +
  "document folder template report dashboard webhook license domain server backup alert incident " +
  "certificate message channel calendar reminder").split(" ");
const VERBS =
  ("create update archive approve assign export import merge duplicate schedule share " +
    "subscribe_to validate").split(" ");

/** What tasks of an agent with many tools achieve and cost. */
export interface ManyToolsFigures {
  readonly successShare: number;
  /** Mean size of a request to the model. */
  readonly promptKb: number;
  /** Model calls of a task. */
  readonly modelCalls: number;
}

/** The same tasks with every tool in the prompt, and with the search. */
export interface ManyToolsRuns {
  readonly whole: ManyToolsFigures;
  /** Nothing is known of the user's or others' calls; `known` learns from each. */
  readonly searched: ManyToolsFigures & { readonly known: ManyToolsFigures };
}

/** Runs the tasks of the benchmark by an agent with hundreds of other tools. */
export async function measureManyTools(db: string, apisUrl: string): Promise<ManyToolsRuns> {
  await using server = startOfficeServer();
  const whole = await onStack(
    db,
    { SUPASWARM_TOOL_SEARCH_BYTES: "1000000000" },
    (measured) => measure(measured, server.url, apisUrl, [nothingKnown]),
  );
  const searched = await onStack(
    db,
    {},
    (measured) => measure(measured, server.url, apisUrl, [nothingKnown, learning]),
  );
  const [first, known] = searched;
  if (whole[0] === undefined || first === undefined || known === undefined) {
    throw new Error("Cannot compare the runs: one is missing");
  }
  return { whole: whole[0], searched: { ...first, known } };
}

async function onStack<Result>(
  db: string,
  env: Readonly<Record<string, string>>,
  run: (measured: MeasuredStack) => Promise<Result>,
): Promise<Result> {
  await using measured = await startMeasuredStack(db, env);
  return await run(measured);
}

/** Prepares a round. */
type BeforeRound = (sql: Sql) => Promise<void>;

const nothingKnown: BeforeRound = deleteEverything;
const learning: BeforeRound = () => Promise.resolve();

async function measure(
  measured: MeasuredStack,
  serverUrl: string,
  apisUrl: string,
  kinds: readonly BeforeRound[],
): Promise<ManyToolsFigures[]> {
  const { sql, stack } = measured;
  await measured.addAgent(AGENT, answerByGuessing);
  await addPickyTools(sql, AGENT, apisUrl);
  await sql`
    with tool as (
      insert into public.tools (name, slug, type, config)
      values ('Office', 'office', 'mcp_server', ${sql.json({ mcp_url: serverUrl })})
      returning id
    )
    insert into public.agent_tools (agent_id, tool_id)
    select agent.id, tool.id from tool, public.agents as agent where agent.slug = ${AGENT}`;
  await sql`select public.grant_scopes(null, '{mcp:office}')`;
  const user = await addUser(sql);
  const listedTasks = await listTools(measured, user);
  const figures: ManyToolsFigures[] = [];
  for (const beforeRound of kinds) {
    const callsBefore = stack.models.journal.count(AGENT);
    const tasks = await runRounds(
      { measured, agent: AGENT, count: ROUNDS },
      async () => {
        await beforeRound(sql);
        return user;
      },
    );
    await assertListed(sql, listedTasks);
    const calls = stack.models.journal.count(AGENT) - callsBefore;
    const bodies = stack.models.journal.entries().filter(({ agent }) => agent === AGENT)
      .slice(-calls).map(({ body }) => byteLength(body));
    figures.push(toFigures(tasks, bodies));
  }
  return figures;
}

/**
 * Lets the gateway list the server's tools for the user, which may take longer than a first task
 * waits. Returns that task.
 */
async function listTools(measured: MeasuredStack, ownerId: string): Promise<string> {
  const task: GuessingTask = { api: 0, round: 0 };
  const taskId = await measured.createTask(AGENT, { input: { ...task }, ownerId });
  await measured.untilCompleted(taskId, LIST_TIMEOUT_MS);
  await waitFor(async () => {
    const [row] = await measured.sql`
      select exists (
        select from public.agent_mcp_connections as connection
        join public.tools as tool on tool.id = connection.tool_id
        where tool.slug = 'office' and connection.user_id = ${ownerId}::uuid
          and connection.tools_listed_at is not null
      ) as is_listed`;
    return row?.is_listed === true;
  }, { timeoutMs: LIST_TIMEOUT_MS, what: "the list of the other tools" });
  return taskId;
}

/** Without the other tools, the figures would be those of an agent with few tools. */
async function assertListed(sql: Sql, firstTaskId: string): Promise<void> {
  const [row] = await sql<{ absent: number }[]>`
    select count(*)::int as absent from public.tasks
    where agent_slug = ${AGENT} and id <> ${firstTaskId}::uuid
      and warnings @> '[{"server": "office"}]'`;
  if (row?.absent === 0) return;
  throw new Error(`Cannot measure many tools: ${row?.absent} tasks began before they were listed`);
}

function toFigures(
  tasks: readonly TaskCalls[],
  promptBytes: readonly number[],
): ManyToolsFigures {
  const bytes = promptBytes.reduce((sum, size) => sum + size, 0);
  return {
    successShare: rounded(tasks.filter((task) => task.is_success).length / tasks.length),
    promptKb: rounded(bytes / promptBytes.length / 1_000),
    modelCalls: rounded(promptBytes.length / tasks.length),
  };
}

/** The other tools, whose definitions have the usual size. */
const OFFICE_TOOLS = THINGS.flatMap((thing) => VERBS.map((verb) => toolFor(verb, thing)))
  .slice(0, TOOL_COUNT - PICKY_APIS.length);

function toolFor(verb: string, thing: string) {
  const text = (description: string) => ({ type: "string", description });
  return {
    name: `${verb}_${thing}`,
    description: `Lets a member of the office ${verb.replaceAll("_", " ")} a ${thing}. The ` +
      `${thing} is named by its number; the change is written to its history and can be undone ` +
      "on the same day by whoever made it.",
    inputSchema: {
      type: "object" as const,
      properties: {
        number: text(`Number of the ${thing}, as its page shows it`),
        comment: text("Why, for the history"),
        notify: { type: "boolean", description: "Whether everyone concerned gets a message" },
      },
      required: ["number"],
      additionalProperties: false,
    },
  };
}

/** A server that lists the other tools; no task needs one of them. */
function startOfficeServer(): ServedMcp {
  const handler = createMcpHandler(() => {
    const mcp = new McpServer({ name: "Office", version: "1.0.0" }, {
      capabilities: { tools: {} },
    });
    mcp.server.setRequestHandler("tools/list", () => ({ tools: OFFICE_TOOLS }));
    return mcp;
  });
  return serveMcp(handler);
}
