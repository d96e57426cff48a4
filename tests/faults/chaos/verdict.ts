import type { Sql } from "../../../shared/platform/db/sql_client.ts";
import type { SeenHttpRequest } from "../../gateway/tools/http_fixture.ts";
import { type GivenAnswer, positionsBelow } from "./chaos_job.ts";
import { type Disturbance, isOld } from "./worker_pool.ts";

/** Observations that no table contains. */
export interface Testimony {
  readonly masterCount: number;
  readonly cancelledJobs: number;
  readonly leaseSeconds: number;
  readonly answers: readonly GivenAnswer[];
  readonly toolRequests: readonly SeenHttpRequest[];
  readonly disturbances: readonly Disturbance[];
  readonly outages: readonly Omit<Disturbance, "workerId">[];
}

/** The result of a run. */
export interface Verdict {
  /** Violated invariants: how often each occurred, by name. */
  readonly violations: Readonly<Record<string, number>>;
  readonly figures: Readonly<Record<string, number>>;
  /** Reasons of failed tasks, of which there should be none, each with its history. */
  readonly failures: readonly string[];
}

/** Checks a finished run in its database and in the journals of model and tools. */
export async function judgeChaos(sql: Sql, testimony: Testimony): Promise<Verdict> {
  const deliveries = await readDeliveries(sql);
  const model = await judgeModel(sql, testimony, lostByTask(deliveries));
  const tools = await judgeTools(sql, testimony, lostByTask(deliveries));
  return {
    violations: {
      ...await readViolations(sql, testimony),
      ...await judgeOutputs(sql),
      ...model.violations,
      ...tools.violations,
      ...await judgeEstimates(sql, deliveries),
    },
    figures: {
      ...await readFigures(sql),
      deliveries: deliveries.length,
      ...versionFigures(deliveries),
      lost_deliveries: deliveries.filter(({ isLost }) => isLost).length,
      lost_without_a_fault:
        deliveries.filter((delivery) => delivery.isLost && !wasDisturbed(delivery, testimony))
          .length,
      ...model.figures,
      ...tools.figures,
    },
    failures: await readFailures(sql),
  };
}

async function readFailures(sql: Sql): Promise<string[]> {
  const rows = await sql`
    select task.error, task.logs, (
      select jsonb_agg(jsonb_build_array(event.at, event.type, event.payload) order by event.id)
      from public.task_events as event
      where event.task_id = task.id
    ) as events
    from public.tasks as task
    where task.status = 'failed'`;
  return rows.map(({ error, logs, events }) => JSON.stringify({ error, logs, events }));
}

async function readViolations(
  sql: Sql,
  { masterCount, cancelledJobs }: Testimony,
): Promise<Record<string, number>> {
  const [row] = await sql`
    with ending as (
      select task_id, count(*) as count from public.task_events
      where type in ('task.completed', 'task.failed', 'task.cancelled') group by task_id
    )
    select
      (select count(*) from public.tasks where finished_at is null) as stuck,
      abs((select count(*) from public.tasks where parent_id is null) - ${masterCount}::int)
        + (select count(*) from public.tasks where not exists (
            select from ending where ending.task_id = tasks.id)) as lost,
      (select count(*) from public.tasks where status = 'failed')
        + (select count(*) from private.dead_letters) as failed,
      abs(${masterCount - cancelledJobs}::int - (
        select count(*) from public.tasks where parent_id is null and status = 'completed'
      )) as masters_not_completed,
      (select count(*) from pgmq.q_agent_tasks) as leftover_messages,
      (select count(*) from public.tasks
        where pending_children <> 0 or lease_expires_at is not null
          or worker_id is not null) as counters_not_zero,
      (select count(*) from private.job_totals as total where total.task_count <> (
        select count(*) from public.tasks where master_task_id = total.master_task_id
      )) as jobs_miscounted,
      (select count(*) from public.human_reviews where answered_at is null) as open_reviews,
      (select count(*) from ending where count > 1)
        + (select count(*) from witness.sightings where what = 'second end') as ended_twice,
      (select count(*) from (
        select from witness.sightings where what = 'wake' group by task_id having count(*) > 1
      ) as woken) as parents_woken_twice,
      (select count(*) from witness.sightings where what = 'second result')
        + (select count(*) from (
          select from public.task_events
          where type in ('model.completed', 'tool.completed', 'tool.failed', 'subtask.finished')
            -- A server without a list of tools fails without a step.
            and payload ? 'step_seq'
          group by task_id, payload ->> 'step_seq' having count(*) > 1
        ) as repeated) as steps_with_two_results,
      (select count(*) from witness.sightings where what = 'stale write') as stale_writes_accepted,
      (select count(*) from public.task_steps as step
        join public.tasks as task on task.id = step.task_id
        where step.state = 'started' and task.status = 'completed') as steps_without_a_result,
      (select count(*) from public.tasks as task
        where (select count(*) from public.usage_events as used where used.task_id = task.id
            and used.execution_id is null and not used.is_estimate) <> (
          select count(*) from public.task_steps as step
          where step.task_id = task.id and step.kind = 'model' and step.state <> 'started'
        )) as tasks_billed_wrongly`;
  return toNumbers(row ?? {});
}

