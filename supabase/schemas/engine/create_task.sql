-- Creating a master task: row, event and message in one transaction.

create function private.assert_budget_is_valid(p_budget jsonb)
returns void
language plpgsql
immutable
set search_path = ''
as $$
declare
  v_known constant text[] := array[
    'max_input_tokens', 'max_output_tokens', 'max_cost_micro_usd',
    'max_steps', 'max_depth', 'max_tasks', 'max_wall_seconds'
  ];
  v_key text;
  v_value jsonb;
begin
  if jsonb_typeof(p_budget) <> 'object' then
    perform private.raise_error('TASK_BUDGET_INVALID', 'Cannot create the task: the budget is not an object',
      'Caps are ' || array_to_string(v_known, ', ') || '.');
  end if;
  for v_key, v_value in select key, value from jsonb_each(coalesce(p_budget, '{}')) loop
    if v_key <> all (v_known) then
      perform private.raise_error('TASK_BUDGET_INVALID',
        format('Cannot create the task: the budget has no cap named %L', v_key),
        'Caps are ' || array_to_string(v_known, ', ') || '.');
    end if;
    if jsonb_typeof(v_value) <> 'null' and v_value::text !~ '^[0-9]{1,15}$' then
      perform private.raise_error('TASK_BUDGET_INVALID',
        format('Cannot create the task: the cap %s is %s', v_key, v_value),
        'A cap is a whole number of zero or more, or null for no cap.');
    end if;
  end loop;
end;
$$;
comment on function private.assert_budget_is_valid(jsonb) is 'Raises TASK_BUDGET_INVALID for an unknown cap or an invalid value of a cap.';

create function private.is_nested_too_deep(p_value jsonb)
returns boolean
language sql
immutable
set search_path = ''
as $$
  -- MAX_JSON_DEPTH of the functions.
  select jsonb_path_exists(p_value, 'strict $.**{64} ? (@.type() == "array" || @.type() == "object")');
$$;
comment on function private.is_nested_too_deep(jsonb) is
  'True when a value has more than 64 levels of arrays and objects. Checked wherever a value enters the database, because code that reads it may be recursive, and a text in lines repeats its levels for each value.';

create function private.assert_definition_is_flat(p_attempt text, p_definition jsonb)
returns void
language plpgsql
set search_path = ''
as $$
begin
  if private.is_nested_too_deep(p_definition) then
    perform private.raise_error('DEFINITION_INVALID', format('Cannot %s: it has more than 64 levels of nesting', p_attempt),
      'Write it with fewer levels.');
  end if;
end;
$$;
comment on function private.assert_definition_is_flat(text, jsonb) is 'Raises DEFINITION_INVALID for a document of more than 64 levels.';

create function private.is_within_limits(p_value jsonb)
returns boolean
language plpgsql
immutable
set search_path = ''
as $$
declare
  c_max_long_numbers constant int := 1000;
  c_max_values constant int := 70000;
  v_long_numbers jsonb;
  v_text text;
begin
  if private.is_nested_too_deep(p_value) then
    return false;
  end if;
  -- The text of a number has no exponent: "1e131000" becomes 131,001 digits.
  v_long_numbers := jsonb_path_query_array(
    p_value, 'strict $.** ? (@ > 1e40 || @ < -1e40 || @ < 1e-40 && @ > -1e-40 && @ != 0)');
  if jsonb_array_length(v_long_numbers) > c_max_long_numbers
    or jsonb_path_exists(v_long_numbers, '$[*] ? (@ > 1e309 || @ < -1e309 || @ < 1e-324 && @ > -1e-324)')
  then
    return false;
  end if;
  v_text := p_value::text;
  if octet_length(v_text) > 1048576 then
    return false;
  end if;
  -- Commas in texts count only where there are so many.
  if length(v_text) - length(replace(v_text, ',', '')) >= c_max_values then
    v_text := regexp_replace(v_text, '"([^"\\]|\\.)*"', '', 'g');
  end if;
  return length(v_text) - length(replace(v_text, ',', '')) < c_max_values;
