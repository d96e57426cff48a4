-- The steps of workflows. Code reads them, runs on to what it has to wait for, and records what it did. A step that
-- waits is a started step with input.wait: sleep, signal or retry (until a time), child (a subtask) or review.

create function private.settle_waits(p_task public.tasks)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_now constant timestamptz := clock_timestamp();
  v_step record;
  v_signal public.task_signals;
begin
  for v_step in
    select seq, name, input ->> 'wait' as wait, input ->> 'signal' as signal, (input ->> 'until')::timestamptz as until
    from public.task_steps
    where task_id = (p_task).id and state = 'started' and input ->> 'wait' in ('sleep', 'signal')
    order by seq
  loop
    v_signal := null;
    if v_step.wait = 'signal' then
      update public.task_signals set step_seq = v_step.seq
      where id = (
        select id from public.task_signals
        where task_id = (p_task).id and name = v_step.signal and step_seq is null order by id limit 1
      )
      returning * into v_signal;
    end if;
    continue when v_signal.id is null and (v_step.until is null or v_step.until > v_now);
    update public.task_steps
    set state = 'done', ended_at = v_now,
        output = case when v_signal.id is not null
          then jsonb_build_object('value', v_signal.data, 'signal_id', v_signal.id)
          else jsonb_build_object('value', null, 'is_timed_out', v_step.wait = 'signal') end
    where task_id = (p_task).id and seq = v_step.seq;
    perform private.emit_event((p_task).id, (p_task).master_task_id, 'step.completed',
      jsonb_build_object('step_seq', v_step.seq, 'name', v_step.name, 'signal_id', v_signal.id));
  end loop;
end;
$$;
comment on function private.settle_waits(public.tasks) is
  'Ends the steps of a workflow whose wait is over: their time has come, or a signal, each of which is taken once. The caller holds the task.';

create function private.workflow_contexts(p_tasks public.tasks[])
returns table (task_id uuid, epoch bigint, context json)
language plpgsql
set search_path = ''
as $$
begin
  perform private.settle_waits(task) from unnest(p_tasks) as task
  where exists (
    select from public.task_steps as step where step.task_id = task.id and step.state = 'started'
  );
  return query
    select task.id, task.epoch, json_build_object(
      'workflow', task.agent_slug, 'input', task.input, 'runs_exclusively', task.runs_exclusively
    )
    from unnest(p_tasks) as task;
end;
$$;
comment on function private.workflow_contexts(public.tasks[]) is
  'What a runner needs to continue claimed tasks, except for their steps, which workflow_steps() returns as rows: as JSON, 500 steps take ten times as long. Ends the waits that are over.';

create function private.workflow_steps(p_task_ids jsonb)
returns table (task_id uuid, seq int, kind text, name text, state text, input jsonb, output jsonb, epoch text)
language sql
stable
set search_path = ''
as $$
  select step.task_id, step.seq, step.kind, step.name, step.state,
    case when step.state = 'started' then step.input end, step.output, step.epoch::text
  from public.task_steps as step
  where step.task_id = any (array(select jsonb_array_elements_text(workflow_steps.p_task_ids)::uuid))
    and step.kind in ('step', 'system')
  order by step.task_id, step.seq;
$$;
comment on function private.workflow_steps(jsonb) is 'The steps of tasks [id] as a workflow''s code reads them. Called by runners.';

create function private.write_workflow_steps(p_task public.tasks, p_steps jsonb)
returns void
language plpgsql
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
declare
  v_max_steps constant numeric := private.cap(
    case when p_task.parent_id is null then p_task.budget
      else (select budget from public.tasks where id = p_task.master_task_id) end,
    'max_steps', 10000);
begin
  if (select max((step ->> 'seq')::int) from jsonb_array_elements(p_steps) as step) > v_max_steps then
    perform private.raise_error('STEPS_EXCEEDED',
      format('Cannot continue task %s: it has used all of its %s steps', p_task.id, v_max_steps),
      'Create the task with a larger max_steps in its budget, or split the work into subtasks.');
  end if;
  with step as materialized (
    select * from jsonb_to_recordset(p_steps) as step (
      seq int, kind text, name text, state text, input jsonb, output jsonb, started_at timestamptz
    )
  ),
  changed as (
    update public.task_steps as stored
    set state = step.state, input = coalesce(step.input, stored.input), output = step.output, epoch = p_task.epoch,
        ended_at = case when step.state <> 'started' then clock_timestamp() end
    from step
    where stored.task_id = p_task.id and stored.seq = step.seq and stored.state = 'started'
    returning stored.seq
  ),
  added as (
    insert into public.task_steps (task_id, seq, kind, state, name, input, output, epoch, started_at, ended_at)
    select p_task.id, step.seq, step.kind, step.state, step.name, step.input, step.output, p_task.epoch,
      coalesce(step.started_at, clock_timestamp()), case when step.state <> 'started' then clock_timestamp() end
    from step
    where not exists (select from public.task_steps as stored where stored.task_id = p_task.id and stored.seq = step.seq)
    returning seq
  )
  insert into private.task_events (task_id, master_task_id, type, payload)
  select p_task.id, p_task.master_task_id, case step.state when 'done' then 'step.completed' else 'step.failed' end,
    jsonb_build_object('step_seq', step.seq, 'name', step.name)
  from step
  join (select seq from changed union all select seq from added) as written using (seq)
  where step.state <> 'started'
  order by step.seq;
  perform private.record_progress(p_task, true);
  perform private.debit_job(p_task.master_task_id, p_task.created_by, pg_column_size(p_steps));
