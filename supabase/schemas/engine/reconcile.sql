-- Recovery: tasks make progress even when workers, wakes or messages are lost.

create function private.end_expired_task(p_task_id uuid)
returns boolean
language plpgsql
set search_path = ''
as $$
declare
  v_task public.tasks;
begin
  -- Skip a busy job; the next call checks it again.
  if not private.try_lock_job((select master_task_id from public.tasks where id = p_task_id)) then
    return false;
  end if;
  -- Read again under the lock: a slow but living worker may have gone on.
  select * into v_task
  from public.tasks
  where id = p_task_id
    and status = 'running'
    and lease_expires_at <= clock_timestamp()
    and (cancel_requested_at is not null or deliveries >= max_deliveries)
  for no key update;
  if not found then
    return false;
  end if;
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
  return true;
end;
$$;
comment on function private.end_expired_task(uuid) is
  'Ends a task if its lease has expired and it may not be claimed again. False when it is not to be ended or its job is busy.';

create function private.end_expired_tasks()
returns int
language sql
set search_path = ''
as $$
  select private.run_for_each('end_expired_task', array(
    select id
    from public.tasks
    where status = 'running'
      and lease_expires_at <= clock_timestamp()
      and (cancel_requested_at is not null or deliveries >= max_deliveries)
    -- Tasks that cannot be ended must not take every place.
    order by random()
    limit 200
  ));
$$;
comment on function private.end_expired_tasks() is
  'Ends tasks with an expired lease that may not be claimed again.';

create index tasks_wall_time_idx on public.tasks (started_at)
  where parent_id is null and finished_at is null and budget ->> 'max_wall_seconds' is not null;

create function private.end_overdue_job(p_job_id uuid)
returns boolean
language plpgsql
set search_path = ''
as $$
declare
  v_max_wall_seconds text;
begin
  -- Skip a busy job; the next call checks it again.
  if not private.try_lock_job(p_job_id) then
    return false;
  end if;
  -- Read again under the lock: a worker may have claimed it, or it was retried.
  select budget ->> 'max_wall_seconds' into v_max_wall_seconds
  from public.tasks
  where id = p_job_id and status <> 'running' and finished_at is null
    and extract(epoch from clock_timestamp() - started_at) >= (budget ->> 'max_wall_seconds')::numeric
  for no key update;
  return found and private.end_task(p_job_id, 'failed', p_error => jsonb_build_object(
    'code', 'BUDGET_EXCEEDED',
    'message', format('The job has used up its max_wall_seconds of %s', v_max_wall_seconds),
    'hint', 'Create the task with a larger budget, or with null for no cap.'
  ));
end;
$$;
comment on function private.end_overdue_job(uuid) is
  'Ends a job that still waits after its max_wall_seconds. False when a worker runs it or the job is busy.';

create function private.end_overdue_jobs()
returns int
language sql
set search_path = ''
as $$
  select private.run_for_each('end_overdue_job', array(
    select id
    from public.tasks
    where parent_id is null
      and finished_at is null
      and budget ->> 'max_wall_seconds' is not null
      and extract(epoch from clock_timestamp() - started_at) >= (budget ->> 'max_wall_seconds')::numeric
      -- A worker that runs the task checks its budget before the next model call.
      and status <> 'running'
      and cancel_requested_at is null
    -- As in end_expired_tasks().
    order by random()
    limit 200
  ));
$$;
comment on function private.end_overdue_jobs() is
  'Ends jobs that have waited past their max_wall_seconds, which count from the first claim. Running subtasks are cancelled.';

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

create function private.wake_stranded_task(p_task_id uuid)
returns boolean
language plpgsql
set search_path = ''
as $$
begin
  -- Skip a busy job; the next call checks it again.
  if not private.try_lock_job((select master_task_id from public.tasks where id = p_task_id)) then
    return false;
  end if;
  update public.tasks as task
  set status = 'pending',
      pending_children = (
        select count(*) from public.tasks as child
        where child.parent_id = task.id and child.finished_at is null
      ),
      logs = task.logs || private.log_line('woken by the reconciler')
  -- Read again under the lock: its previous holder may have queued the task.
  where task.id in (select task_id from private.stranded_tasks(p_task_id))
    and task.status in ('pending_subtask', 'needs_human_review');
  return found;
end;
$$;
comment on function private.wake_stranded_task(uuid) is
  'Queues a parked task if it no longer waits for anything. False when it waits or its job is busy.';

create function private.wake_stranded_tasks()
returns int
language sql
set search_path = ''
as $$
  select private.run_for_each('wake_stranded_task', array(
    -- As in end_expired_tasks().
    select task_id from private.stranded_tasks() order by random() limit 200
  ));
$$;
comment on function private.wake_stranded_tasks() is
  'Queues parked tasks that no longer wait for anything.';

create function private.delete_old_records()
returns int
language plpgsql
set search_path = ''
as $$
declare
  v_count int;
begin
  delete from private.maintenance_failures where last_failed_at < clock_timestamp() - interval '7 days';
  delete from private.worker_processes where seen_at < clock_timestamp() - interval '1 hour';
  delete from private.workers where seen_at < clock_timestamp() - interval '1 day';
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
comment on function private.delete_old_records() is
  'Deletes what only recent rows are for: workers, processes and maintenance failures. Returns how many workers.';

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
    perform private.run_maintenance('delete_old_records');
    perform private.run_maintenance('return_expired_tasks');
    v_ended := private.run_maintenance('end_expired_tasks') + private.run_maintenance('end_overdue_jobs');
    v_woken := private.run_maintenance('wake_stranded_tasks');
    -- Last, because it locks tasks without locking their jobs, and the steps above lock jobs.
    v_resent := private.run_maintenance('repair_queue');
    perform private.run_maintenance('sum_stored_debits', 100000);
    perform private.run_maintenance('sum_tool_calls', 5000);
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
  begin
    perform private.reconcile();
  exception when query_canceled or others then
    perform private.record_maintenance_failure('reconcile', null, sqlstate, sqlerrm);
  end;
  perform private.run_maintenance('end_due_pauses');
  perform private.run_maintenance('return_resumed_tasks', 10000);
  perform private.run_maintenance('end_late_statements');
  perform private.run_maintenance('check_alerts');
  perform private.run_maintenance('wake_due_runners');
  perform private.wake_for_due_work();
end;
$$;
comment on function private.tick() is 'Runs every 15 seconds: reconciles, ends pauses and statements of callers that are past their time, checks the alerts, and wakes the workers of every kind of work that is due, even when a repair or the check of another kind fails.';
