import type { Sql } from "../../../shared/platform/db/sql_client.ts";

/** A running job of one task. The benchmark writes its steps instead of a worker. */
export interface TracedJob {
  readonly id: string;
  /** Number of the last started step. */
  lastSeq: number;
}

/** Creates a running job with ended steps. */
export async function createTracedJob(
  sql: Sql,
  { ownerId, steps }: { readonly ownerId: string; readonly steps: number },
): Promise<TracedJob> {
  const [job] = await sql<{ id: string }[]>`
    with job as (select private.new_id() as id)
    insert into public.tasks (
      id, master_task_id, agent_slug, input, status, created_by, started_at, worker_id,
      lease_expires_at
    )
    select id, id, 'bench', '"now"', 'running', ${ownerId}::uuid, now(), 'bench',
      now() + interval '1 hour'
    from job
    returning id`;
  if (job === undefined) throw new Error("Cannot find the created job");
  await sql`
    insert into public.task_steps (
      task_id, seq, kind, state, name, input, output, epoch, started_at, ended_at
    )
    select ${job.id}::uuid, n, 'tool', 'done', 'search', '{"arguments": {}}',
      jsonb_build_object('text', repeat('x', 2000)), 1,
      now() - (${steps} - n) * interval '10 ms', now() - (${steps} - n - 1) * interval '10 ms'
    from generate_series(1, ${steps}::int) as n`;
  await sql`analyze public.task_steps`;
  return { id: job.id, lastSeq: steps };
}

/** Starts steps with their events in one transaction. Returns their numbers. */
export async function beginSteps(sql: Sql, job: TracedJob, count: number): Promise<number[]> {
  const first = job.lastSeq + 1;
  job.lastSeq += count;
  await sql`
    with begun as (
      insert into public.task_steps (task_id, seq, kind, state, name, input, epoch)
      select ${job.id}::uuid, n, 'tool', 'started', 'search', '{"arguments": {}}',
        1
      from generate_series(${first}::int, ${job.lastSeq}::int) as n
      returning seq
    )
    select private.emit_events(
      array_agg(
        row(${job.id}::uuid, ${job.id}::uuid, 'tool.started', jsonb_build_object('step_seq', seq, 'name', 'search'))::private.task_event
        order by seq
      )
    )
    from begun`;
  return Array.from({ length: count }, (_, index) => first + index);
}

/** Ends steps with their events in one transaction. */
export async function endSteps(sql: Sql, job: TracedJob, seqs: readonly number[]): Promise<void> {
  await sql`
    with ended as (
      update public.task_steps set state = 'done', output = '{"text": "done"}', ended_at = now()
      where task_id = ${job.id}::uuid and seq in ${sql([...seqs])}
      returning seq
    )
    select private.emit_events(
      array_agg(
        row(${job.id}::uuid, ${job.id}::uuid, 'tool.completed', jsonb_build_object('step_seq', seq, 'name', 'search'))::private.task_event
        order by seq
      )
    )
    from ended`;
}
