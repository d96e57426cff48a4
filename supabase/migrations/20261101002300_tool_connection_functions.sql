-- How connections are made and what is remembered of them.

create function private.tool_config_hash(p_tool public.tools)
returns text
language sql
immutable
security invoker
set search_path = ''
as $$
  select encode(sha256(convert_to(jsonb_build_array(
    p_tool.type, p_tool.config, p_tool.credential_secret_name, p_tool.credential_type
  )::text, 'UTF8')), 'hex');
$$;
comment on function private.tool_config_hash(public.tools) is
  'Fingerprint of all that a connection depends on; it holds the credential''s name, not its value.';
revoke all on function private.tool_config_hash(public.tools) from public;
grant execute on function private.tool_config_hash(public.tools) to service_role;

create function private.ensure_connection(p_tool_id uuid, p_user_id uuid)
returns uuid
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_id uuid;
  v_hash text := (select private.tool_config_hash(tool) from public.tools tool where tool.id = p_tool_id);
begin
  if v_hash is null then
    raise sqlstate 'PT404' using
      message = format('Cannot connect to the tool %s: it is not registered', p_tool_id),
      detail = 'TOOL_NOT_FOUND',
      hint = 'List the registered tools with GET /rest/v1/tools?select=id,slug.';
  end if;
  insert into public.agent_mcp_connections (tool_id, user_id, config_hash)
  values (p_tool_id, p_user_id, v_hash)
  on conflict (tool_id, user_id) do nothing;

  select connection.id into strict v_id
  from public.agent_mcp_connections connection
  where connection.tool_id = p_tool_id and connection.user_id is not distinct from p_user_id;

  update public.agent_mcp_connections connection
  set config_hash = v_hash, protocol = null, discovery = null, session = null,
      tools_listed_at = null, health = 'unknown', failure_count = 0
  where connection.id = v_id and connection.config_hash <> v_hash;
  return v_id;
end;
$$;
comment on function private.ensure_connection(uuid, uuid) is
  'The connection of a tool server and user (null: the service), made when there is none, reset when the registry row changed. Called by the gateway.';
revoke all on function private.ensure_connection(uuid, uuid) from public;
grant execute on function private.ensure_connection(uuid, uuid) to service_role;

create function private.save_connection_state(p_connection_id uuid, p_state jsonb)
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  update public.agent_mcp_connections connection
  set protocol = p_state ->> 'protocol',
      discovery = nullif(p_state -> 'discovery', 'null'),
      session = nullif(p_state -> 'session', 'null')
  where connection.id = p_connection_id;
$$;
comment on function private.save_connection_state(uuid, jsonb) is
  'Remembers what was negotiated with a server: {protocol, discovery, session}. Called by the gateway.';
revoke all on function private.save_connection_state(uuid, jsonb) from public;

create function private.store_tools(p_connection_id uuid, p_tools jsonb)
returns int
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_changed int;
begin
  -- Two listings at once take turns, so that the later one's list stands whole.
  perform 1 from public.agent_mcp_connections connection
  where connection.id = p_connection_id
  for no key update;

  insert into public.mcp_tools_cache as cached (connection_id, tool_name, tool_version, tool_schema, openai_schema)
  select p_connection_id, tool ->> 'name', tool ->> 'version', tool -> 'schema', tool -> 'openai_schema'
  from jsonb_array_elements(p_tools) as tool
  on conflict (connection_id, tool_name) do update
  set tool_version = excluded.tool_version,
      tool_schema = excluded.tool_schema,
      openai_schema = excluded.openai_schema,
      last_updated = now()
  where (cached.tool_version, cached.tool_schema, cached.openai_schema)
    is distinct from (excluded.tool_version, excluded.tool_schema, excluded.openai_schema);
  get diagnostics v_changed = row_count;

  delete from public.mcp_tools_cache cached
  where cached.connection_id = p_connection_id
    and not exists (
      select 1 from jsonb_array_elements(p_tools) as tool where tool ->> 'name' = cached.tool_name
    );

  update public.agent_mcp_connections connection
  set tools_listed_at = clock_timestamp()
  where connection.id = p_connection_id;
  return v_changed;
end;
$$;
comment on function private.store_tools(uuid, jsonb) is
  'Stores a server''s whole list [{name, version, schema, openai_schema}]: writes only rows whose definition differs, removes tools that vanished, and returns how many were written. Called by the gateway.';
revoke all on function private.store_tools(uuid, jsonb) from public;
