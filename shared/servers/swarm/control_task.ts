import { z } from "../../vendor/zod.js";
import { toSwarmError } from "../../platform/db/to_swarm_error.ts";
import { jsonObject, jsonValue } from "../../platform/values/json_schema.ts";
import { defineTool } from "../../gateway/tool_contracts/internal_server.ts";
import { taskInput } from "../../engine/tasks/create_task_request.ts";
import { asOwner } from "../as_owner.ts";
import { SWARM_SCOPES } from "./swarm_scopes.ts";

const taskId = z.strictObject({ task_id: z.guid() });

/** Ends a job. */
export const cancelTaskTool = defineTool({
  name: "cancel_task",
  title: "Cancel a job",
  description:
    "Cancels a master task and all of its subtasks: waiting tasks end immediately, running ones within " +
    "seconds. Returns the number of cancelled tasks; 0 if the job had already ended.",
  version: "1",
  scopes: SWARM_SCOPES,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  input: taskId,
  output: z.object({ task_id: z.string(), ended_tasks: z.number() }),
  async run({ task_id }, context) {
    try {
      const [row] = await asOwner(context, "write", (sql) =>
        sql`
        select public.cancel_task(${task_id}::uuid) as ended`);
      return { task_id, ended_tasks: z.number().parse(row?.ended) };
    } catch (error) {
      throw toSwarmError(error, "cancel the task");
    }
  },
});

/** Retries a failed task. */
export const retryTaskTool = defineTool({
  name: "retry_task",
  title: "Retry a task",
  description:
    "Continues a failed or cancelled task from its last recorded step, with new attempts.",
  version: "1",
  scopes: SWARM_SCOPES,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  input: taskId,
  output: z.object({ task_id: z.string(), status: z.string() }),
  async run({ task_id }, context) {
    try {
      const [row] = await asOwner(context, "write", (sql) =>
        sql`
        select public.retry_task(${task_id}::uuid) as status`);
      return { task_id, status: z.string().parse(row?.status) };
    } catch (error) {
      throw toSwarmError(error, "retry the task");
    }
  },
});

/** Continues a finished task with another message. */
export const continueTaskTool = defineTool({
  name: "continue_task",
  title: "Continue a task",
  description: "Continues a finished master task with another message and its whole history, as " +
    "the same task. Follow it with get_task.",
  version: "1",
  scopes: SWARM_SCOPES,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  input: taskId.extend({ input: taskInput }),
  output: z.object({ task_id: z.string(), status: z.string() }),
  async run({ task_id, input }, context) {
    try {
      const [row] = await asOwner(context, "write", (sql) =>
        sql`
        select public.continue_task(${task_id}::uuid, ${sql.json(input)}) as status`);
      return { task_id, status: z.string().parse(row?.status) };
    } catch (error) {
      throw toSwarmError(error, "continue the task");
    }
  },
});

const forkChanges = z.strictObject({
  input: taskInput.exactOptional().describe("Another input of the task"),
  arguments: jsonObject.exactOptional().describe("Other arguments of the call at from_step"),
  answer: jsonValue.exactOptional().describe(
    "Another result for the call at from_step, which is then not made; for a review " +
      "{approved, response, comments}",
  ),
});

/** Starts a new job from the middle of another one. */
export const forkTaskTool = defineTool({
  name: "fork_task",
  title: "Fork a task",
  description:
    "Creates a new job that continues from the steps of a task before from_step, with the same input, " +
    "agent and budget; the original task does not change. read_steps shows the step numbers. Use " +
    "changes to give the new job another input, arguments or result.",
  version: "1",
  scopes: SWARM_SCOPES,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  input: taskId.extend({ from_step: z.int().min(1), changes: forkChanges.optional() }),
  output: z.object({ task_id: z.string().describe("The master task of the new job") }),
  async run({ task_id, from_step, changes = {} }, context) {
    try {
      const [row] = await asOwner(context, "write", (sql) =>
        sql`
        select public.fork_task(
          p_task_id => ${task_id}::uuid,
          p_from_seq => ${from_step}::int,
          p_changes => ${sql.json(changes)}
        ) as task_id`);
      return { task_id: z.string().parse(row?.task_id) };
    } catch (error) {
      throw toSwarmError(error, "fork the task");
    }
  },
});
