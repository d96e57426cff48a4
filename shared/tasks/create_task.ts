import { z } from "zod";
import type { Sql } from "../db/sql_client.ts";
import { toSwarmError } from "../db/to_swarm_error.ts";
import type { CreateTaskAnswer, CreateTaskRequest } from "./create_task_request.ts";

/** On whose behalf a task is created, and in which trace. */
export interface TaskOrigin {
  /** Owner of the task; null for the service itself. */
  readonly userId: string | null;
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
 * Creates a master task: its row, its event and its queue message in one transaction.
 *
 * @throws AGENT_NOT_FOUND, AGENT_INACTIVE, TASK_PRIORITY_INVALID, TASK_BUDGET_INVALID, FORBIDDEN
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
      from private.create_task(
        p_agent => ${request.agent},
        p_input => ${sql.json(request.input)},
        p_created_by => ${origin.userId}::uuid,
        p_idempotency_key => ${request.idempotency_key ?? null},
        p_run_after => ${request.run_after ?? null}::timestamptz,
        p_priority => ${request.priority ?? "normal"},
        p_concurrency_key => ${request.concurrency_key ?? null},
        p_metadata => ${sql.json(request.metadata ?? {})},
        p_budget => ${request.budget === undefined ? null : sql.json(request.budget)}::jsonb,
        p_traceparent => ${origin.traceparent},
        p_tracestate => ${origin.tracestate}
      )`;
    return row;
  } catch (error) {
    throw toSwarmError(error, "create the task");
  }
}
