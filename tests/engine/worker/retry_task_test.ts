import assert from "node:assert/strict";
import { toolNamed } from "../../../shared/engine/agent/agent_states.ts";
import type { TaskModelCall } from "../../../shared/engine/worker/task_ports.ts";
import { ERROR_CODES, type ErrorCode } from "../../../shared/platform/errors/codes.ts";
import { SwarmError } from "../../../shared/platform/errors/swarm_error.ts";
import type { JsonObject } from "../../../shared/platform/values/json.ts";
import { waitFor } from "../../../scripts/wait_for.ts";
import { addGuardrails } from "./checked_job.ts";
import {
  answered,
  ask,
  type ModelTurn,
  type StepRow,
  Swarm,
  turnNumber,
  type WorkerParts,
} from "./swarm_fixture.ts";

/** Why a task fails, how the cause is removed, and what then happens. */
interface Failure {
  readonly name: string;
  readonly code: ErrorCode;
  /** What the agent's row has while the task fails. */
  readonly agent?: JsonObject;
  readonly whileBroken: WorkerParts;
  /** What an operator changes. @default nothing; the model or the tool answers differently */
  readonly fixedAgent?: JsonObject;
  /** @default the model answers "Done" */
  readonly onceFixed?: WorkerParts;
}

const CITY = { type: "object", required: ["name"], properties: { name: { type: "string" } } };
const NUMBER = { type: "object", required: ["n"], properties: { n: { type: "number" } } };
const says = (turn: ModelTurn): WorkerParts => ({ model: () => turn });
const tools = [toolNamed("read")];
const reads = { model: () => ({ calls: [ask("read", { path: "a" })] }), tools };
/** Reads first and then says what it has read. */
const readsOnce = (call: TaskModelCall): ModelTurn =>
  call.prompt.messages.at(-1)?.role === "tool"
    ? { text: call.prompt.messages.at(-1)?.text ?? "" }
    : { calls: [ask("read", { path: "a" })] };

const FAILURES: readonly Failure[] = [
  {
    name: "the model refuses to answer",
    code: "MODEL_REFUSED",
    whileBroken: says({ text: "I cannot help with that", isRefused: true }),
  },
  {
    name: "the model returns empty answers",
    code: "MODEL_OUTPUT_INVALID",
    whileBroken: says({ text: "" }),
  },
  {
    name: "the model only makes impossible calls",
    code: "MODEL_OUTPUT_INVALID",
    whileBroken: says({ calls: [ask("unknown_tool")] }),
  },
  {
    name: "plain answers do not match the schema",
    code: "OUTPUT_SCHEMA_MISMATCH",
    agent: { output_schema: CITY },
    whileBroken: says({ text: "It is Bern." }),
    onceFixed: says({ text: '{"name": "Bern"}' }),
  },
  {
    name: "completions do not match the schema",
    code: "OUTPUT_SCHEMA_MISMATCH",
    agent: { output_schema: CITY },
    whileBroken: says({ calls: [ask("complete_task", { output: { city: "Bern" } })] }),
    onceFixed: says({ calls: [ask("complete_task", { output: { name: "Bern" } })] }),
  },
  {
    name: "the schema is changed to what the model answers",
    code: "OUTPUT_SCHEMA_MISMATCH",
    agent: { output_schema: CITY },
    whileBroken: says({ text: '{"n": 1}' }),
    fixedAgent: { output_schema: NUMBER },
    onceFixed: says({ text: '{"n": 1}' }),
  },
  {
    name: "the prompt is changed",
    code: "OUTPUT_SCHEMA_MISMATCH",
    agent: { output_schema: CITY, system_prompt: "Answer in prose" },
    whileBroken: says({ text: "It is Bern." }),
    fixedAgent: { system_prompt: "Answer in JSON" },
    onceFixed: {
      model: ({ prompt }) => ({
        text: prompt.system.startsWith("Answer in JSON") ? '{"name": "Bern"}' : "It is Bern.",
      }),
    },
  },
  {
    name: "the model is changed",
    code: "MODEL_REFUSED",
    agent: { model: "strict" },
    whileBroken: says({ isRefused: true }),
    fixedAgent: { model: "helpful" },
    onceFixed: {
      model: ({ context }) =>
        context.agent?.model === "helpful" ? { text: "Done" } : { isRefused: true },
    },
  },
  {
    name: "the schema cannot be used",
    code: "OUTPUT_SCHEMA_INVALID",
    agent: { output_schema: { type: "object", properties: { name: { pattern: "(" } } } },
    whileBroken: says({ calls: [ask("complete_task", { output: { name: "Bern" } })] }),
    fixedAgent: { output_schema: CITY },
    onceFixed: says({ text: '{"name": "Bern"}' }),
  },
  {
    name: "the model repeats a refused call",
    code: "CALL_REPEATED",
    whileBroken: { ...reads, callTool: () => answered("No such file", { isError: true }) },
    onceFixed: { model: readsOnce, tools, callTool: () => answered("Roses") },
  },
  {
    name: "the model uses all of its turns",
    code: "TURNS_EXCEEDED",
    agent: { max_turns: 2 },
    whileBroken: { ...reads, callTool: () => answered("Roses") },
    onceFixed: { model: readsOnce, tools, callTool: () => answered("Roses") },
  },
  {
    name: "a guardrail refuses the result",
    code: "GUARDRAIL_REFUSED",
    whileBroken: {
      ...says({ text: "rude words" }),
      callTool: ({ toolName }) =>
        answered("", { structured: { allowed: toolName !== "check_output", reason: "rude" } }),
    },
    onceFixed: { ...says({ text: "Done" }), callTool: allow },
  },
  {
    name: "a guardrail refuses the input",
    code: "GUARDRAIL_REFUSED",
    whileBroken: {
      ...says({ text: "Done" }),
      callTool: () => answered("", { structured: { allowed: false, reason: "no" } }),
    },
    onceFixed: { ...says({ text: "Done" }), callTool: allow },
  },
  {
    name: "a guardrail does not answer",
    code: "GUARDRAIL_FAILED",
    whileBroken: {
      ...says({ text: "Done" }),
      callTool: () => answered("It is down", { isError: true }),
    },
    onceFixed: { ...says({ text: "Done" }), callTool: allow },
  },
];

