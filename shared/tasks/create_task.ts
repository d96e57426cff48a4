import { z } from "../vendor/zod.js";
import type { Sql } from "../db/sql_client.ts";
import { toSwarmError } from "../db/to_swarm_error.ts";
import type { JsonObject } from "../json.ts";
import type { Actor } from "../actor.ts";
import type { CreateTaskAnswer, CreateTaskRequest } from "./create_task_request.ts";

/** Who creates a task, and in which trace. */
export interface TaskOrigin {
  readonly actor: Actor;
  /** Owner of the task; null for the service itself. */
  readonly userId: string | null;
  /** Of a `client`, which needs the scope `swarm:run`. */
  readonly clientId: string | null;
  /** Of an `agent`: its task, whose subtask is created. */
  readonly taskId: string | null;
  /** W3C trace context of the request. */
  readonly traceparent: string | null;
  readonly tracestate: string | null;
}

/** A created task, and whether this call made it. */
export interface CreatedTask {
  readonly answer: CreateTaskAnswer;
  /** False when the idempotency key named a task that existed. */
  readonly isNew: boolean;
}

const createdRow = z.object({
  task_id: z.string(),
  master_task_id: z.string(),
  status: z.string(),
  is_new: z.boolean(),
});

/**
 * Creates a task: its row, its event and its queue message in one transaction. An agent's becomes a
 * subtask of the agent's own task, anybody else's a master task.
 *
 * @throws INSUFFICIENT_SCOPE for an OAuth client without `swarm:run`, AGENT_NOT_ALLOWED for an agent
 * outside of tasks, the caps of the agent's job, AGENT_NOT_FOUND, AGENT_INACTIVE, TASK_PRIORITY_INVALID, TASK_BUDGET_INVALID, FORBIDDEN
 * when the owner's account is gone, DATABASE_UNAVAILABLE
 */
export async function createTask(
  sql: Sql,
  request: CreateTaskRequest,
  origin: TaskOrigin,
): Promise<CreatedTask> {
  const { task_id, master_task_id, status, is_new } = createdRow.parse(
    await callCreateTask(sql, request, origin),
  );
  const channels = {
    task: `supaswarm:task:${task_id}`,
    master: `supaswarm:master:${master_task_id}`,
  };
  return { answer: { task_id, master_task_id, status, channels }, isNew: is_new };
}

async function callCreateTask(sql: Sql, request: CreateTaskRequest, origin: TaskOrigin) {
  try {
    const [row] = await sql`
      select task_id, master_task_id, status, is_new,
        case when ${request.watch ?? false} then private.watch_job(master_task_id) end
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
        p_tracestate => ${origin.tracestate}
      )`;
    return row;
  } catch (error) {
    throw toSwarmError(error, "create the task");
  }
}
