-- Recording a finished call in the ledger and learning from it.

create function private.failures_in_a_row(p_user_id uuid, p_tool_id uuid, p_tool_name text)
returns int
language plpgsql
stable
set search_path = ''
as $$
begin
  return (
    with latest as (
      select execution.status, execution.created_at
      from public.mcp_executions execution
      left join public.mcp_failures failure on failure.execution_id = execution.id
      left join private.error_codes known on known.code = failure.error_code
      where execution.user_id is not distinct from p_user_id
        and execution.tool_id = p_tool_id and execution.tool_name = p_tool_name
        and execution.task_id is null
        and execution.created_at > now() - interval '1 hour'
        -- A refusal by the gateway or a disconnected caller is not a failure of the tool.
        and known.counts_as_failure is distinct from false
      order by execution.created_at desc
      limit 20
    )
    select count(*)::int
    from latest
    where latest.status <> 'success'
      and latest.created_at > coalesce(
        (select max(success.created_at) from latest success where success.status = 'success'), '-infinity')
  );
end;
$$;
comment on function private.failures_in_a_row(uuid, uuid, text) is
  'How often a tool failed in a row for a user outside tasks, at most 20, within the last hour.';

create function private.record_tool_usage(p_execution public.mcp_executions, p_uses jsonb)
returns void
language sql
set search_path = ''
as $$
  select private.record_usage(used.value || jsonb_build_object(
    'user_id', (record_tool_usage.p_execution).user_id,
    'task_id', (record_tool_usage.p_execution).task_id,
    'step_seq', (record_tool_usage.p_execution).step_seq,
    'execution_id', (record_tool_usage.p_execution).id,
    'mcp_name', (record_tool_usage.p_execution).mcp_name,
    'tool_name', (record_tool_usage.p_execution).tool_name,
    'tool_version', (record_tool_usage.p_execution).tool_version,
    'agent_slug', (
      select agent.slug from public.agents agent where agent.id = (record_tool_usage.p_execution).agent_id),
    'provider_id', (select provider.id from public.llm_providers provider where provider.name = used.value ->> 'provider')
  ))
  from jsonb_array_elements(record_tool_usage.p_uses) as used (value);
$$;
comment on function private.record_tool_usage(public.mcp_executions, jsonb) is
  'Records the models that a tool call used: [{provider (llm_providers.name), model, key_source, input_tokens, cached_input_tokens, output_tokens}].';

create function private.referenced_response(p_response jsonb)
returns jsonb
language plpgsql
immutable
set search_path = ''
as $$
declare
  c_max_characters constant int := 300;
begin
  if length(p_response::text) <= c_max_characters then
    return p_response;
  end if;
  return jsonb_build_object('stored_in', 'task_steps', 'characters', length(p_response::text));
end;
$$;
comment on function private.referenced_response(jsonb) is
  'What the ledger stores of the result of a task''s call: all of a short one, otherwise where it is, because the step has it.';

create function private.response_of_call(p_execution public.mcp_executions)
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
begin
  if p_execution.response_data ->> 'stored_in' is distinct from 'task_steps' then
    return p_execution.response_data;
  end if;
  return (
    select coalesce(step.output -> 'structured', jsonb_build_object('text', step.output -> 'text'))
    from public.task_steps as step
    where step.task_id = p_execution.task_id and step.seq = p_execution.step_seq
  );
end;
$$;
comment on function private.response_of_call(public.mcp_executions) is
  'The result of a call, from the ledger or from the step of its task; null when retention has deleted the step. Called by deno task context:suggest.';

create function private.record_execution(p_execution jsonb)
returns int
language plpgsql
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
declare
  v_execution public.mcp_executions := jsonb_populate_record(null::public.mcp_executions, p_execution);
  v_failure jsonb := nullif(p_execution -> 'failure', 'null');
  v_failures int := 0;
begin
  v_execution.created_at := clock_timestamp();
  v_execution.is_try := coalesce(v_execution.is_try, false);
  if v_execution.task_id is null and v_execution.tool_id is not null then
    -- In a task, the agent loop counts the failures in the transcript.
    v_failures := private.failures_in_a_row(v_execution.user_id, v_execution.tool_id, v_execution.tool_name);
    v_execution.attempt := v_failures + 1;
  end if;
  if jsonb_typeof(p_execution -> 'parameters') = 'object'
    and p_execution -> 'parameters' is distinct from v_execution.request_data then
    begin
      v_execution.learned_sets := private.learned_sets(
        v_execution.connection_id, v_execution.tool_name, p_execution -> 'parameters');
    exception when others then
      raise warning 'Cannot find out what the tool call % teaches: %', v_execution.id, sqlerrm;
    end;
  end if;
  if v_execution.task_id is not null and v_execution.step_seq is not null and v_failure is null then
    v_execution.response_data := private.referenced_response(v_execution.response_data);
  end if;
  insert into public.mcp_executions values (v_execution.*);

  if v_failure is not null then
    insert into public.mcp_failures (execution_id, error_type, error_code, error_details, retry_attempt)
    values (
      v_execution.id, v_failure ->> 'error_type', v_failure ->> 'error_code',
      nullif(v_failure -> 'error_details', 'null'), v_execution.attempt
    );
    -- An error that is not the tool's does not count.
    if v_execution.task_id is not null or (
      select known.counts_as_failure from private.error_codes as known where known.code = v_failure ->> 'error_code'
    ) is distinct from false then
      v_failures := v_execution.attempt;
    end if;
  else
    v_failures := 0;
  end if;

  -- Models were paid for, even if the call failed.
  if p_execution -> 'model_uses' <> '[]' then
    perform private.record_tool_usage(v_execution, p_execution -> 'model_uses');
  end if;

  if v_execution.connection_id is null then
    return v_failures;
  end if;
  -- An error while learning must not lose the ledger row.
  begin
    if p_execution ->> 'contact' = 'failed' then
      perform private.record_connection_failure(v_execution.connection_id);
    elsif v_failure is null then
      perform private.record_connection_success(v_execution.connection_id);
      perform private.learn_parameters(
        v_execution.connection_id, v_execution.tool_name, p_execution -> 'parameters');
    elsif p_execution ->> 'contact' = 'answered' then
      perform private.record_connection_answer(v_execution.connection_id);
    end if;
  exception when others then
    raise warning 'Cannot learn from the tool call %: %', v_execution.id, sqlerrm;
  end;
  return v_failures;
end;
$$;
comment on function private.record_execution(jsonb) is
  'Writes one call to mcp_executions (columns by name), its failure {error_type, error_code, error_details} if there is one, the models it used (model_uses, as for record_tool_usage()), the health of the connection by contact (answered or failed), and after a success the arguments (parameters) to the tool cache. Outside tasks it also counts the attempt. Returns how often the tool has now failed in a row, 0 after a success. Called by the gateway after each call.';
