import assert from "node:assert/strict";
import {
  isObject,
  readInput,
  type ScriptedAgent,
  scriptModel,
} from "../../scripts/models/scripted_agent.ts";
import { untilListed } from "../../scripts/demo/until_listed.ts";
import { startModelServer } from "../../scripts/models/model_server.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { createSql, type Sql } from "../../shared/platform/db/sql_client.ts";
import { areGone, descendants } from "../stack/process_tree.ts";
import { type ReadyLine, runStart } from "../stack/start_process.ts";
import { startMcpServer } from "../gateway/tools/mcp_fixture.ts";
import { created, sendRequest } from "./create_task_endpoint.ts";
import { fillDataFolder } from "./migrated_folder.ts";
import { addAgent, addProvider, addTool } from "./operator.ts";
import { call, complete, completeWithResults, scriptTurns, turnNumber } from "./script.ts";
import { untilTask } from "./task_view.ts";

/**
 * The state of each subtask when the stack is killed: ended; waiting for the model's second
 * answer; in a read-only call; in a writing call.
 */
const PARTS = ["ended", "thinking", "reading", "writing"];

const boss = scriptTurns(
  "boss",
  {
    toolCalls: PARTS.map((part) => ({
      name: "create_subtask",
      arguments: { agent: "hand", input: { part } },
    })),
  },
  completeWithResults,
);

/** Plays the subtasks, records every request, and holds back one answer. */
function hand(asked: string[], gate: Promise<void>): ScriptedAgent {
  return scriptModel("hand", async (request) => {
    const input = readInput(request);
    const part = isObject(input) ? String(input.part) : "";
    const turn = turnNumber(request);
    asked.push(`${part} ${turn}`);
    if (turn === 0) {
      if (part === "reading") return call("slow__search", { searchValue: part });
      return call(part === "writing" ? "slow__write_note" : "desk__write_note", { text: part });
    }
    if (part === "thinking") await gate;
    return complete(`${part} is done`);
  });
}

Deno.test("a job completes after SIGKILL in the middle, and no finished step runs twice", async () => {
  const dataDir = await Deno.makeTempDir({ prefix: "supaswarm-kill-test-" });
  const gate = Promise.withResolvers<void>();
  const asked: string[] = [];
  await using cleanUp = new AsyncDisposableStack();
  cleanUp.defer(() => Deno.remove(dataDir, { recursive: true }));
  await fillDataFolder(dataDir);
  const models = await startModelServer({ agents: [boss, hand(asked, gate.promise)] });
  cleanUp.defer(() => models.stop());
  const desk = await startMcpServer();
  cleanUp.defer(() => desk.stop());
  const slow = await startMcpServer({
    intercept: ({ method }, answer) => {
      return method === "tools/call" ? holdBack(answer(), gate.promise) : undefined;
    },
  });
  cleanUp.defer(() => slow.stop());
  cleanUp.defer(() => gate.resolve());
  const start = () =>
    cleanUp.use(runStart(["--json", "--port", "0"], {
      stdin: "null",
      env: {
        SUPASWARM_DATA_DIR: dataDir,
        SUPASWARM_LEASE_SECONDS: "15",
        SUPASWARM_HEARTBEAT_SECONDS: "5",
      },
    }));

  const first = start();
  const ready = await first.ready;
  const masterId = await withSql(ready, async (sql) => {
    await setUp(sql, { modelUrl: models.url, deskUrl: desk.url, slowUrl: slow.url });
    const stack = { apiUrl: ready.api_url, secretKey: ready.secret_key };
    for (const server of ["desk", "slow"]) await untilListed(stack, server);
    return await createJob(ready);
  });
  const before = await withSql(
    ready,
    (sql) => untilInTheMiddle(sql, masterId, { asked, written: slow.notes }),
  );
  const children = await descendants(ready.pid);
  for (const pid of [ready.pid, ...children]) killHard(pid);
  await first.ended;
  await waitFor(() => areGone([ready.pid, ...children]), { what: "the end of the killed stack" });
  gate.resolve();

  const second = start();
  const again = await second.ready;
  const { output, after } = await withSql(again, async (sql) => {
    const writingId = await waitFor(() => taskInReview(sql, masterId))
      .catch(async (cause) => {
        throw new Error(`No review was requested: ${await describeJob(sql, masterId)}`, { cause });
      });
    await answerNo(again, writingId);
    const { output } = await untilTask(sql, masterId, "completed");
    return { output, after: await readEndedSteps(sql, masterId) };
  });

  for (const part of PARTS) assert.match(JSON.stringify(output), new RegExp(`${part} is done`));
  assert.ok(before.length >= 8, JSON.stringify(before));
  assert.deepEqual(after.slice(0, before.length), before);
  // Calls in flight are repeated; finished ones are not.
  const twice = asked.filter((answer, index) => asked.indexOf(answer) !== index);
  assert.deepEqual(twice, ["thinking 1"]);
  assert.equal(models.journal.count("boss"), 2);
  assert.deepEqual(desk.notes.toSorted(), ["ended", "thinking"]);
  assert.deepEqual(slow.notes, ["writing"]);

  const rest = await descendants(again.pid);
  second.kill("SIGTERM");
  assert.equal((await second.ended).code, 0);
  assert.ok(rest.length > 0 && await areGone(rest), "SIGTERM leaves no process");
});