/**
 * Each completed task must have received the results of all its subtasks, in the order of its
 * calls.
 */
async function judgeOutputs(sql: Sql): Promise<Record<string, number>> {
  const tasks = await sql<{ position: string; output: Output }[]>`
    select input ->> 'position' as position, output
    from public.tasks where status = 'completed'`;
  const wrong = tasks.filter(({ position, output }) => {
    const brought = output.brought.map((result) => result?.output?.position);
    return output.position !== position ||
      JSON.stringify(brought) !== JSON.stringify(positionsBelow(position));
  });
  return { wrong_outputs: wrong.length };
}

interface Output {
  readonly position: string;
  readonly brought: readonly ({ readonly output?: { readonly position?: string } } | null)[];
}

/** A claim of a task and its outcome. */
interface Delivery {
  readonly taskId: string;
  readonly position: string;
  readonly workerId: string;
  readonly beganAtMs: number;
  /** Null if no further event followed. */
  readonly endedAtMs: number | null;
  /** Another worker claimed the task before this one had released it. */
  readonly isLost: boolean;
}

async function readDeliveries(sql: Sql): Promise<Delivery[]> {
  const rows = await sql`
    select * from (
      select event.task_id, task.input ->> 'position' as position, event.type,
        event.payload ->> 'worker_id' as worker_id,
        extract(epoch from event.at) * 1000 as began_at_ms,
        lead(event.type) over turn as next_type,
        extract(epoch from lead(event.at) over turn) * 1000 as ended_at_ms
      from public.task_events as event
      join public.tasks as task on task.id = event.task_id
      where event.type in ('task.started', 'task.resumed', 'task.parked', 'task.retried',
        'task.completed', 'task.failed', 'task.cancelled')
      window turn as (partition by event.task_id order by event.id)
    ) as delivery
    where type in ('task.started', 'task.resumed')`;
  return rows.map((row) => ({
    taskId: String(row.task_id),
    position: String(row.position),
    workerId: String(row.worker_id),
    beganAtMs: Number(row.began_at_ms),
    endedAtMs: row.ended_at_ms === null ? null : Number(row.ended_at_ms),
    isLost: row.next_type === "task.resumed",
  }));
}

/** What workers of another commit have claimed, and what both have worked on. */
function versionFigures(deliveries: readonly Delivery[]): Verdict["figures"] {
  const old = deliveries.filter(({ workerId }) => isOld(workerId));
  const current = new Set(
    deliveries.filter(({ workerId }) => !isOld(workerId)).map(({ taskId }) => taskId),
  );
  const both = new Set(old.map(({ taskId }) => taskId).filter((taskId) => current.has(taskId)));
  return { deliveries_to_old_workers: old.length, tasks_of_both_versions: both.size };
}

function lostByTask(deliveries: readonly Delivery[]): ReadonlyMap<string, number> {
  return countBy(deliveries.filter(({ isLost }) => isLost), ({ position }) => position);
}

/** Whether a worker was disturbed, or the database down, in a period. */
function wasDisturbed(
  { workerId, beganAtMs, endedAtMs }: Pick<Delivery, "workerId" | "beganAtMs" | "endedAtMs">,
  { disturbances, outages }: Testimony,
): boolean {
  const isDuring = (fault: Omit<Disturbance, "workerId">) =>
    fault.endedAtMs >= beganAtMs && (endedAtMs === null || fault.beganAtMs <= endedAtMs);
  return outages.some(isDuring) ||
    disturbances.some((fault) => fault.workerId === workerId && isDuring(fault));
}

/**
 * A claim's commit does not wait for the disk: for so long, a crash of the server may undo it with
 * its event, after the model has been called. PostgreSQL promises 0.6 s.
 */
const UNDONE_MS = 1_000;

/**
 * Compares the model's journal with the steps: each stored answer was given for exactly this step;
 * a step was requested again only by another worker, once by each of them, and after its end only
 * by a worker that had lost the task without noticing.
 */
