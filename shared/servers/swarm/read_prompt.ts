import { z } from "../../vendor/zod.js";
import type { TransactionSql } from "../../vendor/postgres.js";
import { buildMessages } from "../../engine/agent/build_messages.ts";
import { completionTerms } from "../../engine/agent/completion.ts";
import { offeredNames } from "../../engine/agent/offer_tools.ts";
import { systemModelTools } from "../../engine/agent/system_tools.ts";
import { taskContext } from "../../engine/agent/task_context.ts";
import { attempt } from "../../platform/db/to_swarm_error.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { jsonObject, jsonValue } from "../../platform/values/json_schema.ts";
import type { ModelMessage } from "../../models/llm/model_port.ts";
import { defineTool } from "../../gateway/tool_contracts/internal_server.ts";
import { asOwner } from "../as_owner.ts";
import { taskNotFound } from "./read_job.ts";
import { SWARM_SCOPES } from "./swarm_scopes.ts";

/** Placeholder for the text of a skill, which only its authors may read. */
const HIDDEN_SKILL = "[The text of this skill is not shown.]";

const messageSchema = z.object({
  role: z.enum(["user", "assistant", "tool"]),
  text: z.string(),
  characters: z.number().describe("Length of the whole text"),
  name: z.string().optional().describe("Name of the tool that produced the result"),
  call_id: z.string().optional(),
  is_error: z.boolean().optional(),
  tool_calls: z.array(z.object({
    call_id: z.string(),
    name: z.string(),
    arguments: jsonObject.nullable(),
  })).optional(),
});

const rowSchema = z.object({
  task: z.object({
    input: jsonValue,
    output_schema: jsonObject.nullable(),
    agent_slug: z.string(),
  }),
  agent: z.object({ output_schema: jsonObject.nullable(), must_complete: z.boolean() }).nullable(),
  system: z.string().nullable(),
  servers: z.array(z.string()),
  is_model_step: z.boolean(),
  steps: taskContext.shape.steps,
});

/** Shows the prompt of one model step, rebuilt with the worker's own code. */
export const readPromptTool = defineTool({
  name: "read_prompt",
  title: "Read what the model saw",
  description:
    "Shows the conversation that the model was sent at one model step of a task, rebuilt from the " +
    "transcript, with the tools that it could call. Long texts are truncated; the agent's system " +
    "prompt and the texts of skills are shown only to the project's operators.",
  version: "1",
  scopes: SWARM_SCOPES,
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.strictObject({
    task_id: z.guid(),
    seq: z.int().min(1).describe("Number of the model step; read_steps lists them"),
    after_message: z.int().min(0).default(0).describe("Number of messages to skip"),
    limit: z.int().min(1).max(200).default(50),
    max_characters: z.int().min(1).max(100_000).default(8_192).describe(
      "Maximum characters of each text",
    ),
  }),
  output: z.object({
    agent: z.string(),
    system: z.string().nullable().describe("The agent's current system prompt"),
    message_count: z.number(),
    messages: z.array(messageSchema),
    system_tools: z.array(z.string()),
    servers: z.array(z.string()).describe("The agent's current registered tools"),
    offered_tools: z.array(z.string()).nullable().describe(
      "The tools of these servers that the model saw, if it had to search for the others",
    ),
  }),
  async run({ task_id, seq, after_message, limit, max_characters }, context) {
    const row = await attempt(
      "read what the model saw",
      () => asOwner(context, "read", (sql) => readRow(sql, task_id, seq)),
    );
    if (row === undefined) throw taskNotFound(task_id);
    const { task, agent, system, servers, is_model_step, steps } = rowSchema.parse(row);
    if (!is_model_step) throw notAModelStep(seq);
    const offered = offeredNames(steps);
    const terms = completionTerms({
      task: { output_schema: task.output_schema },
      agent,
    });
    const messages = buildMessages(task.input, steps.filter((step) => step.seq < seq), terms);
    return {
      agent: task.agent_slug,
      system,
      message_count: messages.length,
      messages: messages.slice(after_message, after_message + limit)
        .map((message) => toShown(message, max_characters)),
      system_tools: systemModelTools(terms.outputSchema, {
        searched: offered === null ? null : servers,
      }).map(({ name }) => name),
      servers,
      offered_tools: offered === null ? null : [...offered],
    };
  },
});

