-- Retries: a task that failed or was cancelled continues from its checkpoint.

create function private.raise_not_retryable(p_task_id uuid, p_reason text, p_hint text)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  perform private.raise_error('TASK_NOT_RETRYABLE', format('Cannot retry task %s: %s', p_task_id, p_reason), p_hint);
end;
$$;
comment on function private.raise_not_retryable(uuid, text, text) is 'Raises TASK_NOT_RETRYABLE.';

create function private.withdraw_result(p_child public.tasks)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_parent public.tasks;
begin
  -- Lock the parent, so that no worker claims it and reads the result at the same time.
  select * into v_parent from public.tasks where id = p_child.parent_id for no key update;
  if v_parent.finished_at is not null or v_parent.cancel_requested_at is not null then
    perform private.raise_not_retryable(p_child.id, 'its parent has ended',
      format('Retry the parent %s, or the master task %s.', v_parent.id, v_parent.master_task_id));
  end if;
  -- A subtask without a step reports no result to its parent, so there is nothing to take back.
  if p_child.parent_step_seq is not null and (
    -- The end of each subtask queues a workflow.
    v_parent.runner <> '' or v_parent.status not in ('pending', 'pending_subtask') or exists (
      select from public.task_steps
      where task_id = v_parent.id and kind in ('model', 'user') and seq > p_child.parent_step_seq
    )
  ) then
    perform private.raise_not_retryable(p_child.id, 'its parent has gone on with its result',
      'Let the parent''s agent decide, or fork the parent from the step that made this subtask.');
  end if;

  update public.task_steps
  set state = 'started', output = null, ended_at = null
  where task_id = v_parent.id and seq = p_child.parent_step_seq;
  update public.tasks set pending_children = pending_children + 1 where id = v_parent.id;
end;
$$;
comment on function private.withdraw_result(public.tasks) is
  'Makes a parent wait again for a subtask whose result it has not read. Raises TASK_NOT_RETRYABLE. The caller holds the job''s lock.';

create function private.assert_transcript_is_kept(p_master_task_id uuid)
returns void
language plpgsql
set search_path = ''
as $$
begin
  -- A shared lock, held until the task is open again: retention drops nothing while it is held.
  perform pg_advisory_xact_lock_shared(hashtextextended('supaswarm:transcripts', 0));
  if (select finished_at from public.tasks where id = p_master_task_id) < (
    select value::timestamptz from private.settings where key = 'transcripts_kept_since'
  ) then
    perform private.raise_error('TASK_NOT_RETRYABLE',
      format('Cannot retry the task: its job %s is older than keep_jobs_days and is being deleted', p_master_task_id),
      'Create a new task.');
  end if;
end;
$$;
comment on function private.assert_transcript_is_kept(uuid) is
  'Raises TASK_NOT_RETRYABLE for a job that retention has begun to delete: without its transcript, a task would repeat its effects.';

create function private.requeue_ended(p_task_id uuid, p_why text)
returns void
language plpgsql
set search_path = ''
as $$
begin
  update private.dead_letters set retried_at = clock_timestamp()
  where task_id = p_task_id and retried_at is null;
  delete from private.tool_tokens where task_id = p_task_id;
  update public.tasks
  set status = 'pending',
      output = null,
      error = null,
      finished_at = null,
      started_at = null,
      cancel_requested_at = null,
      cancel_reason = null,
      attempts = 0,
      failing_since = null,
      deliveries = 0,
      yields = 0,
      rate_limit_waits = 0,
      agent_revision = (select agent.revision from public.agents as agent where agent.id = tasks.agent_id),
      logs = logs || private.log_line(p_why)
  where id = p_task_id;
end;
$$;
comment on function private.requeue_ended(uuid, text) is
  'Puts an ended task back into the queue and clears what its end set. The caller holds the job''s lock and emits the event.';

create function private.delete_verdicts(p_task_id uuid)
returns void
language sql
set search_path = ''
as $$
  with run as (
    select coalesce(max(seq) filter (where kind = 'user'), 0) as begun_by,
      coalesce(max(seq) filter (where kind = 'model' and state = 'done' and not coalesce(input ? 'summarizes_through', false)), 0)
        as last_answer
    from public.task_steps where task_id = p_task_id
  )
  delete from public.task_steps as step
  using run
  where step.task_id = p_task_id and step.kind = 'guardrail'
    -- Once the model has answered, the verdict on the input has been used.
    and step.seq > greatest(run.begun_by, case when step.input ->> 'stage' = 'input' and run.last_answer > run.begun_by
      then 2147483647 else run.last_answer end);
$$;
comment on function private.delete_verdicts(uuid) is
  'Makes the guardrails of an ended task check again the content whose verdict was not used yet: the guardrails or their data may have changed. The trace keeps the old verdicts.';

create function private.ask_again(p_task_id uuid)
returns void
language sql
set search_path = ''
as $$
  with last as (
    select coalesce(max(seq) filter (where kind = 'user'), 0) as message,
      max(seq) filter (where kind = 'model' and state = 'done' and not coalesce(input ? 'summarizes_through', false)) as answer,
      max(seq) filter (where kind = 'model' and state = 'started') as open_call
    from public.task_steps where task_id = p_task_id
  )
  update public.task_steps as step
  set input = coalesce(step.input, '{}') || '{"retried": true}'
  from last
  where step.task_id = p_task_id and step.seq = last.answer and last.answer > last.message
    -- Otherwise the task did not fail because of its transcript: the open call is made again.
    and coalesce(last.open_call, 0) < last.answer;
