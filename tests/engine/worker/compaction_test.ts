import assert from "node:assert/strict";
import { estimatePromptTokens } from "../../../shared/engine/agent/estimate_tokens.ts";
import { toolNamed } from "../../../shared/engine/agent/agent_states.ts";
import { SwarmError } from "../../../shared/platform/errors/swarm_error.ts";
import type { ToolCallRequest } from "../../../shared/gateway/tool_contracts/tool_call.ts";
import type { TaskModelCall } from "../../../shared/engine/worker/task_ports.ts";
import { answered, ask, type ModelTurn, Swarm } from "./swarm_fixture.ts";

const WINDOW_TOKENS = 16_000;
const PAGES = 24;

async function setUp(): Promise<Swarm & AsyncDisposable> {
  const swarm = await Swarm.open();
  await swarm.sql`
    insert into public.model_windows (provider_id, model_prefix, window_tokens)
    values (null, 'script', ${WINDOW_TOKENS})`;
  return Object.assign(swarm, { [Symbol.asyncDispose]: () => swarm.close() });
}

const jsonTextOf = ({ prompt }: TaskModelCall) =>
  prompt.messages.map(({ text }) => text).join("\n");
const isSummary = ({ prompt }: TaskModelCall) => prompt.tools.length === 0;
const needleIn = (call: TaskModelCall) => /needle \d+/.exec(jsonTextOf(call))?.[0] ?? "nothing";
/** The newest message of the user, which is the model's task. */
const lastMessage = ({ prompt }: TaskModelCall) =>
  prompt.messages.findLast(({ role }) => role === "user")?.text ?? "";

/** A model that knows only its prompt, reads pages one by one, and refuses long prompts. */
function reader(windowTokens: number, seen: TaskModelCall[]) {
  return (call: TaskModelCall): ModelTurn => {
    if (estimatePromptTokens(call.prompt) > windowTokens) {
      throw new SwarmError("MODEL_CONTEXT_EXCEEDED", "prompt is too long");
    }
    seen.push(call);
    if (isSummary(call)) return { text: `Pages were read. The ${needleIn(call)} stood on one.` };
    if (lastMessage(call).startsWith("Which needle")) return { text: needleIn(call) };
    const pages = [...jsonTextOf(call).matchAll(/page (\d+) of/g)].map(([, page]) => Number(page));
    const summed = call.prompt.messages.some(({ text }) => text.includes("Pages were read"));
    const next = summed ? readPages.size + 1 : Math.max(0, ...pages) + 1;
    return next > PAGES ? { text: "Read" } : { calls: [ask("read", { page: next })] };
  };
}
let readPages = new Set<number>();
const tools = [toolNamed("read", { isReadOnly: true })];

/** Pages of about 1,400 characters, which are short enough to stay complete. */
function callTool({ arguments: given }: ToolCallRequest) {
  const page = Number(given.page);
  readPages.add(page);
  const needle = page === 2 ? "The needle 4711 is here. " : "";
  return answered(`page ${page} of ${PAGES}. ${needle}${"lorem ipsum ".repeat(115)}`);
}

Deno.test("a summary keeps a needle that a later turn needs", async () => {
  await using swarm = await setUp();
  readPages = new Set();
  const seen: TaskModelCall[] = [];
  const worker = swarm.startWorker({ model: reader(WINDOW_TOKENS, seen), tools, callTool });
  const taskId = await swarm.createTask("Read all pages");
  await swarm.until(taskId, "completed");
  const before = await swarm.steps(taskId);

  await swarm.sql`select public.continue_task(${taskId}::uuid, '"Which needle was it?"')`;
  const { output } = await swarm.until(taskId, "completed");
  await worker.stop();

  assert.equal(output, "needle 4711");
  const rows = await swarm.sql`
    select seq, input from public.task_steps
    where task_id = ${taskId}::uuid and kind = 'model' and input is not null order by seq`;
  const summaries = rows.filter(({ input }) => input.summarizes_through !== undefined);
  assert.ok(summaries.length > 0);
  assert.ok(seen.filter(isSummary).some((call) => jsonTextOf(call).includes("needle 4711")));
  assert.ok(
    !seen.at(-1)?.prompt.messages.some(({ role, text }) =>
      role === "tool" && text.includes("needle 4711")
    ),
    "the page itself was omitted",
  );

  const usage = await swarm.sql`
    select step_seq from public.usage_events where task_id = ${taskId}::uuid`;
  for (const { seq } of summaries) assert.ok(usage.some(({ step_seq }) => step_seq === seq));
  const [traced] = await swarm.sql`
    select payload -> 'summarizes_through' as through from public.task_events
    where task_id = ${taskId}::uuid and type = 'model.completed'
      and (payload ->> 'step_seq')::int = ${Number(summaries[0]?.seq)}`;
  assert.equal(traced?.through, summaries[0]?.input.summarizes_through);
  const [leftOut] = await swarm.sql`
    select count(*)::int as count from public.task_events
    where task_id = ${taskId}::uuid and type = 'model.started' and payload ? 'left_out'`;
  assert.ok(leftOut?.count > 0);
  const kept = before.filter(({ name }) => name === "read");
  assert.equal(kept.length, PAGES, "the rows keep every result");
  assert.ok(kept.some(({ output: result }) => String(result.text).includes("needle 4711")));
});