end;
$$;
comment on function private.is_within_limits(jsonb) is
  'True when a value has at most 1 MiB, 64 levels, 70,000 values and 1,000 numbers of more than 40 digits, none of which a program cannot hold: the limits of the edge functions'' endpoints (REQUEST_LIMITS). Used for values that callers send over the REST API, which does not check these limits.';

create function private.cap(p_budget jsonb, p_name text, p_default numeric)
returns numeric
language plpgsql
immutable
set search_path = ''
as $$
begin
  return case when p_budget ? p_name then (p_budget ->> p_name)::numeric else p_default end;
end;
$$;
comment on function private.cap(jsonb, text, numeric) is 'A cap of a job: the value in its budget, null when the budget removes the cap, else the default.';

create function private.nearest_agents(p_slug text, p_user_id uuid)
returns text
language sql
stable
set search_path = ''
as $$
  select private.nearest_names(nearest_agents.p_slug, array(
    select agent.slug
    from public.agents as agent
    where agent.is_active and private.may_use_agent(agent.id, nearest_agents.p_user_id)
  ));
$$;
comment on function private.nearest_agents(text, uuid) is
  'Up to three slugs similar to a mistyped one, best match first, of agents that the user may use; null when none is similar.';

create function private.active_agent(p_slug text, p_user_id uuid, p_attempt text default 'create the task')
returns public.agents
language plpgsql
stable
set search_path = ''
as $$
declare
  v_agent public.agents;
  v_nearest text;
begin
  select * into v_agent from public.agents where slug = p_slug;
  -- An agent that the user may not use is reported as missing, as the table agents hides it too.
  if not found or (p_user_id is not null and not private.may_use_agent(v_agent.id, p_user_id)) then
    v_nearest := private.nearest_agents(p_slug, p_user_id);
    perform private.raise_error('AGENT_NOT_FOUND',
      format('Cannot %s: no agent that you may use has the slug %L', p_attempt, p_slug),
      coalesce('Did you mean ' || v_nearest || '? ', '')
        || 'Read the slugs from the table agents, or ask an operator for a row in agent_audience.');
  end if;
  if not v_agent.is_active then
    perform private.raise_error('AGENT_INACTIVE', format('Cannot %s: the agent %L is not active', p_attempt, p_slug),
      'Set agents.is_active, or name another agent.');
  end if;
  return v_agent;
end;
$$;
comment on function private.active_agent(text, uuid, text) is
  'The active agent with this slug that the user (null: the service) may use. p_attempt completes the sentence "Cannot …". Raises AGENT_NOT_FOUND or AGENT_INACTIVE.';

create function private.log_line(p_text text)
returns text
language plpgsql
set search_path = ''
as $$
begin
  return to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || ' ' || p_text;
end;
$$;
comment on function private.log_line(text) is 'A line for tasks.logs: the time and the text.';

create function private.assert_task_is_valid(p_input jsonb, p_priority text, p_run_after timestamptz)
returns void
language plpgsql
set search_path = ''
as $$
begin
  if p_input is null or jsonb_typeof(p_input) not in ('object', 'string') then
    perform private.raise_error('TASK_INPUT_INVALID',
      'Cannot create the task: the input is neither an object nor a string',
      'Send the agent''s input as an object or as text.');
  end if;
  if p_priority not in ('high', 'normal', 'low') then
    perform private.raise_error('TASK_PRIORITY_INVALID',
      format('Cannot create the task: %L is not a priority', p_priority),
      'Priorities are high, normal and low.');
  end if;
  if p_run_after > clock_timestamp() + interval '1 year' then
    perform private.raise_error('TASK_RUN_AFTER_INVALID',
      format('Cannot create the task: its run_after %s is more than a year away', p_run_after),
      'Choose a time within the next year.');
  end if;
