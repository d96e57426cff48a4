import type { Sql } from "../../shared/platform/db/sql_client.ts";
import type { TraceEvent } from "./trace_event.ts";

/** The claims of the demo. Each is computed from evidence. */
export interface DemoCriteria {
  readonly handoff: boolean;
  readonly authenticated_mcp: boolean;
  readonly skill_loading: boolean;
  readonly human_review: boolean;
  readonly cancellation: boolean;
  readonly realtime_trace: boolean;
  readonly zero_credential_exposure: boolean;
}

/** Figures of the demo. */
export interface DemoFigures {
  readonly tasks: number;
  readonly steps: number;
  readonly events: number;
  /** Median time from a task's creation to its first step. */
  readonly pickup_ms_p50: number;
}

/** Whether the planner handed files to readers and got their outputs in its steps. */
export async function provesHandoff(sql: Sql, jobId: string): Promise<boolean> {
  const [row] = await sql<{ is_proven: boolean }[]>`
    select count(*) > 0 and bool_and(
      child.status = 'completed' and step.output -> 'output' = child.output
    ) as is_proven
    from public.tasks as child
    join public.task_steps as step
      on step.task_id = child.parent_id and step.seq = child.parent_step_seq
    where child.master_task_id = ${jobId} and child.parent_id = ${jobId}
      and child.agent_slug <> 'planner'`;
  return row?.is_proven ?? false;
}

/**
 * Whether each reader read its file through the MCP server, which refuses requests without a key.
 */
export async function provesAuthenticatedMcp(
  sql: Sql,
  { jobId, refusesWithoutKey }: { readonly jobId: string; readonly refusesWithoutKey: boolean },
): Promise<boolean> {
  const [row] = await sql<{ is_proven: boolean }[]>`
    select count(*) > 0 and bool_and(exists (
      select from public.mcp_executions as execution
      where execution.task_id = child.id and execution.mcp_name = 'files'
        and execution.tool_name = 'read_text_file' and execution.status = 'success'
    )) as is_proven
    from public.tasks as child
    where child.parent_id = ${jobId}`;
  return refusesWithoutKey && (row?.is_proven ?? false);
}

/** Whether the agent loaded the skill. Its owner can see that it did, but not the instructions. */
export async function provesSkillLoading(sql: Sql, jobId: string): Promise<boolean> {
  const [row] = await sql<{ is_proven: boolean }[]>`
    select exists (
      select from public.task_steps as step
      join private.hidden_step_outputs as hidden using (task_id, seq)
      join public.skills as skill on skill.skill_id = 'report-writing'
      where step.task_id = ${jobId} and step.name = 'load_skill' and step.state = 'done'
        and strpos(hidden.output ->> 'text', split_part(skill.instructions, E'\\n', 1)) > 0
        and step.output ->> 'text' is null
    ) as is_proven`;
  return row?.is_proven ?? false;
}

/** Whether a signed-in user approved and the agent received the comment. */
export async function provesHumanReview(
  sql: Sql,
  { jobId, userId, words }: {
    readonly jobId: string;
    readonly userId: string;
    readonly words: string;
  },
): Promise<boolean> {
  const [row] = await sql<{ is_proven: boolean }[]>`
    select exists (
      select from public.human_reviews as review
      join public.task_steps as step on step.task_id = review.task_id and step.seq = review.seq
      join public.tasks as task on task.id = review.task_id
      where review.task_id = ${jobId} and review.approved and review.created_by = ${userId}
        and step.output ->> 'comments' = ${words} and task.status = 'completed'
    ) as is_proven`;
  return row?.is_proven ?? false;
}

/**
 * Whether the second job and all its subtasks were cancelled, and the queue has no message of it.
 */
export async function provesCancellation(sql: Sql, jobId: string): Promise<boolean> {
  const [row] = await sql<{ is_proven: boolean }[]>`
    select count(*) > 1
      and bool_and(task.finished_at is not null)
      and bool_or(task.id = ${jobId} and task.status = 'cancelled')
      and bool_and(task.status = 'cancelled' or task.finished_at < master.cancel_requested_at)
      as is_proven
    from public.tasks as task
    join public.tasks as master on master.id = task.master_task_id
    where task.master_task_id = ${jobId}`;
  return row?.is_proven ?? false;
}

/**
 * Whether every event stored since the subscription arrived once over Realtime, including the
 * agents' text, and another user was refused. Events of concurrent tasks arrive in the order of
 * their commits, which can differ from the order of their ids.
 */
export async function provesRealtimeTrace(
  sql: Sql,
  { jobId, received, isStrangerRefused }: {
    readonly jobId: string;
    readonly received: readonly TraceEvent[];
    readonly isStrangerRefused: boolean;
  },
): Promise<boolean> {
  const seqs = received.flatMap(({ seq }) => seq ?? []);
  if (seqs.length === 0) return false;
  const first = Math.min(...seqs);
  const sorted = seqs.toSorted((a, b) => a - b);
  const stored = await sql<{ id: string }[]>`
    select id from public.task_events where master_task_id = ${jobId} and id >= ${first} order by id`;
  const isWhole = stored.length === seqs.length &&
    stored.every(({ id }, n) => Number(id) === sorted[n]);
  const types = new Set(received.map(({ type }) => type));
  const hasWords = received.some(({ type, data }) => type === "model.completed" && data.text);
  return isWhole && hasWords && isStrangerRefused &&
    EXPECTED_TYPES.every((type) => types.has(type));
}

const EXPECTED_TYPES = ["tool.completed", "review.requested", "subtask.finished", "task.completed"];

/** Reads the figures of both jobs. */
export async function readFigures(sql: Sql): Promise<DemoFigures> {
  const [row] = await sql<DemoFigures[]>`
    select
      (select count(*)::int from public.tasks) as tasks,
      (select count(*)::int from public.task_steps) as steps,
      (select count(*)::int from public.task_events) as events,
      (
        select round(percentile_cont(0.5) within group (
          order by extract(epoch from step.started_at - task.created_at) * 1000
        ))::int
        from public.tasks as task
        join public.task_steps as step on step.task_id = task.id and step.seq = 1
      ) as pickup_ms_p50`;
  if (row === undefined) throw new Error("Cannot read the figures: the query returned no row");
  return { ...row };
}