/** A failed write leaves the task to another worker, and a paused call waits, so no task ends with them. */
const NEVER_ENDS_A_TASK: readonly ErrorCode[] = ["DATABASE_UNAVAILABLE", "WORK_PAUSED"];

/** Every other code that the reference says may succeed again, from whatever the model call depends on. */
const RETRYABLE: readonly Failure[] = Object.entries(ERROR_CODES)
  .filter(([, { retryable }]) => retryable)
  .map(([code]) => code as ErrorCode)
  .filter((code) => !NEVER_ENDS_A_TASK.includes(code) && !code.startsWith("GUARDRAIL_"))
  .map((code) => ({
    name: "a model call fails",
    code,
    whileBroken: {
      model: (call) => {
        // A step that ends forgets the waits for a rate limit.
        const isFirst = turnNumber(call) === 0 && !code.endsWith("_RATE_LIMITED");
        if (isFirst) return { calls: [ask("read", { path: "a" })] };
        throw new SwarmError(code, "It is down");
      },
      tools,
      callTool: () => answered("Roses"),
    },
    onceFixed: { model: readsOnce, tools, callTool: () => answered("Roses") },
  }));

function allow() {
  return answered("", { structured: { allowed: true } });
}

async function openSwarm(): Promise<Swarm & AsyncDisposable> {
  const swarm = await Swarm.open();
  await addGuardrails(swarm.sql);
  return Object.assign(swarm, { [Symbol.asyncDispose]: () => swarm.close() });
}

/** Creates an agent with these columns, and with guardrails if the test is about them. */
async function addAgent(swarm: Swarm, { code, agent = {} }: Failure): Promise<string> {
  const slug = `agent-${crypto.randomUUID()}`;
  const columns = { name: slug, slug, description: "", system_prompt: "You work", ...agent };
  await swarm.sql`
    with made as (
      insert into public.agents (name, slug, description, system_prompt, provider_id, output_schema, model, max_turns)
      select made.name, made.slug, made.description, made.system_prompt, provider.id, made.output_schema, made.model,
        made.max_turns
      from jsonb_populate_record(null::public.agents, ${swarm.sql.json(columns)}) as made,
        public.llm_providers as provider
      where provider.name = 'scripted'
      returning id
    )
    insert into public.agent_guardrails (agent_id, stage, tool_id, tool_name, priority)
    select made.id, guardrail.stage, guardrail.tool_id, guardrail.tool_name, guardrail.priority
    from made, public.agent_guardrails as guardrail
    join public.agents as checked on checked.id = guardrail.agent_id and checked.slug = 'test-planner'
    where ${code.startsWith("GUARDRAIL_")}`;
  return slug;
}

/** Starts a worker that counts its model calls and keeps their prompts. */
function startCounted(swarm: Swarm, parts: WorkerParts) {
  const calls: TaskModelCall[] = [];
  const worker = swarm.startWorker({
    ...parts,
    model: (call) => {
      calls.push(call);
      return parts.model?.(call) ?? { text: "Done" };
    },
  });
  return { calls, worker };
}

async function fail(swarm: Swarm, failure: Failure): Promise<FailedTask> {
  const slug = await addAgent(swarm, failure);
  const taskId = await swarm.createTask("Do it", slug, undefined, { maxAttempts: 1 });
  // A rate limit counts as an attempt only after a hundred waits.
  await swarm.sql`update public.tasks set rate_limit_waits = 100 where id = ${taskId}::uuid`;
  const { worker, calls } = startCounted(swarm, failure.whileBroken);
  const { error } = await swarm.until(taskId, "failed");
  await worker.stop();
  assert.equal(error?.code, failure.code);
  return { slug, taskId, callCount: calls.length, steps: await swarm.steps(taskId) };
}

interface FailedTask {
  readonly slug: string;
  readonly taskId: string;
  readonly callCount: number;
  readonly steps: readonly StepRow[];
}