Deno.test("a result that a summary covers can be read again by a later worker", async () => {
  await using swarm = await setUp();
  readPages = new Set();
  const first = swarm.startWorker({ model: reader(WINDOW_TOKENS, []), tools, callTool });
  const taskId = await swarm.createTask("Read all pages");
  await swarm.until(taskId, "completed");
  await first.stop();

  const second = swarm.startWorker({
    model: (call) => {
      if (isSummary(call)) return { text: "Pages were read." };
      const recalled = call.prompt.messages.findLast(({ role, text }) =>
        role === "tool" && text.includes("needle 4711")
      );
      return recalled === undefined
        ? { calls: [ask("recall_result", { step: 4 })] }
        : { text: recalled.text };
    },
  });
  await swarm.sql`select public.continue_task(${taskId}::uuid, '"What stands on page 2?"')`;
  const { output } = await swarm.until(taskId, "completed");
  await second.stop();

  assert.match(String(output), /page 2 of 24\. The needle 4711 is here/);
});

Deno.test("a follow-up after a thousand steps has all of them", async () => {
  await using swarm = await setUp();
  const taskId = await swarm.createTask("Read all pages", "test-planner", { max_steps: null });
  const [claimed] = await swarm.store.claim("loader", 1);
  assert.equal(claimed?.taskId, taskId);
  await swarm.sql`
    insert into public.task_steps
      (task_id, seq, kind, state, name, call_id, input, output, epoch, ended_at)
    select ${taskId}::uuid, seq, case seq % 2 when 1 then 'model' else 'tool' end, 'done',
      case seq % 2 when 1 then 'script-1' else 'read' end,
      case seq % 2 when 0 then 'c' || seq end,
      case seq % 2 when 0 then '{"server": "files", "arguments": {}}'::jsonb end,
      case seq % 2
        when 1 then jsonb_build_object('text', '', 'finish_reason', 'tool_calls', 'tool_calls',
          jsonb_build_array(jsonb_build_object('call_id', 'c' || seq + 1, 'name', 'read', 'arguments', '{}'::jsonb)))
        else jsonb_build_object('execution_id', 'e', 'text', 'page ' || seq || ' of 1000. '
          || case seq when 500 then 'The needle 815 is here. ' else '' end || repeat('lorem ', 60))
      end,
      1, now()
    from generate_series(1, 1000) as seq`;
  await swarm.store.finish(claimed ?? { taskId, epoch: "1" }, "Read", null);
  const seen: TaskModelCall[] = [];

  await swarm.sql`select public.continue_task(${taskId}::uuid, '"Which needle was it?"')`;
  const worker = swarm.startWorker({
    model: reader(WINDOW_TOKENS, seen),
  });
  const { output } = await swarm.until(taskId, "completed");
  await worker.stop();

  assert.equal(output, "needle 815");
  assert.ok(seen.every(({ prompt }) => estimatePromptTokens(prompt) < WINDOW_TOKENS));
  const steps = await swarm.steps(taskId);
  assert.equal(steps.filter(({ seq }) => seq <= 1_000).length, 1_000, "the rows keep all steps");
  assert.equal(steps.length, 1_001 + seen.length);
});

Deno.test("a model with a smaller window than expected is called again with a shorter prompt", async () => {
  await using swarm = await setUp();
  readPages = new Set();
  await swarm
    .sql`update public.model_windows set window_tokens = 200000 where model_prefix = 'script'`;
  const seen: TaskModelCall[] = [];
  const worker = swarm.startWorker({ model: reader(8_000, seen), tools, callTool });

  const taskId = await swarm.createTask("Read all pages");
  const task = await swarm.until(taskId, "completed");
  await worker.stop();

  assert.deepEqual([task.output, task.attempts], ["Read", 0]);
  assert.ok(seen.some(isSummary));
  const seqs = (await swarm.steps(taskId)).map(({ seq }) => seq);
  assert.deepEqual(seqs, seqs.map((_, index) => index + 1), "the refused call became the summary");
});

Deno.test("a task that cannot fit ends with a clear error and without a call", async () => {
  await using swarm = await setUp();
  const seen: TaskModelCall[] = [];
  const worker = swarm.startWorker({ model: reader(WINDOW_TOKENS, seen) });

  const taskId = await swarm.createTask("long ".repeat(40_000));
  const { error } = await swarm.until(taskId, "failed");
  await worker.stop();

  assert.equal(error?.code, "MODEL_CONTEXT_EXCEEDED");
  assert.match(error?.message ?? "", /16000/);
  assert.equal(seen.length, 0);
});
