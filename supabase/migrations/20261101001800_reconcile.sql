-- Recovery: tasks make progress even when workers, wakes or messages are lost.

create function private.end_expired_tasks()
returns int
language plpgsql
set search_path = ''
as $$
declare
  v_expired record;
  v_task public.tasks;
  v_count int := 0;
begin
  for v_expired in
    select id, master_task_id
    from public.tasks
    where status = 'running'
      and lease_expires_at <= clock_timestamp()
      and (cancel_requested_at is not null or deliveries >= max_deliveries)
    order by lease_expires_at
    limit 200
  loop
    perform private.lock_job(v_expired.master_task_id);
    -- Read again under the lock: a slow but living worker may have renewed its lease.
    select * into v_task
    from public.tasks
    where id = v_expired.id and status = 'running' and lease_expires_at <= clock_timestamp()
    for no key update;
    continue when not found;
    if private.is_calling_model(v_task.id) then
      perform private.book_cut_call(v_task.id, private.estimated_cut_call(v_task, v_task.updated_at));
    end if;
    if v_task.cancel_requested_at is not null then
      perform private.end_task(v_task.id, 'cancelled', p_error => private.cancelled_error());
    else
      perform private.bury_task(v_task, 'deliveries_exhausted', jsonb_build_object(
        'code', 'TASK_DELIVERIES_EXCEEDED',
        'message', format('The task''s worker died %s times without a step in between', v_task.deliveries),
        'hint', 'Look for what kills the worker: memory, an endless loop, an oversized answer.'
      ));
    end if;
    v_count := v_count + 1;
  end loop;
  return v_count;
end;
$$;
comment on function private.end_expired_tasks() is
  'Ends tasks with an expired lease that may not be claimed again.';

create index tasks_wall_time_idx on public.tasks (started_at)
  where parent_id is null and finished_at is null and budget ->> 'max_wall_seconds' is not null;

create function private.end_overdue_jobs()
returns int
language plpgsql
set search_path = ''
as $$
declare
  v_job record;
  v_count int := 0;
begin
  for v_job in
    select id, budget ->> 'max_wall_seconds' as max_wall_seconds
    from public.tasks
    where parent_id is null
      and finished_at is null
      and budget ->> 'max_wall_seconds' is not null
      and extract(epoch from clock_timestamp() - started_at) >= (budget ->> 'max_wall_seconds')::numeric
      -- A worker that runs the task checks its budget before the next model call.
      and status <> 'running'
      and cancel_requested_at is null
    order by started_at
    limit 200
  loop
    -- Skip a busy job; the next call checks it again.
    continue when not private.try_lock_job(v_job.id);
    -- Read again under the lock: a worker may have claimed it.
    perform from public.tasks
    where id = v_job.id and status <> 'running' and finished_at is null and started_at is not null
    for no key update;
    continue when not found;
    perform private.end_task(v_job.id, 'failed', p_error => jsonb_build_object(
      'code', 'BUDGET_EXCEEDED',
      'message', format('The job has used up its max_wall_seconds of %s', v_job.max_wall_seconds),
      'hint', 'Create the task with a larger budget, or with null for no cap.'
    ));
    v_count := v_count + 1;
  end loop;
  return v_count;
end;
$$;
comment on function private.end_overdue_jobs() is
  'Ends jobs that have waited past their max_wall_seconds, which count from the first claim. Running subtasks are cancelled.';

create function private.send_missing_messages()
returns int
language plpgsql
set search_path = ''
as $$
declare
  v_count int;
begin
  update public.tasks as task
  set message_id = private.send_message(task.id, coalesce(private.message_time(task.run_after), clock_timestamp()))
  from (
    select id
    from public.tasks as candidate
    where candidate.status = 'pending'
      and (
        (candidate.message_id is null and private.message_time(candidate.run_after) is not null)
        or (
          candidate.message_id is not null
          and not exists (select from pgmq.q_agent_tasks as live where live.msg_id = candidate.message_id)
        )
      )
    order by candidate.id
    limit 1000
    for no key update skip locked
  ) as missing
  where task.id = missing.id;
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
comment on function private.send_missing_messages() is
  'Sends a message for each pending task that has none: tasks that are due now, and tasks whose message was lost.';

