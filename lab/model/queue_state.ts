import type { Sql } from "../../shared/platform/db/sql_client.ts";
import type { QueueModel } from "./queue_model.ts";

type TaskState = Readonly<Record<string, unknown>>;

/** The tasks as the database has them. */
export async function readState(sql: Sql): Promise<Map<string, TaskState>> {
  const rows = await sql`
    select task.id, task.status, task.epoch::text as epoch, task.parent_id as "parentId",
      task.pending_children as "pendingChildren", task.attempts, task.deliveries, task.yields,
      task.cancel_requested_at is not null as "isCancelRequested",
      (
        select count(*)::int from pgmq.q_agent_tasks where message ->> 'task_id' = task.id::text
      ) as "messages",
      (
        select seq from public.human_reviews where task_id = task.id and answered_at is null
      ) as "openReview",
      (
        select coalesce(jsonb_agg(jsonb_build_array(
          seq, kind, state, case when state = 'done' then output -> 'text' end
        ) order by seq), '[]')
        from public.task_steps where task_id = task.id
      ) as steps,
      (
        select jsonb_agg(type order by id) from public.task_events where task_id = task.id
      ) as events
    from public.tasks as task`;
  return new Map(rows.map(({ id, ...task }) => [String(id), task]));
}

/** The same as the model has it. */
export function readModelState({ tasks }: QueueModel): Map<string, TaskState> {
  return new Map([...tasks.values()].map((task) => [task.id, {
    status: task.status,
    epoch: task.epoch,
    parentId: task.parentId,
    pendingChildren: task.pendingChildren,
    attempts: task.attempts,
    deliveries: task.deliveries,
    yields: task.yields,
    isCancelRequested: task.isCancelRequested,
    messages: task.status === "pending" ? 1 : 0,
    openReview: task.openReview,
    steps: [...task.steps].sort(([one], [other]) => one - other)
      .map(([seq, { kind, state, text }]) => [seq, kind, state, state === "done" ? text : null]),
    events: task.events,
  }]));
}