async function holdBack(answer: Promise<Response>, gate: Promise<void>): Promise<Response> {
  const response = await answer;
  await gate;
  return response;
}

async function withSql<T>(ready: ReadyLine, use: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = createSql(ready.db_url, { maxConnections: 1, applicationName: "e2e" });
  try {
    return await use(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

interface Outside {
  readonly modelUrl: string;
  readonly deskUrl: string;
  readonly slowUrl: string;
}

async function setUp(sql: Sql, { modelUrl, deskUrl, slowUrl }: Outside): Promise<void> {
  await addProvider(sql, { name: "outside", baseUrl: `${modelUrl}/v1` });
  const desk = await addTool(sql, {
    slug: "desk",
    type: "mcp_server",
    config: { mcp_url: deskUrl },
  });
  const slow = await addTool(sql, {
    slug: "slow",
    type: "mcp_server",
    config: { mcp_url: slowUrl },
  });
  await addAgent(sql, { slug: "boss", provider: "outside" });
  await addAgent(sql, { slug: "hand", provider: "outside", tools: [{ id: desk }, { id: slow }] });
}

async function createJob({ api_url, secret_key }: ReadyLine): Promise<string> {
  const answer = await sendRequest({ apiUrl: api_url }, {
    headers: { apikey: secret_key },
    body: { agent: "boss", input: "Go" },
  });
  return created(answer).task_id;
}

/**
 * Waits until every subtask is in its state and what is delayed has arrived: a step is started
 * before its call is sent. Returns the finished steps.
 */
async function untilInTheMiddle(
  sql: Sql,
  masterId: string,
  { asked, written }: { asked: readonly string[]; written: readonly string[] },
): Promise<readonly EndedStep[]> {
  await waitFor(async () => {
    const rows = await sql<{ place: string }[]>`
      select concat_ws(' ', task.input ->> 'part', step.kind, step.seq, step.state) as place
      from public.tasks as task
      join public.task_steps as step on step.task_id = task.id
      where task.master_task_id = ${masterId}::uuid`;
    const places = new Set(rows.map(({ place }) => place));
    return [
      "ended system 4 done",
      "thinking model 3 started",
      "reading tool 2 started",
      "writing tool 2 started",
    ].every((place) => places.has(place)) && asked.includes("thinking 1") &&
      written.includes("writing");
  }, { what: "the middle of the job" });
  return await readEndedSteps(sql, masterId);
}

interface EndedStep {
  readonly step: string;
}

/** Every finished step, complete, in the order of their ends. */
async function readEndedSteps(sql: Sql, masterId: string): Promise<readonly EndedStep[]> {
  return await sql<EndedStep[]>`
    select to_jsonb(step)::text as step
    from public.task_steps as step
    join public.tasks as task on task.id = step.task_id
    where task.master_task_id = ${masterId}::uuid and step.state <> 'started'
    order by step.ended_at, step.task_id, step.seq`.then((rows) => rows.map((row) => ({ ...row })));
}

async function taskInReview(sql: Sql, masterId: string): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    select id from public.tasks
    where master_task_id = ${masterId}::uuid and status = 'needs_human_review'`;
  return row?.id;
}

/** A description of the job, for the error of a wait that timed out. */
async function describeJob(sql: Sql, masterId: string): Promise<string> {
  const tasks = await sql`
    select input, status, error, epoch, deliveries, lease_expires_at, now(), (
      select jsonb_agg(concat_ws(' ', kind, name, state) order by seq)
      from public.task_steps as step where step.task_id = task.id
    ) as steps
    from public.tasks as task where master_task_id = ${masterId}::uuid`;
  return JSON.stringify([...tasks], null, 2);
}

async function answerNo({ api_url, secret_key }: ReadyLine, taskId: string): Promise<void> {
  const answer = await sendRequest({ apiUrl: api_url }, {
    endpoint: "/rest/v1/rpc/respond_to_review",
    headers: { apikey: secret_key },
    body: { p_task_id: taskId, p_approved: false, p_response: {}, p_comments: "It is written." },
  });
  assert.deepEqual([answer.status, answer.body], [200, "pending"]);
}

function killHard(pid: number): void {
  try {
    Deno.kill(pid, "SIGKILL");
  } catch (error) {
    // A child may have ended with its parent.
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
