-- Terminal states: a task enters one once and reports it to its parent once.
--
-- Lock order everywhere: the job's lock, then the task, then its parent, then the job's totals.
-- Tasks are locked "for no key update", never "for update": the foreign key of each new event would wait
-- for the stronger lock, against this order.

create function private.lock_job(p_master_task_id uuid)
returns void
language plpgsql
set search_path = ''
as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('supaswarm:' || p_master_task_id, 0));
end;
$$;
comment on function private.lock_job(uuid) is
  'Serializes operations that change the structure of a job or read all of it, until the transaction ends: spawn, park, finish, cancel, review, retry, fork, retention.';

create function private.try_lock_job(p_master_task_id uuid)
returns boolean
language plpgsql
set search_path = ''
as $$
begin
  return pg_try_advisory_xact_lock(hashtextextended('supaswarm:' || p_master_task_id, 0));
end;
$$;
comment on function private.try_lock_job(uuid) is 'lock_job() without waiting: false when another session has the lock.';

create function private.lock_job_of(p_task_id uuid)
returns void
language plpgsql
set search_path = ''
as $$
begin
  perform private.lock_job(task.master_task_id) from public.tasks as task where task.id = p_task_id;
end;
$$;
comment on function private.lock_job_of(uuid) is 'Locks the job that a task belongs to.';

create function private.report_to_parent(p_child public.tasks, p_output_reference jsonb)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_parent public.tasks;
  v_result jsonb := jsonb_build_object('agent', p_child.agent_slug, 'status', p_child.status)
    || case
      when p_child.status = 'completed'
        then jsonb_build_object('output', coalesce(p_output_reference, p_child.output))
      else jsonb_build_object('error', p_child.error)
    end
    || case when p_child.warnings = '[]' then '{}' else jsonb_build_object('warnings', p_child.warnings) end;
begin
  update public.task_steps
  set state = case p_child.status when 'completed' then 'done' else 'failed' end,
      output = v_result,
      ended_at = clock_timestamp()
  where task_id = p_child.parent_id and seq = p_child.parent_step_seq and state = 'started';

  -- Count down and wake in one statement: when two children end together, exactly one of them sees zero.
  update public.tasks as parent
  set pending_children = parent.pending_children - 1,
      status = case when woken.is_due then 'pending' else parent.status end,
      logs = case
        when woken.is_due then parent.logs || private.log_line('its subtasks have ended') else parent.logs end
  from (
    select id,
      status = 'pending_subtask' and pending_children = 1 and cancel_requested_at is null as is_due
    from public.tasks
    where id = p_child.parent_id
    for no key update
  ) as woken
  where parent.id = woken.id
  returning parent.* into v_parent;

  if v_parent.runner <> '' then
    perform private.wake_workflow(v_parent.id);
  end if;
  perform private.emit_event(v_parent.id, v_parent.master_task_id, 'subtask.finished', jsonb_build_object(
    'step_seq', p_child.parent_step_seq,
    'subtask_id', p_child.id,
    'agent', p_child.agent_slug,
    'status', p_child.status
  ));
end;
$$;
comment on function private.report_to_parent(public.tasks, jsonb) is
  'Writes the result of an ended child to the parent''s step, decrements pending_children and queues the parent when it reaches zero, a workflow each time. The caller holds the job''s lock.';

create function private.cancelled_error()
returns jsonb
language plpgsql
immutable
set search_path = ''
as $$
begin
  return jsonb_build_object('code', 'TASK_CANCELLED', 'message', 'The task was cancelled');
end;
$$;
comment on function private.cancelled_error() is 'The error of a cancelled task.';

create function private.by_operator(p_reason text)
returns jsonb
language plpgsql
immutable
set search_path = ''
as $$
begin
  return case when p_reason is null then '{}' else jsonb_build_object('by', 'operator', 'reason', p_reason) end;
end;
$$;
comment on function private.by_operator(text) is
  'The part of an event''s payload that says that an operator acted, and why; empty without a reason, because operators always give one.';

create function private.end_task(
  p_task_id uuid, p_status text, p_output jsonb default null, p_error jsonb default null,
  p_output_reference jsonb default null
)
returns boolean
language plpgsql
set search_path = ''
as $$
declare
  v_task public.tasks;
begin
  select * into v_task
  from public.tasks
  where id = p_task_id and finished_at is null
  for no key update;
  if not found then
    return false;
  end if;

  update public.tasks
  set status = p_status,
      output = p_output,
      error = p_error,
      finished_at = clock_timestamp(),
      lease_expires_at = null,
      worker_id = null,
      run_after = null,
      logs = logs || private.log_line(p_status || coalesce(': ' || (p_error ->> 'code'), ''))
  where id = p_task_id
  returning * into v_task;
  -- No descendant may keep running after its task ends. The task has its terminal status by now: a parked task
  -- may not lose its last child.
  perform private.cancel_descendants(p_task_id);
  update public.human_reviews
  set answered_at = clock_timestamp(), comments = 'The task was ' || p_status || ' before an answer came'
  where task_id = p_task_id and answered_at is null;

  perform private.emit_event(v_task.id, v_task.master_task_id, 'task.' || p_status,
    private.output_of_event(v_task.id, coalesce(p_output_reference, p_output))
      || jsonb_build_object('error', p_error, 'warnings', nullif(v_task.warnings, '[]'))
      || private.by_operator(case p_status when 'cancelled' then v_task.cancel_reason end));
  if v_task.parent_id is not null then
    perform private.report_to_parent(v_task, p_output_reference);
  end if;
  return true;
