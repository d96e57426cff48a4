-- What an agent may use, and all that one call needs to know.

create function public.get_agent_mcp_tools(p_agent_id uuid, p_user_id uuid default null)
returns table (
  tool_id uuid,
  server text,
  tool_type text,
  connection_id uuid,
  tool_name text,
  tool_version text,
  tool_schema jsonb,
  openai_schema jsonb,
  successful_parameters jsonb,
  is_shape boolean,
  last_successful_call timestamptz,
  success_count int
)
language sql
stable
security invoker
set search_path = ''
as $$
  select
    tool.id,
    tool.slug,
    tool.type,
    connection.id,
    cached.tool_name,
    cached.tool_version,
    cached.tool_schema,
    cached.openai_schema,
    learned.successful_parameters,
    learned.is_shape,
    learned.last_successful_call,
    learned.success_count
  from public.agent_tools granted
  join public.tools tool on tool.id = granted.tool_id and tool.is_active
  join public.agent_mcp_connections connection
    on connection.tool_id = tool.id and connection.user_id is not distinct from p_user_id
  join public.mcp_tools_cache cached on cached.connection_id = connection.id
  left join public.agent_mcp_connections service
    on service.tool_id = tool.id and service.user_id is null
  left join public.mcp_tools_cache shared
    on shared.connection_id = service.id and shared.tool_name = cached.tool_name
  -- A user's own sets if there are any, else the shape of what worked for anyone.
  cross join lateral (
    select
      own.id is null as is_shape,
      coalesce(own.successful_parameters, shared.successful_parameters, '[]') as successful_parameters,
      coalesce(own.last_successful_call, shared.last_successful_call) as last_successful_call,
      coalesce(own.success_count, shared.success_count, 0) as success_count
    from (select 1) as one
    left join public.mcp_tools_cache own
      on own.id = cached.id and connection.user_id is not null and own.successful_parameters <> '[]'
  ) as learned
  where granted.agent_id = p_agent_id
    and (granted.allowed_tools is null or cached.tool_name = any (granted.allowed_tools))
  order by tool.slug, cached.tool_name;
$$;
comment on function public.get_agent_mcp_tools(uuid, uuid) is
  'The cached tools of an agent acting for a user (null: the service) with what worked before: the user''s own arguments, or else (is_shape) the shape of anyone''s. Called by the gateway.';
revoke all on function public.get_agent_mcp_tools(uuid, uuid) from public, anon, authenticated;
grant execute on function public.get_agent_mcp_tools(uuid, uuid) to service_role;

create function private.tool_server(p_tool_id uuid, p_user_id uuid)
returns jsonb
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  -- In a statement of its own: the one that makes the connection does not see it yet.
  v_connection_id uuid := private.ensure_connection(p_tool_id, p_user_id);
begin
  return (
    select jsonb_build_object(
      'tool', jsonb_build_object(
        'id', tool.id, 'slug', tool.slug, 'type', tool.type, 'description', tool.description,
        'config', tool.config, 'credential_type', tool.credential_type,
        'credential_secret_name', tool.credential_secret_name
      ),
      'connection', jsonb_build_object(
        'id', connection.id, 'protocol', connection.protocol,
        'discovery', connection.discovery, 'session', connection.session
      ),
      'tools_listed_at', connection.tools_listed_at
    )
    from public.agent_mcp_connections connection
    join public.tools tool on tool.id = connection.tool_id
    where connection.id = v_connection_id
  );
end;
$$;
comment on function private.tool_server(uuid, uuid) is
  'A registry row and its connection for a user (null: the service), as the gateway reads them: {tool, connection, tools_listed_at}.';
revoke all on function private.tool_server(uuid, uuid) from public;

create function private.agent_tool_servers(p_agent_id uuid, p_user_id uuid, p_max_age_seconds int)
returns table (server jsonb, is_stale boolean)
language sql
volatile
security invoker
set search_path = ''
as $$
  select found.server,
    coalesce(
      (found.server ->> 'tools_listed_at')::timestamptz < now() - make_interval(secs => p_max_age_seconds),
      true
    )
  from public.agent_tools granted
  join public.tools tool on tool.id = granted.tool_id and tool.is_active
  cross join lateral (select private.tool_server(tool.id, p_user_id) as server) as found
  where granted.agent_id = p_agent_id
  order by tool.slug;
$$;
comment on function private.agent_tool_servers(uuid, uuid, int) is
  'The active tool servers of an agent, and which of them were last listed longer ago than p_max_age_seconds. Called by the gateway.';
revoke all on function private.agent_tool_servers(uuid, uuid, int) from public;

create function private.load_tool_call(p_tool_id uuid, p_tool_name text, p_agent_id uuid, p_user_id uuid)
returns jsonb
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_slug text;
  v_is_granted boolean;
  v_server jsonb;
begin
  select tool.slug,
    p_agent_id is null or exists (
      select 1 from public.agent_tools granted
      where granted.tool_id = tool.id and granted.agent_id = p_agent_id
        and (granted.allowed_tools is null or p_tool_name = any (granted.allowed_tools))
    )
  into v_slug, v_is_granted
  from public.tools tool
  where tool.id = p_tool_id and tool.is_active;
  if not found then
    return null;
  end if;
  v_server := private.tool_server(p_tool_id, p_user_id);
  return v_server || jsonb_build_object(
    'is_allowed', v_is_granted and coalesce(
      (select policy.is_allowed from private.find_mcp_policy(v_slug, p_tool_name, p_user_id) policy), true),
    'timeout_ms',
      (select policy.timeout_ms from private.find_mcp_policy(v_slug, p_tool_name, p_user_id) policy),
    'cached', (
      select jsonb_build_object('version', cached.tool_version, 'schema', cached.tool_schema)
      from public.mcp_tools_cache cached
      where cached.connection_id = (v_server #>> '{connection,id}')::uuid and cached.tool_name = p_tool_name
    ),
    'tool_names', (
      select coalesce(jsonb_agg(cached.tool_name order by cached.tool_name), '[]')
      from public.mcp_tools_cache cached
      where cached.connection_id = (v_server #>> '{connection,id}')::uuid
    )
  );
end;
$$;
comment on function private.load_tool_call(uuid, text, uuid, uuid) is
  'All that one call needs: {tool, connection, is_allowed, timeout_ms, cached: {version, schema} or null, tool_names}; null when no such tool is registered and active. An agent needs its agent_tools row. Called by the gateway.';
revoke all on function private.load_tool_call(uuid, text, uuid, uuid) from public;
