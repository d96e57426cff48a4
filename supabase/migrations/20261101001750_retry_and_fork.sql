-- Retries and forks: a task that continues after it ended, and a new job that continues from an earlier step.

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
  -- Lock the parent, so that no worker claims it and reads the result at the same time.
  select * into v_parent from public.tasks where id = p_child.parent_id for no key update;
  if v_parent.finished_at is not null or v_parent.cancel_requested_at is not null then
    perform private.raise_not_retryable(p_child.id, 'its parent has ended',
      format('Retry the parent %s, or the master task %s.', v_parent.id, v_parent.master_task_id));
  end if;
  -- A subtask without a step reports no result to its parent, so there is nothing to take back.
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
    raise sqlstate 'PT409' using
      message = format('Cannot retry the task: its job %s is older than keep_jobs_days and is being deleted', p_master_task_id),
      detail = 'TASK_NOT_RETRYABLE',
      hint = 'Create a new task.';
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
  'Puts an ended task back into the queue and clears what its end set. The caller holds the job''s lock and emits the event.';

create function private.forget_verdicts(p_task_id uuid)
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
comment on function private.forget_verdicts(uuid) is
  'Makes the guardrails of an ended task check again the content whose verdict was not used yet: the guardrails or their data may have changed. The trace keeps the old verdicts.';

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

  -- The end of the task closed its open review, whose step still has no answer.
  update public.human_reviews as review
  set answered_at = null, comments = null
  from public.task_steps as step
  where review.task_id = p_task_id
    and review.approved is null
    and step.task_id = review.task_id
    and step.seq = review.seq
    and step.state = 'started';
  perform private.forget_verdicts(p_task_id);
  perform private.requeue_ended(p_task_id, 'retried by request');
  perform private.emit_event(p_task_id, v_task.master_task_id, 'task.retried',
    jsonb_build_object('error', v_task.error, 'retry_at', clock_timestamp(), 'reason', 'requested'));
  return 'pending';
end;
$$;
comment on function private.reopen_task(uuid) is
  'Makes an ended task continue from its checkpoint, with new attempts and a new wall time; its usage is kept. Raises TASK_NOT_RETRYABLE.';

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
  'Retries a task that failed or was cancelled: it continues from its checkpoint. Returns its status. For the owner, the owner''s OAuth clients with the scope swarm:run and the service, never for an agent. Counts as the creation of a task. Raises TASK_NOT_FOUND, TASK_NOT_RETRYABLE, AGENT_NOT_FOUND, AGENT_INACTIVE, QUOTA_EXCEEDED, AGENT_NOT_ALLOWED, INSUFFICIENT_SCOPE.';
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
      message = format('Cannot redrive dead letter %s: it does not exist', coalesce(p_dead_letter_id::text, 'null')),
      detail = 'DEAD_LETTER_NOT_FOUND',
      hint = 'Read the ids from the view dead_letters.';
  end if;
  perform private.reopen_task(v_task_id);
  return v_task_id;
end;
$$;
comment on function private.redrive(bigint) is
  'Retries the task of a dead letter. Definer: the service may not write tasks or queues; only the service may execute this function.';
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
  'Tasks that ran out of attempts or deliveries. Operators pass their ids to redrive(). For the service.';
grant select on public.dead_letters to service_role;

-- Forks ---------------------------------------------------------------------------------------

create function private.assert_fork_point(p_task_id uuid, p_from_seq int)
returns void
language plpgsql
stable
set search_path = ''
as $$
declare
  -- A fork can copy all steps before the first one without a result.
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
    -- Data that was too large to keep with the task is in a file.
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
    -- The fork replaces one of the job's tasks.
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
        hint = 'Create a new task with its own budget.';
    end if;
    v_budget := v_budget || jsonb_build_object(v_cap, v_left);
  end loop;
  return v_budget;
end;
$$;
comment on function private.budget_left(public.tasks) is
  'What remains of the budget that a job and its forks share, for one more fork: tokens, cost and tasks minus what they have spent. Steps, depth and wall time count separately for each job. Raises BUDGET_EXCEEDED when a cap is used up.';