end;
$$;
comment on function private.write_workflow_steps(public.tasks, jsonb) is
  'Writes steps [{seq, kind, name, state, input, output, started_at}] of a workflow; one that has ended keeps its result. The caller holds the task. Raises STEPS_EXCEEDED.';

create function private.record_workflow(p_task_id uuid, p_epoch bigint, p_lease_seconds int, p_steps jsonb)
returns boolean
language plpgsql
set search_path = ''
as $$
declare
  v_children constant jsonb := jsonb_path_query_array(p_steps, '$[*] ? (@.state == "started" && @.input.wait == "child")');
  v_task public.tasks;
begin
  if v_children <> '[]' then
    perform private.lock_job_of(p_task_id);
  end if;
  v_task := private.hold_task(p_task_id, p_epoch, p_lease_seconds);
  if v_task.cancel_requested_at is not null then
    return true;
  end if;
  perform private.write_workflow_steps(v_task, p_steps);
  if v_children <> '[]' then
    perform from private.spawn_subtasks(p_task_id, p_epoch, p_lease_seconds, (
      select jsonb_agg(jsonb_build_object(
        'seq', child -> 'seq', 'agent', child #> '{input,agent}', 'input', child #> '{input,input}'
      ))
      from jsonb_array_elements(v_children) as child
    ));
  end if;
  return false;
end;
$$;
comment on function private.record_workflow(uuid, bigint, int, jsonb) is
  'The checkpoint of a workflow, which also creates the subtasks that its steps wait for. Returns true, and records nothing, when the task is to be cancelled. Raises LEASE_LOST, STEPS_EXCEEDED and the codes of spawn_subtasks(). Called by runners.';

create function private.suspend_workflow(p_task_id uuid, p_epoch bigint, p_waiting jsonb)
returns text
language plpgsql
set search_path = ''
as $$
declare
  v_task public.tasks := private.hold_or_cancel(p_task_id, p_epoch);
  v_review record;
  v_waits text[];
  v_until timestamptz;
begin
  if v_task.id is null then
    return 'cancelled';
  end if;
  perform private.settle_waits(v_task);
  -- Something has come since the runner read the steps.
  if exists (
    select from public.task_steps where task_id = p_task_id and p_waiting @> to_jsonb(seq) and state <> 'started'
  ) then
    return 'continue';
  end if;
  for v_review in
    insert into public.human_reviews (task_id, seq, question, options, context)
    select p_task_id, seq, input ->> 'question', input -> 'options', input -> 'context'
    from public.task_steps
    where task_id = p_task_id and state = 'started' and input ->> 'wait' = 'review'
    order by seq
    on conflict (task_id, seq) do nothing
    returning seq, question, options, context
  loop
    perform private.emit_event(p_task_id, v_task.master_task_id, 'review.requested', jsonb_build_object(
      'step_seq', v_review.seq, 'kind', 'question', 'question', v_review.question,
      'options', v_review.options, 'context', v_review.context));
  end loop;
  select array_agg(distinct input ->> 'wait'), min((input ->> 'until')::timestamptz)
  into v_waits, v_until
  from public.task_steps
  where task_id = p_task_id and state = 'started' and input ? 'wait';
  if v_until is null and 'review' = any (v_waits) then
    perform private.park(v_task, 'needs_human_review');
  elsif v_waits = array['child'] and v_task.pending_children > 0 then
    perform private.park(v_task, 'pending_subtask');
  else
    perform private.release_task(p_task_id, coalesce(v_until, 'infinity'));
    update public.tasks set deliveries = 0, logs = logs || private.log_line('waits') where id = p_task_id;
    perform private.emit_event(p_task_id, v_task.master_task_id, 'task.parked',
      jsonb_build_object('status', 'pending', 'until', v_until));
  end if;
  return 'parked';
end;
$$;
comment on function private.suspend_workflow(uuid, bigint, jsonb) is
  'Parks a workflow that cannot go on and asks the questions of its waiting reviews. Returns parked, cancelled, or continue when one of the steps p_waiting [seq] has ended meanwhile: then the runner reads them again. The end of each wait queues the task. Raises LEASE_LOST. Called by runners.';

create function private.finish_workflow(p_task_id uuid, p_epoch bigint, p_output jsonb)
returns text
language plpgsql
set search_path = ''
as $$
declare
  v_task constant public.tasks := private.hold_or_cancel(p_task_id, p_epoch);
begin
  if v_task.id is null then
    return 'cancelled';
  end if;
  perform private.end_task(p_task_id, 'completed', p_output);
  return 'completed';
end;
$$;
comment on function private.finish_workflow(uuid, bigint, jsonb) is
  'Completes a workflow, or cancels it when that was requested. Subtasks that still run, such as those that lost a race, are cancelled. Raises LEASE_LOST. Called by runners.';

create function private.reopen_workflow_step(p_task public.tasks)
returns void
language sql
set search_path = ''
as $$
  with reopened as (
    delete from public.task_steps
    where task_id = (p_task).id and (p_task).runner <> '' and state = 'failed' and name = (p_task).error #>> '{details,step}'
    returning seq
  )
  -- Another subtask takes the place of one that failed.
  update public.tasks as child set parent_step_seq = null
  from reopened
  where child.parent_id = (p_task).id and child.parent_step_seq = reopened.seq;
$$;
comment on function private.reopen_workflow_step(public.tasks) is
  'Deletes the failed step that ended a workflow, so that a retry runs it again.';
