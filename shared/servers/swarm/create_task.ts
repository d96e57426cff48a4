import { z } from "../../vendor/zod.js";
import { actorOfCall } from "../../gateway/tool_contracts/tool_caller.ts";
import { createTask } from "../../engine/tasks/create_task.ts";
import { createTaskRequest } from "../../engine/tasks/create_task_request.ts";
import { defineTool } from "../../gateway/tool_contracts/internal_server.ts";
import { SWARM_SCOPES } from "./swarm_scopes.ts";

const output = z.object({
  task_id: z.string().describe("The task_id for get_task"),
  master_task_id: z.string(),
  status: z.string(),
  is_new: z.boolean().describe("false if a task with this idempotency_key already existed"),
  channels: z.object({ task: z.string(), master: z.string() })
    .describe("Private Supabase Realtime channels that carry the events"),
});

/** Creates a task for an agent. */
export const createTaskTool = defineTool({
  name: "create_task",
  title: "Create a task",
  description: "Creates a task for an agent, which executes it in the background and may create " +
    "subtasks for other agents. Returns immediately; follow the task with get_task. list_agents lists the agents. " +
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
  output,
  async run(request, { sql, caller, traceparent, tracestate, idempotencyKey }) {
    // The call's own key replaces a missing one, so that a repeated delivery creates one task.
    const withKey = { idempotency_key: `call:${idempotencyKey}`, ...request };
    const origin = { ...caller, actor: actorOfCall(caller), traceparent, tracestate };
    const { answer, isNew } = await createTask(sql, withKey, origin);
    return { ...answer, is_new: isNew };
  },
});
