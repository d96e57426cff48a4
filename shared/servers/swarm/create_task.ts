import { z } from "../../vendor/zod.js";
import { actorOfCall } from "../../tool_contracts/tool_caller.ts";
import { createTask } from "../../tasks/create_task.ts";
import { createTaskRequest } from "../../tasks/create_task_request.ts";
import { defineTool } from "../../tool_contracts/internal_server.ts";
import { SWARM_SCOPES } from "./swarm_scopes.ts";

const output = z.object({
  task_id: z.string().describe("What get_task takes"),
  master_task_id: z.string(),
  status: z.string(),
  is_new: z.boolean().describe("false: the idempotency_key named a task that was there"),
  channels: z.object({ task: z.string(), master: z.string() })
    .describe("Private Supabase Realtime channels that carry the events"),
});

/** Gives a task to an agent. */
export const createTaskTool = defineTool({
  name: "create_task",
  title: "Create a task",
  description:
    "Gives a task to an agent of the swarm, which works on it in the background and may hand parts " +
    "to other agents. Returns at once; follow the task with get_task. list_agents names the agents. " +
    "Called by an agent, it creates a subtask within the agent's own job and budget.",
  version: "1",
  scopes: SWARM_SCOPES,
  annotations: {
    readOnlyHint: false,
    destructiveHint: false,
    idempotentHint: false,
    openWorldHint: true,
  },
  input: createTaskRequest,
  inputSchema: {
    type: "object",
    properties: {
      agent: { type: "string", description: "Slug of the agent, as list_agents gives it" },
      input: {
        type: ["object", "string"],
        description: "The agent's input: a text, or an object",
      },
      idempotency_key: {
        type: "string",
        maxLength: 255,
        description: "The same key names the same task: send it to be able to repeat the call",
      },
      run_after: {
        type: "string",
        format: "date-time",
        description: "The task is not started before this time",
      },
      priority: { type: "string", enum: ["high", "normal", "low"], default: "normal" },
      concurrency_key: {
        type: "string",
        maxLength: 255,
        description: "Tasks of one key share its limit",
      },
      metadata: { type: "object", description: "Notes of your own, kept with the task" },
      output_schema: {
        type: "object",
        description: "JSON Schema that the output fits, instead of the agent's own",
      },
      watch: {
        type: "boolean",
        default: false,
        description: "Streams the models' text to the job's channel, for the first minute",
      },
      budget: {
        type: "object",
        description: "Caps of the whole job; null lifts a cap. Agents leave it out",
        properties: Object.fromEntries(
          [
            "max_input_tokens",
            "max_output_tokens",
            "max_cost_micro_usd",
            "max_steps",
            "max_depth",
            "max_tasks",
            "max_wall_seconds",
          ].map((name) => [name, { type: ["integer", "null"], minimum: 0 }]),
        ),
        additionalProperties: false,
      },
    },
    required: ["agent", "input"],
    additionalProperties: false,
  },
  output,
  async run(request, { sql, caller, traceparent, tracestate, idempotencyKey }) {
    // The key of the call stands in for a missing one, so that a repeated delivery makes one task.
    const withKey = { idempotency_key: `call:${idempotencyKey}`, ...request };
    const origin = { ...caller, actor: actorOfCall(caller), traceparent, tracestate };
    const { answer, isNew } = await createTask(sql, withKey, origin);
    return { ...answer, is_new: isNew };
  },
});