end;
$$;
comment on function private.end_task(uuid, text, jsonb, jsonb, jsonb) is
  'Enters a terminal state; returns false when the task had already ended. The caller holds the job''s lock.';

create function private.end_waiting_as_cancelled(p_task_ids uuid[])
returns void
language plpgsql
set search_path = ''
as $$
begin
  update public.tasks
  set status = 'cancelled',
      error = private.cancelled_error(),
      finished_at = clock_timestamp(),
      run_after = null,
      logs = logs || private.log_line('cancelled: TASK_CANCELLED')
  where id = any (p_task_ids);
  update public.human_reviews
  set answered_at = clock_timestamp(), comments = 'The task was cancelled before an answer came'
  where task_id = any (p_task_ids) and answered_at is null;

  update public.task_steps as step
  set state = 'failed',
      output = jsonb_build_object('agent', child.agent_slug, 'status', child.status, 'error', child.error),
      ended_at = clock_timestamp()
  from public.tasks as child
  where child.id = any (p_task_ids)
    and step.task_id = child.parent_id and step.seq = child.parent_step_seq and step.state = 'started';
  update public.tasks as parent
  set pending_children = parent.pending_children - ended.child_count
  from (
    select parent_id, count(*)::int as child_count
    from public.tasks
    where id = any (p_task_ids)
    group by parent_id
  ) as ended
  where parent.id = ended.parent_id;

  insert into private.task_events (task_id, master_task_id, type, payload)
  select event.task_id, child.master_task_id, event.type, jsonb_strip_nulls(event.payload)
  from public.tasks as child
  cross join lateral (
    values
      (1, child.id, 'task.cancelled', jsonb_build_object('error', child.error) || private.by_operator(child.cancel_reason)),
      (2, child.parent_id, 'subtask.finished', jsonb_build_object(
        'step_seq', child.parent_step_seq,
        'subtask_id', child.id,
        'agent', child.agent_slug,
        'status', child.status
      ))
  ) as event (place, task_id, type, payload)
  where child.id = any (p_task_ids) and event.task_id is not null
  -- Deepest first, as if each child had ended before its parent.
  order by child.depth desc, child.id, event.place;
end;
$$;
comment on function private.end_waiting_as_cancelled(uuid[]) is
  'Does what end_task() does for many waiting tasks, with one statement for each part. No parent needs a wake: each is one of these tasks, is marked as cancelled, or has ended. The caller holds the job''s lock and the tasks.';

create function private.cancel_tasks(p_task_ids uuid[], p_reason text default null)
returns int
language plpgsql
set search_path = ''
as $$
declare
  v_waiting uuid[];
  v_count int;
begin
  -- Mark the tasks first: from then on no other session changes them, and marked tasks are not queued.
  with marked as (
    update public.tasks
    set cancel_reason = case when cancel_requested_at is null then p_reason else cancel_reason end,
        cancel_requested_at = coalesce(cancel_requested_at, clock_timestamp())
    where id = any (p_task_ids) and finished_at is null
    returning id, status
  )
  select count(*), coalesce(array_agg(id) filter (where status <> 'running'), '{}')
  into v_count, v_waiting
  from marked;
  -- A running task ends when its worker notices, at its next checkpoint or heartbeat.
  perform private.end_waiting_as_cancelled(v_waiting);
  return v_count;
end;
$$;
comment on function private.cancel_tasks(uuid[], text) is
  'Ends those of the tasks that wait, marks those that run, and returns how many of both. p_reason: why an operator cancels. The list must include all waiting descendants of each task. The caller holds the job''s lock.';

create function private.cancel_descendants(p_task_id uuid)
returns void
language plpgsql
set search_path = ''
as $$
begin
  if not exists (select from public.tasks where id = p_task_id and pending_children > 0) then
    return;
  end if;
  perform private.cancel_tasks(array(
    with recursive descendant as (
      select id, finished_at from public.tasks where parent_id = p_task_id
      union all
      select child.id, child.finished_at
      from public.tasks as child
      join descendant on child.parent_id = descendant.id
    )
    select id from descendant where finished_at is null
  ));
end;
$$;
comment on function private.cancel_descendants(uuid) is
  'Cancels all descendants of a task that ends. The caller holds the job''s lock.';

create function private.hold_or_cancel(p_task_id uuid, p_epoch bigint)
returns public.tasks
language plpgsql
set search_path = ''
as $$
declare
  v_task public.tasks;
begin
  perform private.lock_job_of(p_task_id);
  v_task := private.hold_task(p_task_id, p_epoch, null);
  if v_task.cancel_requested_at is not null then
    perform private.end_task(p_task_id, 'cancelled', p_error => private.cancelled_error());
    return null;
  end if;
  return v_task;
end;
$$;
comment on function private.hold_or_cancel(uuid, bigint) is
  'The first step of every function that ends a worker''s hold on a task: locks the job and returns the task. When the task was to be cancelled, cancels it and returns null. Raises LEASE_LOST.';
