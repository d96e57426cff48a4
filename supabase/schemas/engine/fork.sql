-- Forks: new jobs that continue from a step of another task.

create table private.task_forks (
  fork_id uuid primary key references public.tasks (id) on delete cascade,
  -- No foreign key: a fork can outlive its source task.
  source_task_id uuid not null,
  from_seq int not null,
  created_at timestamptz not null default now()
);
create index task_forks_source_task_id_idx on private.task_forks (source_task_id, fork_id);
comment on table private.task_forks is 'Forks, each with the task and the step from which it continues.';
comment on column private.task_forks.from_seq is 'The fork has the source''s steps before this one.';
alter table private.task_forks enable row level security;

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
    perform private.raise_error('FORK_POINT_INVALID',
      format('Cannot fork task %s from step %s', p_task_id, coalesce(p_from_seq::text, 'null')),
      format('Choose a step from 1 to %s; the fork takes over the steps before it.', v_last_point));
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
      perform private.raise_error('BUDGET_EXCEEDED',
        format('Cannot fork the task: its job has used up its %s of %s', v_cap, v_budget ->> v_cap),
        'Create a new task with its own budget.');
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
    perform private.raise_error('TASK_INPUT_INVALID',
      format('Cannot %s: the input is neither an object nor a non-empty text', p_attempt),
      'Send the input as an object or as text.');
  end if;
  if not private.is_within_limits(p_input) then
    perform private.raise_error('TASK_INPUT_INVALID',
      format('Cannot %s: the input is larger than 1 MiB, 64 levels or 70,000 values, or has a number that programs cannot read', p_attempt),
      'Send less, or store it as a file or document and name that.');
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
  perform private.raise_error('FORK_CHANGES_INVALID', 'Cannot fork the task: ' || p_problem, p_hint);
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
    or exists (select from jsonb_object_keys(p_changes) as key where key not in ('input', 'arguments', 'answer', 'message'))
  then
    perform private.raise_fork_changes_invalid('p_changes is not an object of changes',
      'Send an object with any of input, arguments, answer and message.');
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
  if p_changes ? 'message' then
    perform private.assert_task_input('fork the task', p_changes -> 'message');
    if not exists (select from public.task_steps where task_id = p_task_id and seq = p_from_seq and kind = 'user') then
      perform private.raise_fork_changes_invalid(format('step %s is not a message of the user', p_from_seq),
        'The first message is the input; find_chat() lists the steps of the others as user_steps.');
    end if;
  end if;
  if not private.is_within_limits(p_changes) then
    perform private.raise_fork_changes_invalid('the changes are larger than 1 MiB, 64 levels or 70,000 values, or have a number that programs cannot read', 'Send less.');
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
      'text', case jsonb_typeof(p_answer) when 'string' then p_answer #>> '{}' else p_answer::text end,
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
    task_id, seq, kind, state, name, call_id, input, output, epoch, started_at, ended_at
  )
  select p_fork_id, step.seq, step.kind, step.state, step.name, step.call_id, step.input,
    case when p_changes ? 'arguments' and step.seq = private.turn_of_call(p_task_id, p_from_seq)
      -- Drop the provider's own data, because it repeats the arguments. A call of a cut turn is whole now; those
      -- after it were not made and are not whole.
      then jsonb_set(
        case when step.output ->> 'finish_reason' = 'length' then step.output - 'cut_at_tokens' || jsonb_build_object(
          'finish_reason', 'tool_calls',
          'tool_calls', jsonb_path_query_array(
            step.output, '$.tool_calls[0 to $last]', jsonb_build_object('last', p_from_seq - step.seq - 1)))
          else step.output end - 'provider_data',
        array['tool_calls', (p_from_seq - step.seq - 1)::text],
        (step.output #> array['tool_calls', (p_from_seq - step.seq - 1)::text]) - 'malformed'
          || jsonb_build_object('arguments', p_changes -> 'arguments')
      )
      else step.output
    end,
    0, step.started_at, step.ended_at
  from public.task_steps as step
  where step.task_id = p_task_id and step.seq < p_from_seq;

  insert into public.task_steps (
    task_id, seq, kind, state, name, call_id, input, output, epoch, started_at, ended_at
  )
  select p_fork_id, step.seq, step.kind, 'done', step.name, step.call_id,
    case when p_changes ? 'arguments'
      then coalesce(step.input, '{}') || jsonb_build_object('arguments', p_changes -> 'arguments')
      else step.input
    end,
    private.given_answer(step, p_changes -> 'answer'),
    0, clock_timestamp(), clock_timestamp()
  from public.task_steps as step
  where step.task_id = p_task_id and step.seq = p_from_seq and p_changes ? 'answer';

  insert into public.task_steps (
    task_id, seq, kind, state, input, output, epoch, started_at, ended_at
  )
  select p_fork_id, step.seq, 'user', 'done', p_changes -> 'message', '{}',
    0, clock_timestamp(), clock_timestamp()
  from public.task_steps as step
  where step.task_id = p_task_id and step.seq = p_from_seq and p_changes ? 'message';

  insert into private.hidden_step_outputs (task_id, seq, output)
  select p_fork_id, hidden.seq, hidden.output
  from private.hidden_step_outputs as hidden
  where hidden.task_id = p_task_id and hidden.seq < p_from_seq;
$$;
comment on function private.copy_steps(uuid, int, jsonb, uuid) is
  'Copies the steps before p_from_seq to a fork, with the changes {arguments, answer, message} of that step.';

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
  perform private.assert_may_reuse_changes(v_source, 'fork the task');
  perform private.assert_fork_point(p_task_id, p_from_seq);
  perform private.assert_fork_changes(p_task_id, p_from_seq, v_changes);
  if v_changes ? 'message' then
    perform private.assert_message_files_are_usable(v_source, v_changes -> 'message');
  end if;
  v_agent := private.active_agent(v_source.agent_slug, v_source.created_by);
  if v_changes ? 'input' then
    perform private.assert_files_are_usable(v_changes -> 'input', v_source.created_by);
    perform private.assert_input_fits(v_agent, v_changes -> 'input');
  end if;
  perform private.take_task_creation(v_source.created_by, 'fork the task');

  insert into public.tasks (
    id, master_task_id, agent_id, agent_slug, agent_revision, agent_changes, runner, input, created_by, priority, concurrency_key,
    metadata, budget, traceparent, tracestate, output_schema, max_attempts, intermediate_data, storage_paths, logs
  )
  select
    v_id, v_id, v_agent.id, v_agent.slug, v_agent.revision, v_source.agent_changes, v_source.runner, coalesce(v_changes -> 'input', v_source.input), v_source.created_by, v_source.priority,
    v_source.concurrency_key, v_source.metadata, private.capped_budget(private.budget_left(master), v_source.created_by),
    v_source.traceparent, v_source.tracestate, v_source.output_schema, v_source.max_attempts,
    private.saved_data_before(v_source, p_from_seq), v_source.storage_paths,
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
  perform private.record_calling_client(v_id, v_source.created_by);

  if private.watched_seconds(p_task_id) > 0 then
    perform private.watch_job(v_id);
  end if;
  perform private.debit_copied_job(
    p_job_id => v_id, p_owner_id => v_source.created_by,
    p_byte_count => coalesce(sum(pg_column_size(step.*)), 0) + pg_column_size(v_changes), p_action => 'fork the task')
  from public.task_steps as step
  where step.task_id = p_task_id and step.seq < p_from_seq;
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
  'Creates a master task that starts with a copy of another task''s first steps, with changes {input, arguments, answer, message}. Definer: users may not write tasks or queues; assert_person_may() and own_task() check the caller.';

create function public.fork_task(p_task_id uuid, p_from_seq int, p_changes jsonb default null)
returns uuid
language sql
set search_path = ''
as $$
  select private.fork_task(p_task_id, p_from_seq, p_changes);
$$;
comment on function public.fork_task(uuid, int, jsonb) is
  'Creates a new job that continues after the steps of a task before p_from_seq, with its input, agent and owner. p_changes {input, arguments, answer, message} replaces the input of the task, the arguments of the call p_from_seq, the result of that call, which then does not run, or the message of the user that is step p_from_seq. The fork shares what remains of the job''s budget with the job and its other forks. The fork of a watched job is watched. Returns the id of the new master task. For the owner, the owner''s OAuth clients with the scope swarm:run and the service, never for an agent. Raises TASK_NOT_FOUND, FORK_POINT_INVALID, FORK_CHANGES_INVALID, TASK_INPUT_INVALID, AGENT_NOT_FOUND, AGENT_INACTIVE, BUDGET_EXCEEDED, QUOTA_EXCEEDED, AGENT_NOT_ALLOWED, INSUFFICIENT_SCOPE.';
revoke all on function public.fork_task(uuid, int, jsonb) from public, anon, authenticated, service_role;
grant execute on function private.fork_task(uuid, int, jsonb), public.fork_task(uuid, int, jsonb)
  to authenticated, service_role;