async function judgeModel(
  sql: Sql,
  { answers, outages }: Testimony,
  lost: ReadonlyMap<string, number>,
): Promise<Omit<Verdict, "failures">> {
  const steps = await sql`
    select task.input ->> 'position' as position, step.seq, step.output ->> 'text' as text,
      extract(epoch from step.ended_at) * 1000 as ended_at_ms
    from public.task_steps as step
    join public.tasks as task on task.id = step.task_id
    where step.kind = 'model' and step.state <> 'started'`;
  const given = new Set(answers.map(({ position, seq, text }) => `${position}:${seq}:${text}`));
  const endedAtMs = new Map(
    steps.map(({ position, seq, ended_at_ms }) => [`${position}:${seq}`, Number(ended_at_ms)]),
  );
  const calls = countBy(answers, ({ position, seq }) => `${position}:${seq}`);
  const repeats = [...calls].map(([step, count]) => ({ step, count: count - 1 }));
  const late = countBy(
    answers.filter(({ position, seq, atMs }) =>
      atMs > (endedAtMs.get(`${position}:${seq}`) ?? Infinity)
    ),
    ({ position, seq }) => `${position}:${seq}`,
  );
  const lostOf = (step: string) => lost.get(step.slice(0, step.indexOf(":"))) ?? 0;
  const undone = countBy(
    answers.filter(({ atMs }) =>
      outages.some(({ beganAtMs, endedAtMs }) => atMs > beganAtMs - UNDONE_MS && atMs < endedAtMs)
    ),
    ({ position, seq }) => `${position}:${seq}`,
  );
  return {
    violations: {
      answers_nobody_gave:
        steps.filter(({ position, seq, text }) => !given.has(`${position}:${seq}:${text}`)).length,
      model_calls_repeated_without_a_loss:
        repeats.filter(({ step, count }) => count > lostOf(step) + (undone.get(step) ?? 0)).length,
      ended_steps_asked_again: [...late].filter(([step, count]) => count > lostOf(step)).length,
    },
    figures: {
      model_calls: answers.length,
      repeated_model_calls: repeats.reduce((sum, { count }) => sum + count, 0),
      model_calls_of_zombies: [...late.values()].reduce((sum, count) => sum + count, 0),
    },
  };
}

/**
 * Compares the tools' journal with the steps: a call with an effect was repeated only with
 * approval.
 */
async function judgeTools(
  sql: Sql,
  { toolRequests }: Testimony,
  lost: ReadonlyMap<string, number>,
): Promise<Omit<Verdict, "failures">> {
  const steps = await sql`
    select step.task_id || ':' || step.seq as key, step.name, step.state,
      task.input ->> 'position' as position,
      coalesce(review.approved, false)::int as leave_count
    from public.task_steps as step
    join public.tasks as task on task.id = step.task_id
    left join public.human_reviews as review
      on review.task_id = step.task_id and review.seq = step.seq
    where step.kind = 'tool'`;
  const runs = countBy(toolRequests, ({ headers }) => headers.get("idempotency-key") ?? "none");
  const runsOf = (key: string) => runs.get(key) ?? 0;
  const known = new Set(steps.map(({ key }) => String(key)));
  const ofTool = (name: string) => steps.filter((step) => step.name === name);
  return {
    violations: {
      effects_repeated_without_leave:
        ofTool("pay").filter(({ key, leave_count }) =>
          runsOf(String(key)) > 1 + Number(leave_count)
        ).length,
      reads_repeated_without_a_loss:
        ofTool("look").filter(({ key, position }) =>
          runsOf(String(key)) > 1 + (lost.get(String(position)) ?? 0)
        ).length,
      results_nothing_ran_for:
        steps.filter(({ key, state }) => state === "done" && runsOf(String(key)) === 0).length,
      runs_without_a_step: [...runs.keys()].filter((key) => !known.has(key)).length,
    },
    figures: {
      tool_calls: toolRequests.length,
      effects_repeated_by_leave: ofTool("pay").filter(({ key }) => runsOf(String(key)) > 1).length,
    },
  };
}

/** Each estimated model call of a completed task belongs to a delivery that was lost or returned. */
async function judgeEstimates(
  sql: Sql,
  deliveries: readonly Delivery[],
): Promise<Record<string, number>> {
  const rows = await sql`
    select task.input ->> 'position' as position, count(*)::int as count
    from public.usage_events as used
    join public.tasks as task on task.id = used.task_id
    where used.is_estimate and task.status = 'completed'
    group by 1`;
  const lost = lostByTask(deliveries);
  return {
    estimates_without_a_lost_call:
      rows.filter(({ position, count }) => Number(count) > (lost.get(String(position)) ?? 0))
        .length,
  };
}

async function readFigures(sql: Sql): Promise<Record<string, number>> {
  const [row] = await sql`
    select
      (select count(*) from public.tasks) as tasks,
      (select count(*) from public.tasks where status = 'completed') as completed,
      (select count(*) from public.tasks where status = 'cancelled') as cancelled,
      (select count(*) from public.task_steps) as steps,
      (select count(*) from witness.sightings where what = 'wake') as parents_woken,
      (select count(*) from public.human_reviews) as reviews,
      (select count(*) from public.task_events where type = 'task.retried') as retries`;
  return toNumbers(row ?? {});
}

function toNumbers(row: Readonly<Record<string, unknown>>): Record<string, number> {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, Number(value)]));
}

function countBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1);
  return counts;
}
