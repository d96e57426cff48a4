import assert from "node:assert/strict";
import { toolNamed } from "../../shared/agent/agent_states.ts";
import type { ToolCallRequest } from "../../shared/tool_contracts/tool_call.ts";
import type { TaskModelCall } from "../../shared/worker/task_ports.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { dyingAt } from "./dying_store.ts";
import { answered, ask, type ModelTurn, Swarm, type TestWorker } from "./swarm_fixture.ts";

const PAGES = 5;
/** Of the two runs together: none of them may be the last that a worker lives to make. */
const MOST_WRITES = 20;

/** A run that is checked, summed up and continued, and what really ran of it. */
function job() {
  const ran: string[] = [];
  const model = (call: TaskModelCall): ModelTurn => {
    const text = call.prompt.messages.map((message) => message.text).join("\n");
    const read = Math.max(
      0,
      ...[...text.matchAll(/page (\d+) of|to page (\d+)/g)]
        .map(([, page, summed]) => Number(page ?? summed)),
    );
    const isSummary = call.prompt.tools.length === 0;
    const isFollowUp = call.prompt.messages.at(-1)?.text === "And now?";
    ran.push(isSummary ? `summary to ${read}` : isFollowUp ? "follow-up" : `model after ${read}`);
    if (isSummary) return { text: `Read to page ${read}` };
    if (isFollowUp) return { text: `I know ${read} pages` };
    return read < PAGES ? { calls: [ask("read", { page: read + 1 })] } : { text: "Read" };
  };
  const callTool = ({ toolName, arguments: given }: ToolCallRequest) => {
    ran.push(`${toolName} ${given.page ?? given.content}`);
    return toolName === "read"
      ? answered(`page ${given.page} of ${PAGES} ${"lorem ipsum ".repeat(115)}`)
      : answered("", { structured: { allowed: true } });
  };
  const tools = [toolNamed("read", { isReadOnly: true })];
  return { ran, parts: { model, callTool, tools, leaseSeconds: 1, heartbeatSeconds: 0.3 } };
}

async function openSwarm(): Promise<Swarm> {
  const swarm = await Swarm.open();
  await swarm.sql`
    insert into public.model_windows (provider_id, model_prefix, window_tokens)
    values (null, 'script', 5500)`;
  await swarm.sql`
    with tool as (
      insert into public.tools (name, slug, type, config)
      values ('Safety', 'safety', 'internal', '{"server": "safety"}') returning id
    )
    insert into public.agent_guardrails (agent_id, stage, tool_id, tool_name)
    select agents.id, stage, tool.id, 'check_' || stage
    from tool, public.agents, unnest(array['input', 'output']) as stage
    where agents.slug = 'test-planner'`;
  return swarm;
}

Deno.test("a checked, summed up and continued task survives a death at each of its writes", async (t) => {
  const swarm = await openSwarm();
  const abandoned: TestWorker[] = [];
  try {
    const shape = await runToEnd(swarm, job().parts);
    assert.ok(shape.steps.some(({ input }) => input?.summarizes_through !== undefined));
    assert.equal(shape.steps.filter(({ kind }) => kind === "guardrail").length, 4);
    let deaths = 0;

    for (let fatal = 0; fatal < MOST_WRITES; fatal++) {
      await t.step(`a worker that dies at write ${fatal + 1}`, async () => {
        const { ran, parts } = job();
        let isDead = false;
        const doomed = swarm.startWorker({
          ...parts,
          store: (store) => {
            const dying = dyingAt(fatal, store);
            return {
              ...dying,
              claim: (id, limit) => isDead ? new Promise(() => {}) : dying.claim(id, limit),
            };
          },
        });
        abandoned.push(doomed);
        const taskId = await swarm.createTask("Read all");
        const { output, rescues } = await goOn(swarm, taskId, parts);
        isDead = true;
        deaths += rescues;

        assert.equal(output, `I know ${PAGES} pages`);
        assert.deepEqual(await shapeOf(swarm, taskId), shape.steps);
        // The model call and the check of its input, which run side by side, count as one.
        const again = ran.length - new Set(ran).size;
        assert.ok(again <= 2, JSON.stringify(ran));
      });
    }
    assert.ok(deaths >= 12, `only ${deaths} workers died`);
  } finally {
    // The dead never answer.
    await Promise.all(abandoned.map(({ worker }) => Promise.race([worker.unload(), pause()])));
    await swarm.close();
  }
});

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 100));
}

type Parts = ReturnType<typeof job>["parts"];

/** Lets the task run to the end of both runs, with a second worker once the first one is dead. */
async function goOn(swarm: Swarm, taskId: string, parts: Parts) {
  let rescuer: TestWorker | null = null;
  const untilCompleted = async () => {
    await waitFor(async () => {
      const [row] = await swarm.sql`
        select status, lease_expires_at < clock_timestamp() as is_dead
        from public.tasks where id = ${taskId}::uuid`;
      if (row?.is_dead) rescuer ??= swarm.startWorker(parts);
      return row?.status === "completed";
    }, { what: "the task to be completed", intervalMs: 50 });
  };
  await untilCompleted();
  await swarm.sql`select public.continue_task(${taskId}::uuid, '"And now?"')`;
  await untilCompleted();
  const { output } = await swarm.task(taskId);
  const died: TestWorker | null = rescuer;
  await (died as TestWorker | null)?.stop();
  return { output, rescues: died === null ? 0 : 1 };
}

async function runToEnd(swarm: Swarm, parts: Parts) {
  const worker = swarm.startWorker(parts);
  const taskId = await swarm.createTask("Read all");
  await goOn(swarm, taskId, parts);
  await worker.stop();
  return { steps: await shapeOf(swarm, taskId) };
}

/** What a task's steps are, whoever ran them. */
async function shapeOf(swarm: Swarm, taskId: string) {
  const rows = await swarm.sql`
    select seq, kind, state,
      case when jsonb_typeof(input) = 'object' then input - 'arguments' end as input
    from public.task_steps
    where task_id = ${taskId}::uuid order by seq`;
  return rows.map(({ seq, kind, state, input }) => ({ seq, kind, state, input }));
}