create function private.assert_task_input(p_attempt text, p_input jsonb)
returns void
language plpgsql
set search_path = ''
as $$
begin
  if p_input is null or jsonb_typeof(p_input) not in ('object', 'string') or p_input = '""' then
    raise sqlstate 'PT400' using
      message = format('Cannot %s: the input is neither an object nor a non-empty text', p_attempt),
      detail = 'TASK_INPUT_INVALID',
      hint = 'Send the input as an object or as text.';
  end if;
  if not private.is_within_limits(p_input) then
    raise sqlstate 'PT400' using
      message = format('Cannot %s: the input is larger than 1 MiB, 200 levels or 70,000 values', p_attempt),
      detail = 'TASK_INPUT_INVALID',
      hint = 'Send less, or store it as a file or document and name that.';
  end if;
end;
$$;
comment on function private.assert_task_input(text, jsonb) is
  'Raises TASK_INPUT_INVALID unless the input is an object or a non-empty text within the size limits of is_within_limits().';

create function private.raise_fork_changes_invalid(p_problem text, p_hint text)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  raise sqlstate 'PT422' using
    message = 'Cannot fork the task: ' || p_problem,
    detail = 'FORK_CHANGES_INVALID',
    hint = p_hint;
end;
$$;
comment on function private.raise_fork_changes_invalid(text, text) is 'Raises FORK_CHANGES_INVALID.';

create function private.turn_of_call(p_task_id uuid, p_seq int)
returns int
language sql
stable
set search_path = ''
as $$
  -- The calls of a model's answer have the numbers after it.
  select answer.seq
  from (
    select seq, jsonb_array_length(output -> 'tool_calls') as call_count
    from public.task_steps
    where task_id = p_task_id and kind = 'model' and state = 'done' and seq < p_seq
    order by seq desc
    limit 1
  ) as answer
  where p_seq <= answer.seq + answer.call_count;
$$;
comment on function private.turn_of_call(uuid, int) is
  'The number of the model''s answer that requested the call p_seq; null when that step is not a call.';

create function private.assert_fork_changes(p_task_id uuid, p_from_seq int, p_changes jsonb)
returns void
language plpgsql
stable
set search_path = ''
as $$
declare
  v_step public.task_steps;
