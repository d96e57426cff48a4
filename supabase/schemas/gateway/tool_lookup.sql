-- The tools that an agent may use, and the data that one call needs.

create function private.tools_of_agent(p_agent_id uuid, p_task_id uuid)
returns table (tool_id uuid, allowed_tools text[])
language plpgsql
stable
set search_path = ''
as $$
declare
  v_changed constant jsonb := (
    select task.agent_changes -> 'tools' from public.tasks as task where task.id = p_task_id and task.agent_id = p_agent_id
  );
begin
  if v_changed is null then
    return query
      select granted.tool_id, granted.allowed_tools from public.agent_tools as granted where granted.agent_id = p_agent_id;
  else
    return query
      select tool.id, case when listed ? 'allowed_tools' then array(select jsonb_array_elements_text(listed -> 'allowed_tools')) end
      from jsonb_array_elements(v_changed) as listed
      join public.tools as tool on tool.slug = listed ->> 'tool';
  end if;
end;
$$;
comment on function private.tools_of_agent(uuid, uuid) is
  'The tools of an agent, as agent_tools has them or, in a task (null: none) that changes the agent''s tools, as the task has them. allowed_tools as in agent_tools. Calls also need the scopes of the task''s owner.';
-- get_agent_mcp_tools() runs with the rights of its caller.
grant execute on function private.tools_of_agent(uuid, uuid) to service_role;

create function public.get_agent_mcp_tools(p_agent_id uuid, p_user_id uuid default null, p_task_id uuid default null)
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
  success_count int,
  parameter_shape jsonb,
  data_flows jsonb,
  destination text
)
language plpgsql
stable
set search_path = ''
as $$
begin
  return query
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
      learned.success_count,
      case
        when learned.is_shape then learned.successful_parameters -> -1
        else private.parameter_shape(learned.successful_parameters -> -1, cached.tool_schema -> 'inputSchema')
      end,
      tool.data_flows,
      substring(coalesce(tool.config ->> 'mcp_url', tool.config ->> 'url') from '^https?://([^/?#]+)')
    from private.tools_of_agent(p_agent_id, p_task_id) as granted
    join public.tools tool on tool.id = granted.tool_id and tool.is_active
    join public.agent_mcp_connections connection
      on connection.id = (private.connection_of(tool.id, p_user_id)).id
    cross join lateral private.learned_parameters(connection.id) as learned
    join public.mcp_tools_cache cached on cached.id = learned.cached_id and cached.state = 'approved'
    where (granted.allowed_tools is null or cached.tool_name = any (granted.allowed_tools))
      and coalesce((private.find_mcp_policy(tool.slug, cached.tool_name, p_user_id)).is_allowed, true)
    order by tool.slug, cached.tool_name;
end;
$$;
comment on function public.get_agent_mcp_tools(uuid, uuid, uuid) is
  'The cached tools of an agent that acts for a user (null: the service) in a task (null: in none), without tools that a policy forbids, and with arguments of earlier successful calls: the user''s own, or else (is_shape) the shapes from all users. Called by the gateway.';
revoke all on function public.get_agent_mcp_tools(uuid, uuid, uuid) from public, anon, authenticated, service_role;
grant execute on function public.get_agent_mcp_tools(uuid, uuid, uuid) to service_role;

create function private.breaker_state(p_connection public.agent_mcp_connections)
returns text
language plpgsql
set search_path = ''
as $$
begin
  return case
    when p_connection.retry_at is null then 'closed'
    when p_connection.retry_at > clock_timestamp() then 'open'
    else 'half_open'
  end;
end;
$$;
comment on function private.breaker_state(public.agent_mcp_connections) is
  'State of the circuit breaker. closed: calls run. open: calls fail immediately until retry_at. half_open: one call may try.';

create function private.connect_tool_server(p_tool_id uuid, p_user_id uuid)
returns jsonb
language plpgsql
set search_path = ''
as $$
declare
  -- A separate statement, because the statement that creates the connection cannot see it yet.
  v_connection_id uuid := private.ensure_connection(p_tool_id, p_user_id);