/**
 * The data that the prompt is rebuilt from, as far as the caller may read it; undefined if there is
 * no such task.
 */
async function readRow(sql: TransactionSql, taskId: string, seq: number): Promise<unknown> {
  const [caller] = await sql`
    select private.is_operator() and not exists (
      select from public.tasks where id = ${taskId}::uuid
    ) as reads_as_operator`;
  // Of other users' jobs, an operator reads those that the operator has opened.
  const [tasks, steps] = caller?.reads_as_operator === true
    ? [sql`public.operator_tasks(${taskId}::uuid)`, sql`public.operator_steps(${taskId}::uuid)`]
    : [sql`public.tasks`, sql`public.task_steps`];
  const [row] = await sql`
    select
      jsonb_build_object(
        'input', task.input, 'output_schema', task.output_schema, 'agent_slug', task.agent_slug
      ) as task,
      (
        select jsonb_build_object('output_schema', agent.output_schema, 'must_complete', agent.must_complete)
        from public.agents as agent where agent.id = task.agent_id
      ) as agent,
      case
        when task.agent_changes ? 'tools' then jsonb_path_query_array(task.agent_changes, '$.tools[*].tool')
        else to_jsonb(array(
          select tool.slug from public.agent_tools as own
          join public.tools as tool on tool.id = own.tool_id
          where own.agent_id = task.agent_id order by tool.slug
        ))
      end as servers,
      exists (
        select from ${steps} as step
        where step.task_id = task.id and step.seq = ${seq}::int and step.kind = 'model'
      ) as is_model_step,
      coalesce((
        select jsonb_agg(
          jsonb_build_object(
            'seq', step.seq, 'kind', step.kind, 'state', step.state, 'name', step.name,
            'call_id', step.call_id, 'input', step.input, 'output', case
              when step.name = 'load_skill' and step.state = 'done'
                then step.output || jsonb_build_object('text', ${HIDDEN_SKILL}::text)
              else step.output
            end
          ) order by step.seq
        )
        from ${steps} as step
        where step.task_id = task.id and step.seq <= ${seq}::int
      ), '[]') as steps
    from ${tasks} as task
    where task.id = ${taskId}::uuid`;
  if (row === undefined) return undefined;
  return { ...row, system: await readSystemPrompt(sql, taskId) };
}

/** The agent's system prompt, only for the service; users cannot read the column. */
async function readSystemPrompt(sql: TransactionSql, taskId: string): Promise<string | null> {
  const [right] = await sql`
    select has_column_privilege('public.agents', 'system_prompt', 'select') as is_held`;
  if (right?.is_held !== true) return null;
  const [row] = await sql`
    select coalesce(task.agent_changes ->> 'prompt', agent.system_prompt) as system_prompt from public.tasks as task
    join public.agents as agent on agent.id = task.agent_id
    where task.id = ${taskId}::uuid`;
  return z.string().nullable().parse(row?.system_prompt ?? null);
}

function toShown(message: ModelMessage, maxCharacters: number): z.input<typeof messageSchema> {
  const { role, text } = message;
  const shown = { role, text: text.slice(0, maxCharacters), characters: text.length };
  switch (message.role) {
    case "user":
      return shown;
    case "tool": {
      const { name, call_id, is_error } = message;
      return { ...shown, name, call_id, is_error };
    }
    case "assistant":
      return {
        ...shown,
        tool_calls: message.tool_calls.map(({ call_id, name, arguments: given }) => (
          { call_id, name, arguments: given }
        )),
      };
  }
}

function notAModelStep(seq: number): SwarmError {
  return new SwarmError(
    "STEP_NOT_FOUND",
    `Cannot read what the model saw: step ${seq} of the task is not a model step`,
    { hint: "Read the steps of the task with read_steps; those of the kind model can be shown." },
  );
}