create function private.delete_stray_messages()
returns int
language plpgsql
set search_path = ''
as $$
declare
  v_count int;
begin
  delete from pgmq.q_agent_tasks as message
  where message.msg_id in (
    select stray.msg_id
    from pgmq.q_agent_tasks as stray
    where not exists (
      select from public.tasks as task
      where task.status = 'pending' and task.message_id = stray.msg_id
        and stray.message ->> 'task_id' = task.id::text
    )
    limit 1000
    -- Another session is claiming or deleting it.
    for update skip locked
  );
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
comment on function private.delete_stray_messages() is
  'Deletes messages that belong to no task: sent twice, malformed, or for a deleted task. Claims never read them, because they select tasks, not messages.';

create function private.stranded_tasks(p_task_id uuid default null)
returns table (task_id uuid, master_task_id uuid)
language sql
stable
set search_path = ''
as $$
  select task.id, task.master_task_id
  from public.tasks as task
  where (stranded_tasks.p_task_id is null or task.id = stranded_tasks.p_task_id)
    and task.cancel_requested_at is null
    and (
      (
        task.status = 'pending_subtask'
        and not exists (
          select from public.tasks as child where child.parent_id = task.id and child.finished_at is null
        )
      )
      or (
        task.status = 'needs_human_review'
        and not exists (
          select from public.human_reviews as review
          where review.task_id = task.id and review.answered_at is null
        )
      )
    );
$$;
comment on function private.stranded_tasks(uuid) is
  'Parked tasks that no longer wait for anything: all of them, or only the given one.';

create function private.wake_stranded_tasks()
returns int
language plpgsql
set search_path = ''
as $$
declare
  v_stranded record;
  v_count int := 0;
begin
  for v_stranded in select * from private.stranded_tasks() limit 200 loop
    perform private.lock_job(v_stranded.master_task_id);
    update public.tasks as task
    set status = 'pending',
        pending_children = (
          select count(*) from public.tasks as child
          where child.parent_id = task.id and child.finished_at is null
        ),
        message_id = private.send_message(task.id),
        logs = task.logs || private.log_line('woken by the reconciler')
    -- Read again under the lock: its previous holder may have queued the task.
    where task.id in (select task_id from private.stranded_tasks(v_stranded.task_id))
      and task.status in ('pending_subtask', 'needs_human_review');
    if found then
      v_count := v_count + 1;
    end if;
  end loop;
  return v_count;
end;
$$;
comment on function private.wake_stranded_tasks() is
  'Queues parked tasks that no longer wait for anything.';

create function private.reconcile()
returns jsonb
language plpgsql
set search_path = ''
as $$
declare
  v_ended int := 0;
  v_woken int := 0;
  v_resent int := 0;
begin
  -- One call at a time: the unfinished repairs of another would look broken to this one.
  if pg_try_advisory_xact_lock(hashtextextended('supaswarm:reconcile', 0)) then
    delete from private.workers where seen_at < clock_timestamp() - interval '1 day';
    delete from private.idle_workers where worker_id in (
      select worker_id from private.idle_workers where seen_at < clock_timestamp() - interval '1 minute' for update skip locked
    );
    perform private.take_back_handed();
    v_ended := private.end_expired_tasks() + private.end_overdue_jobs();
    v_woken := private.wake_stranded_tasks();
    -- Last, because it locks tasks without locking their jobs, and the steps above wait for the jobs' locks.
    v_resent := private.send_missing_messages();
    perform private.delete_stray_messages();
  end if;
  return jsonb_build_object('ended', v_ended, 'resent', v_resent, 'woken', v_woken);
end;
$$;
comment on function private.reconcile() is
  'Repairs the state that crashes leave behind, ends jobs whose time is up, and returns how many of each. Does nothing while another call runs. Called by cron, through tick().';

create function private.tick()
returns void
language plpgsql
set search_path = ''
as $$
begin
  perform private.reconcile();
  perform private.wake_for_due_work();
end;
$$;
comment on function private.tick() is 'Runs every 15 seconds: reconciles, and wakes the workers of every kind of work that is due.';