end;
$$;
comment on function private.assert_task_is_valid(jsonb, text, timestamptz) is 'Raises TASK_INPUT_INVALID, TASK_PRIORITY_INVALID, TASK_RUN_AFTER_INVALID.';

create function private.input_problem(p_agent public.agents, p_input jsonb)
returns text
language plpgsql
stable
set search_path = ''
as $$
begin
  if p_agent.input_schema is null then
    return null;
  end if;
  return private.schema_problem(p_agent.input_schema, case
    -- Every agent accepts files.
    when jsonb_typeof(p_input) = 'object' and not coalesce(p_agent.input_schema -> 'properties' ? 'files', false)
      then p_input - 'files'
    else p_input
  end, 'input', false);
end;
$$;
comment on function private.input_problem(public.agents, jsonb) is
  'Why an input does not match the agent''s input_schema; null when nothing is found. An early check of what SQL can check: the functions check the whole schema before they create a task or a subtask, and the worker does before the first model call of every job.';

create function private.assert_input_fits(p_agent public.agents, p_input jsonb)
returns void
language plpgsql
stable
set search_path = ''
as $$
declare
  v_problem constant text := private.input_problem(p_agent, p_input);
begin
  if v_problem is not null then
    perform private.raise_error('TASK_INPUT_INVALID',
      format('Cannot create the task: %s', v_problem),
      format('Send an input that matches input_schema of the agent "%s".', p_agent.slug));
  end if;
end;
$$;
comment on function private.assert_input_fits(public.agents, jsonb) is
  'Raises TASK_INPUT_INVALID for an input of which input_problem() finds that it does not match the agent''s input_schema.';

create function private.lower_budget(p_first jsonb, p_second jsonb)
returns jsonb
language sql
immutable
set search_path = ''
as $$
  select coalesce(lower_budget.p_second, '{}') || coalesce(jsonb_object_agg(cap.key, to_jsonb(least(
    cap.value::numeric, (lower_budget.p_second ->> cap.key)::numeric
  ))), '{}')
  from jsonb_each_text(lower_budget.p_first) as cap (key, value)
  where cap.value is not null;
$$;
comment on function private.lower_budget(jsonb, jsonb) is
  'Two budgets together: of a cap that both have, the lower one. A null in the second removes no cap of the first.';

create function private.agent_fact(p_slug text, p_revision int, p_changes jsonb)
returns jsonb
language plpgsql
immutable
set search_path = ''
as $$
begin
  return case
    when p_revision is null then jsonb_build_object('agent', p_slug)
    else jsonb_build_object('agent', p_slug, 'revision', p_revision)
  end || case
    when p_changes is null then '{}'
    else jsonb_build_object('agent_changes', (select jsonb_agg(key order by key) from jsonb_object_keys(p_changes) as key))
  end;
end;
$$;
comment on function private.agent_fact(text, int, jsonb) is 'The beginning of an event about a new task: {agent, revision}, and agent_changes, the names of what the job changes.';

create function private.create_task(
  p_agent text,
  p_input jsonb,
  p_created_by uuid default null,
  p_idempotency_key text default null,
  p_run_after timestamptz default null,
  p_priority text default 'normal',
  p_concurrency_key text default null,
  p_metadata jsonb default '{}',
  p_budget jsonb default null,
  p_traceparent text default null,
  p_tracestate text default null,
  p_output_schema jsonb default null,
  p_max_attempts int default null,
  p_agent_changes jsonb default null
)
returns table (task_id uuid, master_task_id uuid, status text, is_new boolean)
language plpgsql
set search_path = ''
-- A session keeps the plans of its foreign-key checks. Made while a table was empty, they would read all of it.
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  v_agent public.agents;
  v_id uuid := private.new_id();
  v_budget jsonb := p_budget;
  v_changes jsonb;