async function change(swarm: Swarm, slug: string, columns: JsonObject): Promise<void> {
  await swarm.sql`
    update public.agents as agent
    set system_prompt = changed.system_prompt, model = changed.model, output_schema = changed.output_schema
    from (
      select (jsonb_populate_record(agent, ${
    swarm.sql.json(columns)
  })).* from public.agents as agent where slug = ${slug}
    ) as changed
    where agent.id = changed.id`;
}

const retry = (swarm: Swarm, taskId: string) =>
  swarm.sql`select public.retry_task(${taskId}::uuid)`;

Deno.test("a failed task whose cause was removed completes with another model call", async (t) => {
  await using swarm = await openSwarm();

  for (const failure of [...FAILURES, ...RETRYABLE]) {
    await t.step(`${failure.code}: ${failure.name}`, async () => {
      const { slug, taskId, steps } = await fail(swarm, failure);
      if (failure.fixedAgent !== undefined) await change(swarm, slug, failure.fixedAgent);

      await retry(swarm, taskId);
      const { worker, calls } = startCounted(swarm, failure.onceFixed ?? says({ text: "Done" }));
      const task = await swarm.until(taskId, "completed");
      await worker.stop();

      assert.ok(calls.length > 0, "the model was asked again");
      assert.equal(task.error, null);
      const kept = steps.filter(({ kind, state }) => kind !== "guardrail" && state !== "started");
      assert.deepEqual((await swarm.steps(taskId)).slice(0, kept.length), kept, "history is kept");
    });
  }
});

const REFUSED: Failure = {
  name: "the model refuses",
  code: "MODEL_REFUSED",
  whileBroken: says({ isRefused: true }),
};

Deno.test("a task that fails again after a retry was asked anew, as often as the first time", async () => {
  await using swarm = await openSwarm();
  const failure: Failure = {
    name: "plain answers do not match the schema",
    code: "OUTPUT_SCHEMA_MISMATCH",
    agent: { output_schema: CITY },
    whileBroken: says({ text: "It is Bern." }),
  };
  const { taskId, callCount } = await fail(swarm, failure);

  await retry(swarm, taskId);
  const { worker, calls } = startCounted(swarm, failure.whileBroken);
  await swarm.until(taskId, "failed");
  await worker.stop();

  assert.equal(calls.length, callCount);
  assert.deepEqual(
    calls[0]?.prompt.messages.map(({ role }) => role),
    ["user"],
    "the earlier answers are left out",
  );
});

Deno.test("a message to a failed task is answered by another model call", async () => {
  await using swarm = await openSwarm();
  const { taskId } = await fail(swarm, REFUSED);

  await swarm.sql`select public.continue_task(${taskId}::uuid, '"Something else"')`;
  const { worker, calls } = startCounted(swarm, says({ text: "Done" }));
  const { output } = await swarm.until(taskId, "completed");
  await worker.stop();

  assert.deepEqual([output, calls.length], ["Done", 1]);
});

Deno.test("a redriven dead letter asks the model again", async () => {
  await using swarm = await openSwarm();
  const unavailable = RETRYABLE.find(({ code }) => code === "MODEL_UNAVAILABLE");
  assert.ok(unavailable);
  const { taskId } = await fail(swarm, unavailable);

  await swarm.sql`
    select public.redrive(letter.id) from public.dead_letters as letter
    where letter.task_id = ${taskId}::uuid`;
  const { worker, calls } = startCounted(swarm, unavailable.onceFixed ?? {});
  await swarm.until(taskId, "completed");
  await worker.stop();

  assert.ok(calls.length > 0);
});

Deno.test("a failed subtask can be retried while its parent waits for another", async () => {
  await using swarm = await openSwarm();
  const mayEnd = Promise.withResolvers<void>();
  let isFixed = false;
  const subtask = (input: string) => ask("create_subtask", { agent: "test-reader", input });
  const results: string[] = [];
  const worker = swarm.startWorker({
    model: async (call) => {
      const { prompt: { messages }, context: { task } } = call;
      if (task.parent_id === null) {
        if (messages.length === 1) return { calls: [subtask("refused"), subtask("slow")] };
        results.push(...messages.flatMap(({ role, text }) => role === "tool" ? [text] : []));
        return { text: "Done" };
      }
      if (task.input === "slow") await mayEnd.promise;
      return task.input === "refused" && !isFixed ? { isRefused: true } : { text: "Read" };
    },
    // The guardrails of the planner.
    callTool: allow,
  });
  const parentId = await swarm.createTask("Plan");
  const childId = await waitFor(async () => {
    const [child] = await swarm.sql`
      select id from public.tasks where parent_id = ${parentId}::uuid and status = 'failed'`;
    return child === undefined ? null : String(child.id);
  }, { what: "the subtask to fail" });

  isFixed = true;
  await retry(swarm, childId);
  await swarm.until(childId, "completed");
  mayEnd.resolve();
  await swarm.until(parentId, "completed");
  await worker.stop();

  assert.equal(results.length, 2);
  assert.ok(results.every((text) => text.includes('"status":"completed"')), results.join());
});
