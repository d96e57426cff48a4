import { toolNamed } from "../../../shared/engine/agent/agent_states.ts";
import type { Sql } from "../../../shared/platform/db/sql_client.ts";
import type { JsonObject } from "../../../shared/platform/values/json.ts";
import type { ToolCallRequest } from "../../../shared/gateway/tool_contracts/tool_call.ts";
import type { TaskModelCall } from "../../../shared/engine/worker/task_ports.ts";
import { answered, ask, type ModelTurn, type Swarm, type WorkerParts } from "./swarm_fixture.ts";

export const PAGES = 5;
const PICTURE_PAGE = 3;
export const PICTURE = "\x89PNG\r\n\x1a\npixels";

/**
 * A run that guardrails check, that is summarized because it exceeds its model's window, and that
 * its user continues: the task reads five pages, and then reports how many it knows.
 *
 * @param note Receives each call of a model or a tool when it runs.
 */
export function checkedJob(note: (what: string) => Promise<void> | void): WorkerParts {
  return {
    model: async (call) => {
      const { what, turn } = nextTurn(call);
      await note(what);
      return turn;
    },
    callTool: async ({ toolName, arguments: given }: ToolCallRequest) => {
      await note(`${toolName} ${given.page ?? given.content}`);
      if (toolName !== "read") return answered("", { structured: { allowed: true } });
      const text = `page ${given.page} of ${PAGES} ${"lorem ipsum ".repeat(115)}`;
      if (given.page !== PICTURE_PAGE) return answered(text);
      const picture = { type: "image", data: btoa(PICTURE), mimeType: "image/png" };
      return answered(text, { content: [{ type: "text", text }, picture] });
    },
    tools: [toolNamed("read", { isReadOnly: true })],
  };
}

function nextTurn({ prompt }: TaskModelCall): { readonly what: string; readonly turn: ModelTurn } {
  const text = prompt.messages.map((message) => message.text).join("\n");
  const pages = [...text.matchAll(/page (\d+) of|to page (\d+)/g)];
  const read = Math.max(0, ...pages.map(([, page, summed]) => Number(page ?? summed)));
  if (prompt.tools.length === 0) {
    return { what: `summary to ${read}`, turn: { text: `Read to page ${read}` } };
  }
  if (prompt.messages.at(-1)?.text === "And now?") {
    return { what: "follow-up", turn: { text: `I know ${read} pages` } };
  }
  const turn = read < PAGES ? { calls: [ask("read", { page: read + 1 })] } : { text: "Read" };
  return { what: `model after ${read}`, turn };
}

/** Gives the agent of the job a small window, and a guardrail for its input and its output. */
export async function prepareChecks(sql: Sql): Promise<void> {
  await sql`
    insert into public.model_windows (provider_id, model_prefix, window_tokens)
    values (null, 'script', 4600)`;
  await addGuardrails(sql);
}

/** Gives the agent `test-planner` a guardrail for its input and its output. */
export async function addGuardrails(sql: Sql): Promise<void> {
  await sql`
    with tool as (
      insert into public.tools (name, slug, type, config)
      values ('Safety', 'safety', 'internal', '{"server": "safety"}') returning id
    )
    insert into public.agent_guardrails (agent_id, stage, tool_id, tool_name)
    select agents.id, stage, tool.id, 'check_' || stage
    from tool, public.agents, unnest(array['input', 'output']) as stage
    where agents.slug = 'test-planner'`;
}

/** A step without the fields that differ between runs. */
export interface StepShape {
  readonly seq: number;
  readonly kind: string;
  readonly state: string;
  readonly input: JsonObject | null;
}

/** A task's steps, whichever worker ran them. */
export async function shapeOf(swarm: Swarm, taskId: string): Promise<readonly StepShape[]> {
  const rows = await swarm.sql<StepShape[]>`
    select seq, kind, state,
      case when jsonb_typeof(input) = 'object' then input - 'arguments' end as input
    from public.task_steps
    where task_id = ${taskId}::uuid order by seq`;
  return rows.map(({ seq, kind, state, input }) => ({ seq, kind, state, input }));
}
