-- Second chances: a task that goes on after its end, and a new job that goes on from an old step.

create function private.raise_not_retryable(p_task_id uuid, p_reason text, p_hint text)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  raise sqlstate 'PT409' using
    message = format('Cannot retry task %s: %s', p_task_id, p_reason),
    detail = 'TASK_NOT_RETRYABLE',
    hint = p_hint;
end;
$$;
comment on function private.raise_not_retryable(uuid, text, text) is 'Raises TASK_NOT_RETRYABLE.';

create function private.take_result_back(p_child public.tasks)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_parent public.tasks;
begin
  -- Locked, so that no worker claims the parent and reads the result while it is taken back.
  select * into v_parent from public.tasks where id = p_child.parent_id for no key update;
  if v_parent.finished_at is not null or v_parent.cancel_requested_at is not null then
    perform private.raise_not_retryable(p_child.id, 'its parent has ended',
      format('Retry the parent %s, or the master task %s.', v_parent.id, v_parent.master_task_id));
  end if;
  -- Nothing of a subtask without a step is handed to its parent, so nothing has to be taken back.
  if p_child.parent_step_seq is not null and (
    v_parent.status not in ('pending', 'pending_subtask') or exists (
      select from public.task_steps
      where task_id = v_parent.id and kind = 'model' and seq > p_child.parent_step_seq
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
comment on function private.take_result_back(public.tasks) is
  'Lets a parent wait again for a subtask whose result it has not read. Raises TASK_NOT_RETRYABLE. The caller holds the job''s lock.';

create function private.assert_transcript_is_kept(p_master_task_id uuid)
returns void
language plpgsql
set search_path = ''
as $$
begin
  -- Shared with others who ask, and held until the task is open again: nothing is dropped meanwhile.
  perform pg_advisory_xact_lock_shared(hashtextextended('supaswarm:transcripts', 0));
  if (select finished_at from public.tasks where id = p_master_task_id) < (
    select value::timestamptz from private.settings where key = 'transcripts_kept_since'
  ) then
    raise sqlstate 'PT409' using
      message = format('Cannot retry the task: its job %s is older than keep_jobs_days and is being deleted', p_master_task_id),
      detail = 'TASK_NOT_RETRYABLE',
      hint = 'Create a new task.';
  end if;
end;
$$;
comment on function private.assert_transcript_is_kept(uuid) is
  'Raises TASK_NOT_RETRYABLE for a job that retention has begun to delete: without its transcript a task would repeat its effects.';

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
      attempts = 0,
      failing_since = null,
      deliveries = 0,
      rate_limit_waits = 0,
      message_id = private.send_message(id),
      logs = logs || private.log_line(p_why)
  where id = p_task_id;
end;
$$;
comment on function private.requeue_ended(uuid, text) is
  'Puts an ended task back into the queue, as if it had not ended. The caller holds the job''s lock and says so in the trace.';

create function private.reopen_task(p_task_id uuid)
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
    perform private.take_result_back(v_task);
  end if;

  -- The end closed the question that the task waited with; its step still has no answer.
  update public.human_reviews as review
  set answered_at = null, comments = null
  from public.task_steps as step
  where review.task_id = p_task_id
    and review.approved is null
    and step.task_id = review.task_id
    and step.seq = review.seq
    and step.state = 'started';
  perform private.requeue_ended(p_task_id, 'retried by request');
  perform private.emit_event(p_task_id, v_task.master_task_id, 'task.retried',
    jsonb_build_object('error', v_task.error, 'retry_at', clock_timestamp(), 'reason', 'requested'));
  return 'pending';
end;
$$;
comment on function private.reopen_task(uuid) is
  'Lets an ended task go on from its checkpoint, with new attempts and its wall time anew; what it spent stays spent. Raises TASK_NOT_RETRYABLE.';

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
  -- Before the quota's row, as in fork_task(): two requests take their locks in one order.
  perform private.lock_job(v_task.master_task_id);
  perform private.take_task_creation(v_task.created_by, 'retry the task');
  return private.reopen_task(p_task_id);
end;
$$;
comment on function private.retry_task(uuid) is
  'Lets a failed or cancelled task go on. Definer: users may not write tasks or queues; assert_person_may() and own_task() check the caller.';
grant execute on function private.retry_task(uuid) to authenticated;
grant execute on function private.retry_task(uuid) to service_role;

create function public.retry_task(p_task_id uuid)
returns text
language sql
set search_path = ''
as $$
  select private.retry_task(p_task_id);
$$;
comment on function public.retry_task(uuid) is
  'Lets a task that failed or was cancelled go on from its checkpoint and returns its status. For the owner, the owner''s OAuth clients with the scope swarm:run and the service, never for an agent. Counts as a creation of a task. Raises TASK_NOT_FOUND, TASK_NOT_RETRYABLE, AGENT_NOT_FOUND, AGENT_INACTIVE, QUOTA_EXCEEDED, AGENT_NOT_ALLOWED, INSUFFICIENT_SCOPE.';
grant execute on function public.retry_task(uuid) to authenticated;
grant execute on function public.retry_task(uuid) to service_role;

-- Dead letters --------------------------------------------------------------------------------

create function private.redrive(p_dead_letter_id bigint)
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
    raise sqlstate 'PT404' using
      message = format('Cannot redrive dead letter %s: there is none', coalesce(p_dead_letter_id::text, 'null')),
      detail = 'DEAD_LETTER_NOT_FOUND',
      hint = 'Read the ids from the view dead_letters.';
  end if;
  perform private.reopen_task(v_task_id);
  return v_task_id;
end;
$$;
comment on function private.redrive(bigint) is
  'Retries the task of a dead letter. Definer: the service may not write tasks or queues; only the service may execute it.';
grant execute on function private.redrive(bigint) to service_role;

create function public.redrive(p_dead_letter_id bigint)
returns uuid
language sql
set search_path = ''
as $$
  select private.redrive(p_dead_letter_id);
$$;
comment on function public.redrive(bigint) is
  'Retries the task of a dead letter and returns the task''s id. For the service. Raises DEAD_LETTER_NOT_FOUND, TASK_NOT_RETRYABLE, AGENT_NOT_ALLOWED.';
grant execute on function public.redrive(bigint) to service_role;

create view public.dead_letters with (security_invoker = true) as
  select letter.id, letter.task_id, task.master_task_id, task.agent_slug, task.created_by,
    letter.reason, letter.error, letter.created_at, letter.retried_at
  from private.dead_letters as letter
  join public.tasks as task on task.id = letter.task_id;
comment on view public.dead_letters is
  'Tasks that ran out of attempts or deliveries, for operators; redrive() takes their ids. For the service.';
grant select on public.dead_letters to service_role;

-- Forks ---------------------------------------------------------------------------------------

create function private.assert_fork_point(p_task_id uuid, p_from_seq int)
returns void
language plpgsql
stable
set search_path = ''
as $$
declare
  -- The steps that can be taken over: all before the first one without a result.
  v_last_point int := coalesce(
    (select min(seq) from public.task_steps where task_id = p_task_id and state = 'started'),
    (select max(seq) + 1 from public.task_steps where task_id = p_task_id),
    1
  );
begin
  if p_from_seq is null or p_from_seq not between 1 and v_last_point then
    raise sqlstate 'PT422' using
      message = format('Cannot fork task %s from step %s', p_task_id, coalesce(p_from_seq::text, 'null')),
      detail = 'FORK_POINT_INVALID',
      hint = format('Choose a step from 1 to %s; the fork takes over the steps before it.', v_last_point);
  end if;
end;
$$;
comment on function private.assert_fork_point(uuid, int) is
  'Raises FORK_POINT_INVALID unless every step before p_from_seq has its result.';

create function private.saved_data_before(p_task public.tasks, p_from_seq int)
returns jsonb
language sql
stable
set search_path = ''
as $$
  select coalesce(
    jsonb_object_agg(step.input #>> '{arguments,key}', step.input #> '{arguments,value}' order by step.seq), '{}'
  )
  from public.task_steps as step
  where step.task_id = p_task.id
    and step.seq < p_from_seq
    and step.name = 'save_intermediate_data'
    and step.state = 'done'
    -- What was too large to be kept with the task is a file.
    and p_task.intermediate_data ? (step.input #>> '{arguments,key}');
$$;
comment on function private.saved_data_before(public.tasks, int) is
  'The intermediate data of a task as it was before a step.';

create function private.budget_left(p_master public.tasks)
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
declare
  v_budget_job_id constant uuid := private.budget_job_of(p_master.id);
  v_totals constant private.job_totals := private.shared_spending(v_budget_job_id);
  v_spent constant jsonb := jsonb_build_object(
    'max_input_tokens', v_totals.input_tokens,
    'max_output_tokens', v_totals.output_tokens,
    'max_cost_micro_usd', v_totals.cost_micro_usd,
    -- The fork takes the place of one of the job's tasks.
    'max_tasks', greatest(v_totals.task_count - 1, 0)
  );
  v_cap text;
  v_left numeric;
  v_budget jsonb := coalesce((select budget from public.tasks where id = v_budget_job_id), p_master.budget);
begin
  for v_cap in select cap from jsonb_object_keys(v_spent) as cap where jsonb_typeof(v_budget -> cap) = 'number' loop
    v_left := (v_budget ->> v_cap)::numeric - (v_spent ->> v_cap)::numeric;
    if v_left <= 0 then
      raise sqlstate 'PT422' using
        message = format('Cannot fork the task: its job has used up its %s of %s', v_cap, v_budget ->> v_cap),
        detail = 'BUDGET_EXCEEDED',
        hint = 'Create a new task with a budget of its own.';
    end if;
    v_budget := v_budget || jsonb_build_object(v_cap, v_left);
  end loop;
  return v_budget;
end;
$$;
comment on function private.budget_left(public.tasks) is
  'What a job and its forks have left of the budget that they share, for one more fork: tokens, cost and tasks less what they have spent; steps, depth and wall time count for each job anew. Raises BUDGET_EXCEEDED when a cap is used up.';

create function private.fork_task(p_task_id uuid, p_from_seq int)
returns uuid
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_source public.tasks := private.own_task(p_task_id);
  v_agent public.agents;
  v_id uuid := private.new_id();
begin
  perform private.assert_person_may('fork the task', 'swarm:run');
  -- Retention lists the files of a job that nobody else refers to: not while they are taken over.
  perform private.lock_job(v_source.master_task_id);
  v_source := private.own_task(p_task_id);
  perform private.assert_fork_point(p_task_id, p_from_seq);
  v_agent := private.active_agent(v_source.agent_slug, v_source.created_by);
  perform private.take_task_creation(v_source.created_by, 'fork the task');

  insert into public.tasks (
    id, master_task_id, agent_id, agent_slug, input, created_by, priority, concurrency_key,
    metadata, budget, traceparent, tracestate, output_schema, max_attempts, intermediate_data, storage_paths, message_id, logs
  )
  select
    v_id, v_id, v_agent.id, v_agent.slug, v_source.input, v_source.created_by, v_source.priority,
    v_source.concurrency_key, v_source.metadata, private.capped_budget(private.budget_left(master), v_source.created_by),
    v_source.traceparent, v_source.tracestate, v_source.output_schema, v_source.max_attempts,
    private.saved_data_before(v_source, p_from_seq), v_source.storage_paths,
    private.send_message(v_id),
    array[private.log_line(format('forked from task %s before step %s', p_task_id, p_from_seq))]
  from public.tasks as master
  where master.id = v_source.master_task_id;
  -- Its steps hold results of the first job's subtasks, too.
  insert into private.job_totals (master_task_id, task_count, data_flows)
  select v_id, 1, data_flows from private.job_totals where master_task_id = v_source.master_task_id;
  insert into private.budget_shares (job_id, budget_job_id)
  values (v_id, private.budget_job_of(v_source.master_task_id));
  insert into private.job_clients (job_id, client_id, scopes, noted_at)
  select v_id, client_id, scopes, noted_at from private.job_clients where job_id = v_source.master_task_id;
  perform private.note_calling_client(v_id, v_source.created_by);

  -- Without their usage: the first job has paid for them.
  insert into public.task_steps (
    task_id, seq, kind, state, name, call_id, input, output, idempotency_key, epoch, started_at, ended_at
  )
  select v_id, seq, kind, state, name, call_id, input, output, v_id || ':' || seq, 0, started_at, ended_at
  from public.task_steps
  where task_id = p_task_id and seq < p_from_seq;
  insert into private.hidden_step_outputs (task_id, seq, output)
  select v_id, seq, output
  from private.hidden_step_outputs
  where task_id = p_task_id and seq < p_from_seq;
  perform private.emit_event(v_id, v_id, 'task.created', jsonb_build_object(
    'agent', v_agent.slug,
    'forked_from', jsonb_build_object('task_id', p_task_id, 'step_seq', p_from_seq)
  ));
  return v_id;
end;
$$;
comment on function private.fork_task(uuid, int) is
  'Creates a master task that starts with a copy of another task''s first steps. Definer: users may not write tasks or queues; assert_person_may() and own_task() check the caller.';
grant execute on function private.fork_task(uuid, int) to authenticated;
grant execute on function private.fork_task(uuid, int) to service_role;

create function public.fork_task(p_task_id uuid, p_from_seq int)
returns uuid
language sql
set search_path = ''
as $$
  select private.fork_task(p_task_id, p_from_seq);
$$;
comment on function public.fork_task(uuid, int) is
  'Creates a new job that goes on from the steps of a task before p_from_seq, with its input, agent and owner, spending what is left of its job''s budget together with the job and its other forks, and returns the new master''s id. For the owner, the owner''s OAuth clients with the scope swarm:run and the service, never for an agent. Raises TASK_NOT_FOUND, FORK_POINT_INVALID, AGENT_NOT_FOUND, AGENT_INACTIVE, BUDGET_EXCEEDED, QUOTA_EXCEEDED, AGENT_NOT_ALLOWED, INSUFFICIENT_SCOPE.';
grant execute on function public.fork_task(uuid, int) to authenticated;
grant execute on function public.fork_task(uuid, int) to service_role;
