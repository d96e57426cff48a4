import { z } from "../../shared/vendor/zod.js";
import { definedOnly } from "../../shared/platform/values/defined_only.ts";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { jsonObject, jsonValue } from "../../shared/platform/values/json_schema.ts";
import { waitFor } from "../../scripts/wait_for.ts";

const errorSchema = z.looseObject({
  code: z.string(),
  message: z.string(),
  hint: z.string().optional(),
});

const taskSchema = z.object({
  id: z.string(),
  status: z.string(),
  output: jsonValue,
  error: errorSchema.nullable(),
  attempts: z.number(),
  created_by: z.string().nullable(),
  traceparent: z.string().nullable(),
  storage_paths: z.array(z.string()),
});

/** A task as its operator sees it. */
export type TaskView = z.infer<typeof taskSchema>;

export async function readTask(sql: Sql, taskId: string): Promise<TaskView> {
  const [row] = await sql`
    select id, status, output, error, attempts, created_by, traceparent,
      to_jsonb(storage_paths) as storage_paths
    from public.tasks where id = ${taskId}::uuid`;
  return taskSchema.parse(row);
}

/** Waits until the task has the status; the error contains the task's actual state. */
export async function untilTask(
  sql: Sql,
  taskId: string,
  status: string,
  timeoutMs?: number,
): Promise<TaskView> {
  const hasStatus = async () => {
    const task = await readTask(sql, taskId);
    return task.status === status ? task : null;
  };
  try {
    return await waitFor(hasStatus, definedOnly({ timeoutMs, intervalMs: 50 }));
  } catch (cause) {
    const seen = JSON.stringify([await readTask(sql, taskId), await readSteps(sql, taskId)]);
    throw new Error(`The task did not become ${status}: ${seen.slice(0, 4_000)}`, { cause });
  }
}

const stepSchema = z.object({
  seq: z.number(),
  kind: z.string(),
  state: z.string(),
  name: z.string().nullable(),
  output: jsonObject,
});

/** A step of a task; a started one has an empty output. */
export type StepView = z.infer<typeof stepSchema>;

/** Reads a task's transcript. */
export async function readSteps(sql: Sql, taskId: string): Promise<readonly StepView[]> {
  const rows = await sql`
    select seq, kind, state, name, coalesce(output, '{}') as output
    from public.task_steps where task_id = ${taskId}::uuid order by seq`;
  return z.array(stepSchema).parse([...rows]);
}

const eventSchema = z.object({ type: z.string(), payload: jsonObject });

/** An entry of the trace. */
export type EventView = z.infer<typeof eventSchema>;

/** Reads a task's trace. */
export async function readEvents(sql: Sql, taskId: string): Promise<readonly EventView[]> {
  const rows = await sql`
    select type, payload from public.task_events where task_id = ${taskId}::uuid order by id`;
  return z.array(eventSchema).parse([...rows]);
}

const executionSchema = z.object({
  mcp_name: z.string(),
  tool_name: z.string(),
  status: z.string(),
  error_code: z.string().nullable(),
  user_id: z.string().nullable(),
});

export type ExecutionView = z.infer<typeof executionSchema>;

/** Reads the ledger of a task's tool calls, oldest first. */
export async function readExecutions(sql: Sql, taskId: string): Promise<readonly ExecutionView[]> {
  const rows = await sql`
    select mcp_name, tool_name, status, error_code, user_id
    from public.mcp_executions as execution
    left join public.mcp_failures as failure on failure.execution_id = execution.id
    where task_id = ${taskId}::uuid
    order by execution.created_at`;
  return z.array(executionSchema).parse([...rows]);
}
