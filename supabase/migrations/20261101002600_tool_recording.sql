-- Writes a finished call into the ledger and learns from it.

create function private.record_connection_failure(p_connection_id uuid)
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  update public.agent_mcp_connections connection
  set failure_count = connection.failure_count + 1,
      health = case when connection.failure_count + 1 >= 3 then 'failing' else connection.health end
  where connection.id = p_connection_id;
$$;
comment on function private.record_connection_failure(uuid) is
  'Counts a failure to reach a server; the third in a row marks the connection failing.';
revoke all on function private.record_connection_failure(uuid) from public;

create function private.record_execution(p_execution jsonb)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_execution public.mcp_executions := jsonb_populate_record(null::public.mcp_executions, p_execution);
  v_failure jsonb := nullif(p_execution -> 'failure', 'null');
begin
  v_execution.created_at := now();
  insert into public.mcp_executions values (v_execution.*);

  if v_failure is not null then
    insert into public.mcp_failures (execution_id, error_type, error_code, error_details, retry_attempt)
    values (
      v_execution.id, v_failure ->> 'error_type', v_failure ->> 'error_code',
      nullif(v_failure -> 'error_details', 'null'), v_execution.attempt
    );
  end if;

  if v_execution.connection_id is null then
    return;
  end if;
  -- What cannot be learned must not lose the ledger row.
  begin
    if v_failure ->> 'error_type' in ('transport_error', 'timeout') then
      perform private.record_connection_failure(v_execution.connection_id);
    elsif v_failure is null then
      perform public.record_mcp_tool_success(v_execution.connection_id);
      perform public.record_mcp_tool_execution(
        v_execution.connection_id, v_execution.tool_name, p_execution -> 'parameters', true);
    end if;
  exception when others then
    raise warning 'Could not learn from the tool call %: %', v_execution.id, sqlerrm;
  end;
end;
$$;
comment on function private.record_execution(jsonb) is
  'Writes one call into mcp_executions (columns by name), its failure {error_type, error_code, error_details} if it has one, the connection''s health, and on success the arguments under parameters into the tool cache. Called by the gateway after each call.';
revoke all on function private.record_execution(jsonb) from public;