begin
  if jsonb_typeof(p_changes) <> 'object'
    or exists (select from jsonb_object_keys(p_changes) as key where key not in ('input', 'arguments', 'answer'))
  then
    perform private.raise_fork_changes_invalid('p_changes is not an object of changes',
      'Send an object with any of input, arguments and answer.');
  end if;
  if p_changes ? 'input' then
    perform private.assert_task_input('fork the task', p_changes -> 'input');
    -- Guardrails do not check an input that the model has already answered.
    if p_from_seq > 1 and (
      exists (select from public.task_steps where task_id = p_task_id and kind = 'guardrail' and input ->> 'stage' = 'input')
      or exists (
        select from public.tasks as task
        join public.agent_guardrails as guardrail on guardrail.agent_id = task.agent_id
        where task.id = p_task_id and guardrail.stage = 'input'
      )
    ) then
      perform private.raise_fork_changes_invalid('the input has to pass the guardrails of the agent',
        'Fork from step 1 to change the input.');
    end if;
  end if;
  if not private.is_within_limits(p_changes) then
    perform private.raise_fork_changes_invalid('the changes are larger than 1 MiB, 200 levels or 70,000 values', 'Send less.');
  end if;
  if (p_changes ? 'arguments' or p_changes ? 'answer') and private.turn_of_call(p_task_id, p_from_seq) is null then
    perform private.raise_fork_changes_invalid(format('step %s is not a call of the model', p_from_seq),
      'Arguments and answer are those of the call to fork from; read_trace() lists the steps.');
  end if;
  if jsonb_typeof(p_changes -> 'arguments') <> 'object' then
    perform private.raise_fork_changes_invalid('the arguments are not an object', 'Send all arguments of the call.');
  end if;
  if p_changes ? 'answer' then
    select * into v_step from public.task_steps where task_id = p_task_id and seq = p_from_seq;
    if v_step.kind is distinct from 'tool' and coalesce(v_step.name, '') not in ('request_human_review', 'create_subtask') then
      perform private.raise_fork_changes_invalid(format('step %s has no answer that can be given', p_from_seq),
        'Tool calls, reviews and subtasks take another answer.');
    end if;
    if v_step.name = 'request_human_review' and v_step.kind = 'system'
      and jsonb_typeof(p_changes #> '{answer,approved}') is distinct from 'boolean'
    then
      perform private.raise_fork_changes_invalid('the answer of the review lacks approved',
        'Send {approved, response, comments} as respond_to_review() takes them.');
    end if;
  end if;
end;
$$;
comment on function private.assert_fork_changes(uuid, int, jsonb) is
  'Raises FORK_CHANGES_INVALID or TASK_INPUT_INVALID unless a fork from that step can have these changes.';

create function private.given_answer(p_step public.task_steps, p_answer jsonb)
returns jsonb
language plpgsql
immutable
set search_path = ''
as $$
begin
  return case
    when p_step.kind = 'tool' then jsonb_build_object(
      'text', case jsonb_typeof(p_answer) when 'string' then p_answer #>> '{}' else jsonb_pretty(p_answer) end,
      'is_error', false,
      -- As the result of a tool, it reaches the model fenced as data.
      'execution_id', null
    )
    when p_step.name = 'create_subtask' then jsonb_build_object(
      'agent', p_step.input #> '{arguments,agent}', 'status', 'completed', 'output', p_answer
    )
    else jsonb_build_object(
      'approved', p_answer -> 'approved',
      'response', coalesce(p_answer -> 'response', '{}'),
      'comments', p_answer -> 'comments'
    )
  end;
end;
$$;
comment on function private.given_answer(public.task_steps, jsonb) is
  'The output of a step for an answer that a person gives instead of a tool, a subtask or a reviewer.';

create function private.copy_steps(p_task_id uuid, p_from_seq int, p_changes jsonb, p_fork_id uuid)
returns void
language sql
set search_path = ''
as $$
  -- Without their usage, which the original job has paid.
  insert into public.task_steps (
    task_id, seq, kind, state, name, call_id, input, output, idempotency_key, epoch, started_at, ended_at
  )
  select p_fork_id, step.seq, step.kind, step.state, step.name, step.call_id, step.input,
    case when p_changes ? 'arguments' and step.seq = private.turn_of_call(p_task_id, p_from_seq)
      -- Drop the provider's own data, because it repeats the arguments.
      then jsonb_set(
        step.output - 'provider_data',
        array['tool_calls', (p_from_seq - step.seq - 1)::text],
        (step.output #> array['tool_calls', (p_from_seq - step.seq - 1)::text]) - 'malformed'
          || jsonb_build_object('arguments', p_changes -> 'arguments')
      )
      else step.output
    end,
    p_fork_id || ':' || step.seq, 0, step.started_at, step.ended_at
  from public.task_steps as step
  where step.task_id = p_task_id and step.seq < p_from_seq;

  insert into public.task_steps (
    task_id, seq, kind, state, name, call_id, input, output, idempotency_key, epoch, started_at, ended_at
  )
  select p_fork_id, step.seq, step.kind, 'done', step.name, step.call_id,
    case when p_changes ? 'arguments'
      then coalesce(step.input, '{}') || jsonb_build_object('arguments', p_changes -> 'arguments')
      else step.input
    end,
    private.given_answer(step, p_changes -> 'answer'),
    p_fork_id || ':' || step.seq, 0, clock_timestamp(), clock_timestamp()
  from public.task_steps as step
  where step.task_id = p_task_id and step.seq = p_from_seq and p_changes ? 'answer';

  insert into private.hidden_step_outputs (task_id, seq, output)
  select p_fork_id, hidden.seq, hidden.output
  from private.hidden_step_outputs as hidden
  where hidden.task_id = p_task_id and hidden.seq < p_from_seq;
$$;
comment on function private.copy_steps(uuid, int, jsonb, uuid) is
  'Copies the steps before p_from_seq to a fork, with the changes {arguments, answer} of that step.';

create function private.fork_task(p_task_id uuid, p_from_seq int, p_changes jsonb default null)
returns uuid
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_source public.tasks := private.own_task(p_task_id);
  v_agent public.agents;
  v_id uuid := private.new_id();
  v_changes constant jsonb := coalesce(nullif(p_changes, 'null'), '{}');
begin
  perform private.assert_person_may('fork the task', 'swarm:run');
  -- Retention deletes the files of a job that no other job refers to. The lock keeps it from running while
  -- the fork takes them over.
  perform private.lock_job(v_source.master_task_id);
  v_source := private.own_task(p_task_id);
  perform private.assert_fork_point(p_task_id, p_from_seq);
  perform private.assert_fork_changes(p_task_id, p_from_seq, v_changes);
  v_agent := private.active_agent(v_source.agent_slug, v_source.created_by);
  perform private.take_task_creation(v_source.created_by, 'fork the task');

  insert into public.tasks (
    id, master_task_id, agent_id, agent_slug, input, created_by, priority, concurrency_key,
    metadata, budget, traceparent, tracestate, output_schema, max_attempts, intermediate_data, storage_paths, message_id, logs
  )
  select
    v_id, v_id, v_agent.id, v_agent.slug, coalesce(v_changes -> 'input', v_source.input), v_source.created_by, v_source.priority,
    v_source.concurrency_key, v_source.metadata, private.capped_budget(private.budget_left(master), v_source.created_by),
    v_source.traceparent, v_source.tracestate, v_source.output_schema, v_source.max_attempts,
    private.saved_data_before(v_source, p_from_seq), v_source.storage_paths,
    private.send_message(v_id),
    array[private.log_line(format('forked from task %s before step %s', p_task_id, p_from_seq))]
  from public.tasks as master
  where master.id = v_source.master_task_id;
  -- Its steps also contain results of the original job's subtasks.
  insert into private.job_totals (master_task_id, task_count, data_flows)
  select v_id, 1, data_flows from private.job_totals where master_task_id = v_source.master_task_id;
  insert into private.budget_shares (job_id, budget_job_id)
  values (v_id, private.budget_job_of(v_source.master_task_id));
  insert into private.task_forks (fork_id, source_task_id, from_seq) values (v_id, p_task_id, p_from_seq);
  insert into private.job_clients (job_id, client_id, scopes, noted_at)
  select v_id, client_id, scopes, noted_at from private.job_clients where job_id = v_source.master_task_id;
  perform private.note_calling_client(v_id, v_source.created_by);

  perform private.copy_steps(p_task_id, p_from_seq, v_changes, v_id);
  perform private.emit_event(v_id, v_id, 'task.created', jsonb_build_object(
    'agent', v_agent.slug,
    'forked_from', jsonb_build_object('task_id', p_task_id, 'step_seq', p_from_seq),
    'changes', (select jsonb_agg(key) from jsonb_object_keys(v_changes) as key)
  ));
  return v_id;
end;
$$;
comment on function private.fork_task(uuid, int, jsonb) is
  'Creates a master task that starts with a copy of another task''s first steps, with changes {input, arguments, answer}. Definer: users may not write tasks or queues; assert_person_may() and own_task() check the caller.';
grant execute on function private.fork_task(uuid, int, jsonb) to authenticated;
grant execute on function private.fork_task(uuid, int, jsonb) to service_role;

create function public.fork_task(p_task_id uuid, p_from_seq int, p_changes jsonb default null)
returns uuid
language sql
set search_path = ''
as $$
  select private.fork_task(p_task_id, p_from_seq, p_changes);
$$;
comment on function public.fork_task(uuid, int, jsonb) is
  'Creates a new job that continues after the steps of a task before p_from_seq, with its input, agent and owner. p_changes {input, arguments, answer} replaces the input of the task, the arguments of the call p_from_seq, or the result of that call, which then does not run. The fork shares what remains of the job''s budget with the job and its other forks. Returns the id of the new master task. For the owner, the owner''s OAuth clients with the scope swarm:run and the service, never for an agent. Raises TASK_NOT_FOUND, FORK_POINT_INVALID, FORK_CHANGES_INVALID, TASK_INPUT_INVALID, AGENT_NOT_FOUND, AGENT_INACTIVE, BUDGET_EXCEEDED, QUOTA_EXCEEDED, AGENT_NOT_ALLOWED, INSUFFICIENT_SCOPE.';
grant execute on function public.fork_task(uuid, int, jsonb) to authenticated;
grant execute on function public.fork_task(uuid, int, jsonb) to service_role;