$$;
comment on function private.ask_again(uuid) is
  'Marks the last answer of an ended task as retried: decide() starts its counts anew after it, and asks the model again instead of coming to the same end. Prompts leave out what only led to that end; the transcript keeps it.';

create function private.reopen_task(p_task_id uuid, p_reason text default null)
returns text
language plpgsql
set search_path = ''
as $$
declare
  v_task public.tasks;
begin
  perform private.lock_job_of(p_task_id);
  select * into v_task from public.tasks where id = p_task_id for no key update;
  perform private.assert_transcript_is_kept(v_task.master_task_id);
  if v_task.status is null or v_task.status not in ('failed', 'cancelled') then
    perform private.raise_not_retryable(p_task_id, 'it is ' || coalesce(v_task.status, 'deleted'),
      'Only a task that failed or was cancelled can be retried.');
  end if;
  if v_task.parent_id is not null then
    perform private.withdraw_result(v_task);
  end if;

  -- The end of the task closed its open review, whose step still has no answer.
  update public.human_reviews as review
  set answered_at = null, comments = null
  from public.task_steps as step
  where review.task_id = p_task_id
    and review.approved is null
    and step.task_id = review.task_id
    and step.seq = review.seq
    and step.state = 'started';
  perform private.delete_verdicts(p_task_id);
  perform private.ask_again(p_task_id);
  perform private.reopen_workflow_step(v_task);
  perform private.requeue_ended(p_task_id, 'retried by request');
  perform private.emit_event(p_task_id, v_task.master_task_id, 'task.retried',
    jsonb_build_object('error', v_task.error, 'retry_at', clock_timestamp(), 'reason', 'requested')
    || private.by_operator(p_reason));
  return 'pending';
end;
$$;
comment on function private.reopen_task(uuid, text) is
  'Makes an ended task continue from its checkpoint with another model call, with new attempts and a new wall time; its usage is kept. p_reason: why an operator retries it. Raises TASK_NOT_RETRYABLE.';

create function private.retry_task(p_task_id uuid)
returns text
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_task public.tasks;
begin
  perform private.assert_person_may('retry the task', 'swarm:run');
  v_task := private.own_task(p_task_id);
  -- The audience may have become smaller since the task was created.
  perform private.active_agent(v_task.agent_slug, v_task.created_by, 'retry the task');
  -- Lock the job before the quota's row, as fork_task() does, so that all requests take locks in the same order.
  perform private.lock_job(v_task.master_task_id);
  perform private.take_task_creation(v_task.created_by, 'retry the task');
  return private.reopen_task(p_task_id);
end;
$$;
comment on function private.retry_task(uuid) is
  'Retries a failed or cancelled task. Definer: users may not write tasks or queues; assert_person_may() and own_task() check the caller.';

create function public.retry_task(p_task_id uuid)
returns text
language sql
set search_path = ''
as $$
  select private.retry_task(p_task_id);
$$;
comment on function public.retry_task(uuid) is
  'Retries a task that failed or was cancelled: it continues from its checkpoint and asks its model again. Returns its status. For the owner, the owner''s OAuth clients with the scope swarm:run and the service, never for an agent. Counts as the creation of a task. Raises TASK_NOT_FOUND, TASK_NOT_RETRYABLE, AGENT_NOT_FOUND, AGENT_INACTIVE, QUOTA_EXCEEDED, AGENT_NOT_ALLOWED, INSUFFICIENT_SCOPE.';
revoke all on function public.retry_task(uuid) from public, anon, authenticated, service_role;
grant execute on function private.retry_task(uuid), public.retry_task(uuid) to authenticated, service_role;

-- Dead letters --------------------------------------------------------------------------------

create function private.redrive(p_dead_letter_id bigint, p_reason text default null)
returns uuid
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_task_id uuid := (select task_id from private.dead_letters where id = p_dead_letter_id);
begin
  perform private.assert_not_agent('redrive the dead letter');
  if v_task_id is null then
    perform private.raise_error('DEAD_LETTER_NOT_FOUND',
      format('Cannot redrive dead letter %s: it does not exist', coalesce(p_dead_letter_id::text, 'null')),
      'Read the ids from the view dead_letters.');
  end if;
  perform private.reopen_task(v_task_id, p_reason);
  return v_task_id;
end;
$$;
comment on function private.redrive(bigint, text) is
  'Retries the task of a dead letter. Definer: the service may not write tasks or queues; only the service may execute this function.';

create function public.redrive(p_dead_letter_id bigint)
returns uuid
language sql
set search_path = ''
as $$
  select private.redrive(p_dead_letter_id);
$$;
comment on function public.redrive(bigint) is
  'Retries the task of a dead letter and returns the task''s id. For the service. Raises DEAD_LETTER_NOT_FOUND, TASK_NOT_RETRYABLE, AGENT_NOT_ALLOWED.';
revoke all on function public.redrive(bigint) from public, anon, authenticated, service_role;
grant execute on function private.redrive(bigint, text), public.redrive(bigint) to service_role;

create view public.dead_letters with (security_invoker = true) as
  select letter.id, letter.task_id, task.master_task_id, task.agent_slug, task.created_by,
    letter.reason, letter.error, letter.created_at, letter.retried_at
  from private.dead_letters as letter
  join public.tasks as task on task.id = letter.task_id;
revoke all on public.dead_letters from anon, authenticated, service_role;
comment on view public.dead_letters is
  'Tasks that ran out of attempts or deliveries. Operators pass their ids to redrive(). For the service.';
grant select on public.dead_letters to service_role;
