import { z } from "../../vendor/zod.js";
import type { Sql } from "../../platform/db/sql_client.ts";
import { toSwarmError } from "../../platform/db/to_swarm_error.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import type { JsonObject } from "../../platform/values/json.ts";
import { jsonObject } from "../../platform/values/json_schema.ts";
import type { Actor } from "../../platform/values/actor.ts";
import type { CreateTaskAnswer, CreateTaskRequest } from "./create_task_request.ts";
import { inputProblem } from "./input_problem.ts";

/** The creator of a task, and its trace. */
export interface TaskOrigin {
  readonly actor: Actor;
  /** Owner of the task; null for the service itself. */
  readonly userId: string | null;
  /** For a `client`, which needs the scope `swarm:run`. */
  readonly clientId: string | null;
  /** For an `agent`: its task, which becomes the parent. */
  readonly taskId: string | null;
  /** W3C trace context of the request. */
  readonly traceparent: string | null;
  readonly tracestate: string | null;
}

/** A created task, and whether this call made it. */
export interface CreatedTask {
  readonly answer: CreateTaskAnswer;
  /** False if a task with the idempotency key already existed. */
  readonly isNew: boolean;
}

const createdRow = z.object({
  task_id: z.string(),
  master_task_id: z.string(),
  status: z.string(),
  is_new: z.boolean(),
});
/** Nothing was created, because the input must match this schema. */
const uncheckedRow = z.object({ unchecked_schema: jsonObject });

/**
 * Creates a task: its row, its event and its queue message in one transaction. An agent's task
 * becomes a subtask of its own task, any other a master task.
 *
 * @throws TASK_INPUT_INVALID for an input that does not match the agent's `input_schema`,
 * INSUFFICIENT_SCOPE for an OAuth client without `swarm:run`, AGENT_NOT_ALLOWED for an agent outside
 * of tasks, the caps of the agent's job, AGENT_NOT_FOUND, AGENT_INACTIVE, TASK_PRIORITY_INVALID,
 * TASK_BUDGET_INVALID, FORBIDDEN if the owner's account no longer exists, DATABASE_UNAVAILABLE
 */
export async function createTask(
  sql: Sql,
  request: CreateTaskRequest,
  origin: TaskOrigin,
): Promise<CreatedTask> {
  const row = await callCreateTask(sql, request, origin, false);
  const unchecked = uncheckedRow.safeParse(row);
  if (!unchecked.success) return toCreatedTask(row);
  assertInputFits(unchecked.data.unchecked_schema, request);
  return toCreatedTask(await callCreateTask(sql, request, origin, true));
}

function assertInputFits(schema: JsonObject, { agent, input }: CreateTaskRequest): void {
  const problem = inputProblem(schema, input);
  if (problem === null) return;
  throw new SwarmError("TASK_INPUT_INVALID", `Cannot create the task: ${problem}`, {
    hint: `Send an input that matches input_schema of the agent "${agent}".`,
  });
}

function toCreatedTask(row: unknown): CreatedTask {
  const { task_id, master_task_id, status, is_new } = createdRow.parse(row);
  const channels = {
    task: `supaswarm:task:${task_id}`,
    master: `supaswarm:master:${master_task_id}`,
  };
  return { answer: { task_id, master_task_id, status, channels }, isNew: is_new };
}

async function callCreateTask(
  sql: Sql,
  request: CreateTaskRequest,
  origin: TaskOrigin,
  isChecked: boolean,
) {
  try {
    const [row] = await sql`
      select task_id, master_task_id, status, is_new, unchecked_schema,
        case when ${request.watch ?? false} and task_id is not null
          then private.watch_job(master_task_id) end
      from private.request_task(
        p_caller => ${
      sql.json({
        actor: origin.actor,
        user_id: origin.userId,
        client_id: origin.clientId,
        task_id: origin.taskId,
      })
    },
        p_request => ${sql.json({ ...request } as JsonObject)},
        p_traceparent => ${origin.traceparent},
        p_tracestate => ${origin.tracestate},
        p_is_checked => ${isChecked}
      )`;
    return row;
  } catch (error) {
    throw toSwarmError(error, "create the task");
  }
}