begin
  return (
    select jsonb_build_object(
      'tool', jsonb_build_object(
        'id', tool.id, 'slug', tool.slug, 'name', tool.name, 'type', tool.type,
        'description', tool.description,
        'config', tool.config, 'credential_type', tool.credential_type,
        'credential_secret_name', tool.credential_secret_name
      ),
      'connection', jsonb_build_object(
        'id', connection.id, 'protocol', connection.protocol,
        'discovery', connection.discovery, 'session', connection.session,
        'are_instructions_approved', coalesce(private.are_instructions_approved(connection), false),
        'instructions_hash', private.instructions_hash(connection)
      ),
      'tools_listed_at', connection.tools_listed_at,
      'listing_failed_at', connection.listing_failed_at,
      'listing_error', connection.listing_error,
      'breaker', private.breaker_state(connection),
      'retry_at', connection.retry_at
    )
    from public.agent_mcp_connections connection
    join public.tools tool on tool.id = connection.tool_id
    where connection.id = v_connection_id
  );
end;
$$;
comment on function private.connect_tool_server(uuid, uuid) is
  'Creates a user''s connection to a server (null: the service''s) if there is none, and returns it with the row of tools in the form that the gateway reads: {tool, connection, tools_listed_at, listing_failed_at, listing_error, breaker, retry_at}.';