begin
  -- Look for the key before the checks: a repeated request returns its task even if the agent no longer
  -- exists.
  if p_idempotency_key is not null then
    return query
      select task.id, task.master_task_id, task.status, false
      from public.tasks as task
      where task.parent_id is null
        and task.created_by is not distinct from p_created_by
        and task.idempotency_key = p_idempotency_key;
    if found then
      return;
    end if;
  end if;

  -- Most tasks lack files and a conversation, and those of the service have no quotas. Their checks are not even
  -- called, because the first call of a function in a transaction takes longer than what these do then.
  perform private.assert_task_is_valid(p_input, p_priority, p_run_after);
  if p_created_by is not null and not exists (select from auth.users where id = p_created_by) then
    perform private.raise_error('FORBIDDEN', 'Cannot create the task: its owner''s account does not exist',
      'Sign in again: the token is older than the deletion of its account.');
  end if;
  if p_budget is not null then
    perform private.assert_budget_is_valid(p_budget);
    perform private.assert_budget_within_ceilings(p_budget, p_created_by);
  end if;
  if p_input ? 'files' then
    perform private.assert_files_are_usable(p_input, p_created_by);
  end if;
  v_agent := private.active_agent(p_agent, p_created_by);
  if v_agent.input_schema is not null then
    perform private.assert_input_fits(v_agent, p_input);
  end if;
  if p_agent_changes is not null then
    v_changes := private.resolved_agent_changes(v_agent, p_agent_changes, 'create the task');
  end if;
  if v_agent.budget is not null then
    v_budget := private.lower_budget(v_agent.budget, p_budget);
  end if;
  if p_metadata ? 'conversation_id' then
    perform private.assert_answers_own_conversation(p_metadata, p_created_by);
  end if;
  if p_created_by is not null then
    perform private.take_task_creation(p_created_by, 'create the task');
    v_budget := private.capped_budget(v_budget, p_created_by);
  end if;

  insert into public.tasks (
    id, master_task_id, agent_id, agent_slug, agent_revision, agent_changes, runner, input, created_by, idempotency_key, run_after,
    priority, concurrency_key, metadata, budget, traceparent, tracestate, output_schema, max_attempts, logs
  )
  values (
    v_id, v_id, v_agent.id, v_agent.slug, v_agent.revision, v_changes, coalesce(v_agent.runner, ''), p_input, p_created_by, p_idempotency_key, p_run_after,
    p_priority, p_concurrency_key, coalesce(p_metadata, '{}'),
    v_budget, p_traceparent, p_tracestate, p_output_schema, p_max_attempts,
    array[private.log_line('created for agent ' || v_agent.slug)]
  )
  on conflict (created_by, idempotency_key) where parent_id is null and idempotency_key is not null
  do nothing;

  if not found then
    -- A concurrent request with the same key inserted its task first.
    return query
      select task.id, task.master_task_id, task.status, false
      from public.tasks as task
      where task.parent_id is null
        and task.created_by is not distinct from p_created_by
        and task.idempotency_key = p_idempotency_key;
    return;
  end if;

  insert into private.job_totals (master_task_id, task_count) values (v_id, 1);
  perform private.emit_event(v_id, v_id, 'task.created', private.agent_fact(v_agent.slug, v_agent.revision, v_changes));
  return query select v_id, v_id, 'pending'::text, true;
end;
$$;
comment on function private.create_task(text, jsonb, uuid, text, timestamptz, text, text, jsonb, jsonb, text, text, jsonb, int, jsonb) is
  'Creates a master task; the returned status is always pending. A repeated idempotency key of the same owner returns the existing task. p_agent_changes, as resolved_agent_changes() takes them, apply to this job alone; callers check who may give them. Raises AGENT_NOT_FOUND, AGENT_INACTIVE, AGENT_CHANGES_INVALID, PROVIDER_NOT_FOUND, TASK_INPUT_INVALID, OUTPUT_SCHEMA_INVALID, TASK_PRIORITY_INVALID, TASK_RUN_AFTER_INVALID, TASK_BUDGET_INVALID, CONVERSATION_NOT_FOUND, QUOTA_EXCEEDED, FORBIDDEN. Called by request_task() and create_scheduled_job().';
