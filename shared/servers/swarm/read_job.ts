import type { TransactionSql } from "../../vendor/postgres.js";
import { attempt } from "../../platform/db/to_swarm_error.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { eventPage, type JobView, jobView } from "./job_schema.ts";

/** Bytes shown of an event's data; longer data is truncated. */
const MAX_EVENT_BYTES = 4_096;

/** Which events to read. */
export interface EventRange {
  /** The `next_cursor` of an earlier read; null for the beginning. */
  readonly cursor: string | null;
  /** Maximum number of events, oldest first; 0 reads none. */
  readonly limit: number;
}

/**
 * Reads a task with its events; for a master task, those of the whole job.
 *
 * @throws SwarmError `TASK_NOT_FOUND` if it does not exist or belongs to another user;
 *   `QUERY_INVALID` for a malformed cursor.
 */
export async function readJob(
  sql: TransactionSql,
  taskId: string,
  events: EventRange,
): Promise<JobView> {
  const [row] = await sql`
    select
      jsonb_build_object(
        'task_id', task.id, 'master_task_id', task.master_task_id, 'parent_id', task.parent_id,
        'agent', task.agent_slug, 'status', task.status, 'output', task.output, 'error', task.error, 'warnings', task.warnings,
        'created_at', task.created_at, 'started_at', task.started_at,
        'finished_at', task.finished_at,
        'data_keys', (select coalesce(jsonb_agg(key order by key), '[]')
          from jsonb_object_keys(task.intermediate_data) as key),
        'files', to_jsonb(task.storage_paths),
        'input_tokens', task.input_tokens, 'output_tokens', task.output_tokens,
        'cost_micro_usd', task.cost_micro_usd
      ) as task,
      (
        select jsonb_build_object(
          'task_count', usage.task_count, 'input_tokens', usage.input_tokens,
          'output_tokens', usage.output_tokens, 'cost_micro_usd', usage.cost_micro_usd
        )
        from public.job_usage as usage
        where usage.master_task_id = task.master_task_id
      ) as job_usage,
      task.finished_at is not null as has_ended,
      (
        select coalesce(jsonb_agg(jsonb_build_object(
          'task_id', review.task_id, 'step', review.seq, 'agent', asking.agent_slug, 'kind', review.kind, 'question', review.question,
          'options', review.options, 'context', review.context, 'asked_at', review.created_at
        ) order by review.created_at), '[]')
        from public.tasks as asking
        join public.human_reviews as review on review.task_id = asking.id
        where asking.master_task_id = task.master_task_id
          and (task.parent_id is null or asking.id = task.id)
          and review.answered_at is null
      ) as open_reviews,
      (
        select coalesce(jsonb_object_agg(counted.status, counted.number), '{}')
        from (
          select child.status, count(*) as number from public.tasks as child
          where task.parent_id is null and child.master_task_id = task.id and child.id <> task.id
            or child.parent_id = task.id
          group by child.status
        ) as counted
      ) as subtasks
    from public.tasks as task
    where task.id = ${taskId}::uuid`;
  if (row === undefined) throw taskNotFound(taskId);
  // After the status: once the task has ended, the events include its end.
  const page = await readEvents(sql, taskId, events);
  return jobView.parse({
    ...row,
    events: page.events,
    next_cursor: page.next_cursor,
    has_more_events: page.has_more,
  });
}

async function readEvents(sql: TransactionSql, taskId: string, { cursor, limit }: EventRange) {
  if (limit === 0) return { events: [], next_cursor: cursor ?? "", has_more: false };
  const rows = await attempt("read the events", () =>
    sql`
    select private.read_events(
      p_task_id => ${taskId}::uuid,
      p_cursor => ${cursor},
      p_limit => ${limit}::int,
      p_max_data_bytes => ${MAX_EVENT_BYTES}::int
    ) as page`);
  return eventPage.parse(rows[0]?.page);
}

/** Creates the error for a task that does not exist or belongs to another user. */
export function taskNotFound(taskId: string): SwarmError {
  return new SwarmError("TASK_NOT_FOUND", `Cannot find task ${taskId}`, {
    hint: "list_tasks lists your tasks.",
  });
}