create function private.is_listing_due(p_server jsonb, p_max_age_seconds int)
returns boolean
language plpgsql
set search_path = ''
as $$
begin
  return coalesce(
      (p_server ->> 'tools_listed_at')::timestamptz < clock_timestamp() - make_interval(secs => p_max_age_seconds), true)
    and coalesce((p_server ->> 'listing_failed_at')::timestamptz < clock_timestamp() - interval '1 minute', true)
    and p_server ->> 'breaker' <> 'open'
    and private.pause_in_force('server', p_server #>> '{tool,slug}') is null;
end;
$$;
comment on function private.is_listing_due(jsonb, int) is
  'True when a server (as returned by connect_tool_server()) should list its tools: its list is missing or old, listing did not just fail, and the server is not paused.';

create function private.agent_tool_servers(
  p_agent_id uuid, p_user_id uuid, p_max_age_seconds int, p_task_id uuid default null
)
returns table (server jsonb, is_due boolean)
language plpgsql
set search_path = ''
as $$
begin
  return query
    select found.server, private.is_listing_due(found.server, p_max_age_seconds)
    from private.tools_of_agent(p_agent_id, p_task_id) as granted
    join public.tools tool on tool.id = granted.tool_id and tool.is_active
    cross join lateral (select private.connect_tool_server(tool.id, p_user_id) as server) as found
    order by tool.slug;
end;
$$;
comment on function private.agent_tool_servers(uuid, uuid, int, uuid) is
  'The active tool servers of an agent in a task (null: in none), and which of them should list their tools. Called by the gateway.';

create function private.tool_call_user(p_caller jsonb)
returns uuid
language plpgsql
stable
set search_path = ''
as $$
declare
  v_task_id uuid := (p_caller ->> 'task_id')::uuid;
  v_user_id uuid := (p_caller ->> 'user_id')::uuid;
  v_agent_id uuid := (p_caller ->> 'agent_id')::uuid;
begin
  if v_task_id is not null then
    select task.created_by into v_user_id from public.tasks task where task.id = v_task_id;
    if not found then
      perform private.raise_error('TASK_NOT_FOUND',
        format('Cannot call a tool for the task %s: the task does not exist', v_task_id),
        'Omit task_id, or name an existing task.');
    end if;
  end if;
  if v_user_id is not null and not exists (select 1 from auth.users person where person.id = v_user_id) then
    perform private.raise_error('CALLER_REQUIRED',
      format('Cannot call a tool as the user %s: the user does not exist', v_user_id),
      'Name an existing user.');
  end if;
  if v_agent_id is not null and not exists (select 1 from public.agents agent where agent.id = v_agent_id) then
    perform private.raise_error('AGENT_NOT_FOUND',
      format('Cannot call a tool for the agent %s: the agent does not exist', v_agent_id),
      'Omit agent_id, or name an existing agent.');
  end if;
  return v_user_id;
end;
$$;
comment on function private.tool_call_user(jsonb) is
  'The user on whose behalf a caller {user_id, task_id, agent_id} acts: inside a task, always the task''s owner. Called by the gateway.';

create function private.caller_scopes(p_caller jsonb, p_user_id uuid)
returns text[]
language plpgsql
stable
set search_path = ''
as $$
begin
  return case
    when p_user_id is null then null
    -- A task has the scopes of scopes_of_task(). When one of its tools sends the token of an OAuth client, the
    -- client's grant limits them further.
    when p_caller ->> 'task_id' is not null then private.common_scopes(
      private.scopes_of_task((p_caller ->> 'task_id')::uuid, p_user_id),
      case when p_caller ->> 'client_id' is null then '{admin:*}'
        else private.granted_scopes(p_user_id, p_caller ->> 'client_id') end)
    when (p_caller ->> 'is_service')::boolean then null
    else private.granted_scopes(p_user_id, p_caller ->> 'client_id')
  end;
end;
$$;
comment on function private.caller_scopes(jsonb, uuid) is
  'The scopes of a caller {task_id, client_id, is_service} who acts for that user; null: every scope. Called by the gateway.';

create function private.required_call_secrets(p_tool public.tools, p_user_id uuid, p_is_agent boolean)
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
declare
  v_named constant jsonb := private.named_secrets(p_tool.config);
begin
  if v_named <> '[]' then
    perform private.assert_shared_credential(p_tool.id, p_user_id, p_is_agent);
  end if;
  return jsonb_build_object(
    'credential', private.resolve_tool_credential(p_tool.id, p_user_id, p_is_agent),
    'named', private.resolve_named_secrets(p_names => v_named, p_tool_id => p_tool.id)
  );
end;
$$;
comment on function private.required_call_secrets(public.tools, uuid, boolean) is
  'Everything that a tool call needs from Vault: {credential: resolve_tool_credential(), named: resolve_named_secrets() of the headers and query of its config}. Raises what these two raise when a secret is missing or may not be used for this call.';

create function private.tool_call_secrets(p_tool public.tools, p_user_id uuid, p_is_agent boolean)
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
begin
  return private.required_call_secrets(p_tool, p_user_id, p_is_agent);
exception when sqlstate 'PT422' or sqlstate 'PT403' then
  return null;
end;
$$;
comment on function private.tool_call_secrets(public.tools, uuid, boolean) is
  'The result of required_call_secrets(), or null if it raises; the gateway then resolves the secrets itself and gets the error.';

create function private.begin_tool_call(p_call jsonb)
returns jsonb
language plpgsql
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
declare
  v_caller jsonb := p_call -> 'caller';
  v_user_id uuid := private.tool_call_user(v_caller);
  v_agent_id uuid := (v_caller ->> 'agent_id')::uuid;
  v_name text := p_call ->> 'tool_name';
  v_tool public.tools;
  v_server jsonb;
  v_cached public.mcp_tools_cache;
  v_policy public.mcp_policies;
  v_is_due boolean;
  v_is_granted boolean;
  v_is_guardrail boolean;
  v_call jsonb;
  v_pause jsonb;
  v_retry_after_ms int := 0;
begin
  -- A server crash may lose these writes, so their commit need not wait for the disk. The commit of the
  -- ledger does.
  perform set_config('synchronous_commit', 'off', true);
  -- First, because calls of unknown tools are recorded too.
  if (p_call ->> 'is_charged')::boolean then
    perform private.assert_room_left('ledger_bytes', v_user_id, 'call the tool');
  end if;
  select tool.* into v_tool
  from public.tools tool
  where tool.slug = p_call ->> 'server' and tool.is_active;
  if not found then
    return null;
  end if;
  v_server := private.connect_tool_server(v_tool.id, v_user_id);
  v_is_due := v_tool.type <> 'internal' and p_call ->> 'max_age_seconds' is not null
    and private.is_listing_due(v_server, (p_call ->> 'max_age_seconds')::int);

  select cached.* into v_cached
  from public.mcp_tools_cache cached
  where cached.connection_id = (v_server #>> '{connection,id}')::uuid and cached.tool_name = v_name;
  if not found then
    -- A catalog key (name@version) or name_vVersion is another name of the same tool.
    select cached.* into v_cached
    from public.mcp_tools_cache cached
    where cached.connection_id = (v_server #>> '{connection,id}')::uuid
      and v_name in (cached.tool_name || '@' || cached.tool_version, cached.tool_name || '_v' || cached.tool_version)
    limit 1;
  end if;
  if not found and v_tool.type = 'internal' then
    -- An older version has no row; the limits and grants of its tool apply to it.
    select cached.* into v_cached
    from public.mcp_tools_cache cached
    where cached.connection_id = (v_server #>> '{connection,id}')::uuid
      and cached.tool_version is not null
      and cached.tool_name = substring(v_name from '^(.+)(?:@|_v)[0-9.]+$');
  end if;
  v_name := coalesce(v_cached.tool_name, v_name);

  v_policy := private.find_mcp_policy(v_tool.slug, v_name, v_user_id);
  v_pause := private.pause_of_call(v_tool.slug, v_name);
  v_is_guardrail := coalesce((v_caller ->> 'is_guardrail')::boolean, false) and exists (
    select from public.agent_guardrails as guardrail
    where guardrail.tool_id = v_tool.id and guardrail.agent_id = v_agent_id and guardrail.tool_name = v_name
  );
  v_is_granted := v_agent_id is null or v_is_guardrail or exists (
    select 1 from private.tools_of_agent(v_agent_id, (v_caller ->> 'task_id')::uuid) as granted
    where granted.tool_id = v_tool.id
      and (granted.allowed_tools is null or v_name = any (granted.allowed_tools))
  );
  v_call := v_server || jsonb_build_object(
    'user_id', v_user_id,
    'session_id', private.session_of_call(v_caller, v_user_id),
    'client_id', coalesce(
      v_caller ->> 'client_id', (private.client_of_task((v_caller ->> 'task_id')::uuid)).client_id),
    -- The operator sets guardrails, so they also run for users who lack the scope of their tool.
    'scopes', case when not v_is_guardrail then private.caller_scopes(v_caller, v_user_id) end,
    'is_due', v_is_due,
    'is_granted', v_is_granted,
    'is_allowed', coalesce(v_policy.is_allowed, true),
    'pause', v_pause,
    -- The operator sets guardrails, so nobody approves their calls.
    'approval', case when not v_is_guardrail then private.approval_of_call(p_call, v_tool.id, v_name, v_user_id) end,
    'timeout_ms', coalesce(v_policy.timeout_ms, (
      select models.timeout_ms from public.mcp_tool_models as models
      where models.mcp_name = v_tool.slug and models.tool_name = v_name)),
    'max_input_bytes', v_policy.max_input_bytes,
    'retry_after_ms', 0,
    'secrets', case
      when v_tool.type <> 'internal' and v_is_granted and coalesce(v_policy.is_allowed, true)
        then private.tool_call_secrets(v_tool, v_user_id, coalesce((v_caller ->> 'is_agent')::boolean, false))
    end,
    'cached', case when v_cached.id is not null then jsonb_build_object(
      'name', v_cached.tool_name, 'version', v_cached.tool_version, 'schema', v_cached.tool_schema,
      'hash', v_cached.definition_hash, 'state', v_cached.state, 'held', v_cached.held_definition -> 'schema'
    ) end,
    'tool_names', case when v_cached.id is null then (
      select coalesce(jsonb_agg(cached.tool_name order by cached.tool_name), '[]')
      from public.mcp_tools_cache cached
      where cached.connection_id = (v_server #>> '{connection,id}')::uuid
    ) else '[]' end
  );
  -- Last, because a user's concurrent calls wait for the bucket until this transaction ends. Only existing
  -- names get one, so that invented names cannot fill the table.
  if (p_call ->> 'is_charged')::boolean and v_cached.id is not null and not v_is_due and v_pause is null
    and coalesce(v_policy.is_allowed, true) and (v_user_id is not null or v_policy.id is not null) then
    v_retry_after_ms := private.take_tool_call(
      v_tool.id, v_name, v_user_id,
      coalesce(v_policy.calls_per_minute, 600), coalesce(v_policy.burst_calls, 200));
  end if;
  if v_retry_after_ms > 0 then
    return v_call || jsonb_build_object('retry_after_ms', v_retry_after_ms, 'secrets', null);
  end if;
  return v_call;
end;
$$;
comment on function private.begin_tool_call(jsonb) is
  'Everything that one call {server, tool_name, caller: {user_id, agent_id, task_id, client_id, session_id, client_name, is_service, is_agent, is_guardrail, joins_session}, step_seq, is_charged, max_age_seconds} needs: the result of connect_tool_server() and {user_id, session_id, client_id (in a task the client that created its job), scopes (null: all), is_due, is_granted, is_allowed, pause: pause_of_call(), approval: approval_of_call(), timeout_ms, max_input_bytes (null: no limit), retry_after_ms (0: not limited), secrets: tool_call_secrets() unless the call is refused here, cached (the newest version, also for a call of an older one) or null, tool_names if cached is null}. Null when no such server is registered and active. Also charges the call to its rate limit, unless the server''s list is older than max_age_seconds (null: any age), and creates its session. Called by the gateway.';

create function private.usable_servers(p_caller jsonb, p_server text default null)
returns table (server jsonb, scopes jsonb)
language plpgsql
set search_path = ''
as $$
declare
  v_user_id uuid := private.tool_call_user(p_caller);
  v_agent_id uuid := (p_caller ->> 'agent_id')::uuid;
  v_scopes jsonb := to_jsonb(private.caller_scopes(p_caller, v_user_id));
begin
  return query
  select jsonb_build_object(
      'tool', jsonb_build_object(
        'id', tool.id, 'slug', tool.slug, 'name', tool.name, 'type', tool.type, 'description', tool.description,
        'config', tool.config, 'credential_type', tool.credential_type,
        'credential_secret_name', tool.credential_secret_name),
      'connection_id', connection.id,
      'user_id', v_user_id,
      'health', coalesce(connection.health, 'unknown'),
      'breaker', case when connection.id is null then 'closed' else private.breaker_state(connection) end,
      'retry_at', connection.retry_at,
      'failure_count', coalesce(connection.failure_count, 0),
      'last_success_at', connection.last_success_at,
      'tools_listed_at', connection.tools_listed_at,
      'tool_scopes', (
        select coalesce(jsonb_agg(to_jsonb(cached.scopes)), '[]')
        from public.mcp_tools_cache cached
        where cached.connection_id = connection.id and cached.state = 'approved'
          and (granted.allowed_tools is null or cached.tool_name = any (granted.allowed_tools))
          and coalesce((private.find_mcp_policy(tool.slug, cached.tool_name, v_user_id)).is_allowed, true))
    ),
    v_scopes
  from public.tools tool
  left join public.agent_mcp_connections connection
    on connection.id = (private.connection_of(tool.id, v_user_id)).id
  left join private.tools_of_agent(v_agent_id, (p_caller ->> 'task_id')::uuid) as granted on granted.tool_id = tool.id
  where tool.is_active
    and (p_server is null or tool.slug = p_server)
    and (v_agent_id is null or granted.tool_id is not null)
  order by tool.slug;
end;
$$;
comment on function private.usable_servers(jsonb, text) is
  'The active servers, limited to those of the agent if the caller names one, with the caller''s connections and scopes (null: all). Called by the gateway.';

create function private.begin_relay(p_tool_id uuid, p_user_id uuid)
returns jsonb
language plpgsql
set search_path = ''
as $$
declare
  -- No tool has this name: requests that name no tool share one bucket.
  c_no_tool constant text := '';
  v_server jsonb := private.connect_tool_server(p_tool_id, p_user_id);
  v_policy public.mcp_policies := private.find_mcp_policy(v_server #>> '{tool,slug}', c_no_tool, p_user_id);
  v_retry_after_ms int := 0;
begin
  if coalesce(v_policy.is_allowed, true) and (p_user_id is not null or v_policy.id is not null) then
    v_retry_after_ms := private.take_tool_call(
      p_tool_id, c_no_tool, p_user_id,
      coalesce(v_policy.calls_per_minute, 600), coalesce(v_policy.burst_calls, 200));
  end if;
  return v_server || jsonb_build_object(
    'is_allowed', coalesce(v_policy.is_allowed, true),
    'timeout_ms', v_policy.timeout_ms,
    'retry_after_ms', v_retry_after_ms
  );
end;
$$;
comment on function private.begin_relay(uuid, uuid) is
  'A server (as returned by connect_tool_server()) for a request that names no tool, such as one for resources or prompts, with {is_allowed, timeout_ms, retry_after_ms (0: not limited)} of the server''s policy. Charges the request to that policy''s rate limit. Called by the gateway.';

create function private.server_listing(p_tool_id uuid, p_user_id uuid, p_max_age_seconds int)
returns jsonb
language plpgsql
set search_path = ''
as $$
declare
  v_server jsonb := private.connect_tool_server(p_tool_id, p_user_id);
begin
  return v_server || jsonb_build_object(
    'is_due', private.is_listing_due(v_server, p_max_age_seconds),
    'dropped', (
      select connection.dropped_tools from public.agent_mcp_connections connection
      where connection.id = (v_server #>> '{connection,id}')::uuid),
    'tools', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'name', cached.tool_name,
        'version', cached.tool_version,
        'schema', cached.tool_schema,
        'hash', cached.definition_hash,
        'losses', cached.schema_losses,
        'scopes', to_jsonb(cached.scopes),
        'is_allowed', coalesce(
          (private.find_mcp_policy(v_server #>> '{tool,slug}', cached.tool_name, p_user_id)).is_allowed, true),
        'models', private.tool_model_options(v_server #>> '{tool,slug}', cached.tool_name),
        'state', cached.state,
        'held', cached.held_definition -> 'schema',
        'approved', approved.tool_schema,
        'is_approved_anothers', coalesce(approved.is_anothers, false),
        'successful_parameters', learned.successful_parameters,
        'is_shape', learned.is_shape,
        'success_count', learned.success_count,
        'last_successful_call', learned.last_successful_call,
        'last_updated', cached.last_updated
      ) order by cached.tool_name), '[]')
      from public.mcp_tools_cache cached
      join private.learned_parameters((v_server #>> '{connection,id}')::uuid) as learned
        on learned.cached_id = cached.id
      -- The approved definition may only be on another user's connection.
      left join lateral (
        select other.tool_schema, secrecy.is_anothers
        from public.mcp_tools_cache other
        join public.agent_mcp_connections elsewhere on elsewhere.id = other.connection_id
        cross join lateral (
          select p_user_id is not null and other.id <> cached.id
            and (elsewhere.user_id is not null or not other.is_own) as is_anothers
        ) as secrecy
        where cached.state = 'quarantined' and elsewhere.tool_id = p_tool_id
          and other.tool_name = cached.tool_name
          and private.approved_tool_hashes(p_tool_id) -> other.tool_name ? other.definition_hash
        order by other.id = cached.id desc, secrecy.is_anothers, other.last_updated desc
        limit 1
      ) as approved on true
      where cached.connection_id = (v_server #>> '{connection,id}')::uuid)
  );
end;
$$;
comment on function private.server_listing(uuid, uuid, int) is
  'A server (as returned by connect_tool_server()) with {is_due, dropped, tools}: the cached tools, each with is_allowed by its policy and with arguments of earlier successful calls, the user''s own or else (is_shape) the shapes from all users. A quarantined tool also has its previously approved definition; with is_approved_anothers, this user may not read it. Called by the gateway.';
