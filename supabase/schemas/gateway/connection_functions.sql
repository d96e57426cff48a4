-- Functions that create connections and keep their state.
--
-- Functions that every tool call runs are in plpgsql, whose plans a session keeps. A SQL function that sets
-- search_path is never inlined, and is parsed and planned again in each transaction.

create function private.named_secrets(p_config jsonb)
returns jsonb
language plpgsql
immutable
set search_path = ''
as $$
begin
  return jsonb_path_query_array(p_config, '$.headers.*.secret') || jsonb_path_query_array(p_config, '$.query.*.secret');
end;
$$;
comment on function private.named_secrets(jsonb) is
  'Names of the secrets that the headers and query parameters of a tool''s config refer to.';
grant execute on function private.named_secrets(jsonb) to service_role;

create function private.tool_config_hash(p_tool public.tools)
returns text
language plpgsql
stable
set search_path = ''
as $$
declare
  v_names text[] := array_remove(array[p_tool.credential_secret_name], null);
  v_secrets text[];
begin
  if p_tool.config ?| '{headers,query}' then
    v_names := v_names || array(select jsonb_array_elements_text(private.named_secrets(p_tool.config)));
  end if;
  if v_names <> '{}' then
    -- The encrypted form is enough: replacing a value changes it.
    select array_agg(secret.secret order by secret.name) into v_secrets
    from vault.secrets as secret
    -- The second condition matches Vault's partial index.
    where secret.name = any (v_names) and secret.name is not null;
  end if;
  return encode(sha256(convert_to(jsonb_build_array(
    p_tool.type, p_tool.config, p_tool.credential_secret_name, p_tool.credential_type, v_secrets
  )::text, 'UTF8')), 'hex');
end;
$$;
comment on function private.tool_config_hash(public.tools) is
  'Fingerprint of everything that a connection depends on: the row of tools and the secrets that it names, because a replaced secret may belong to another account.';
grant execute on function private.tool_config_hash(public.tools) to service_role;

create function private.connection_of(p_tool_id uuid, p_user_id uuid)
returns public.agent_mcp_connections
language plpgsql
stable
set search_path = ''
as $$
declare
  v_connection public.agent_mcp_connections;
begin
  -- Two statements, because `is not distinct from` cannot use an index.
  if p_user_id is null then
    select connection.* into v_connection
    from public.agent_mcp_connections connection
    where connection.tool_id = p_tool_id and connection.user_id is null;
  else
    select connection.* into v_connection
    from public.agent_mcp_connections connection
    where connection.tool_id = p_tool_id and connection.user_id = p_user_id;
  end if;
  return v_connection;
end;
$$;
comment on function private.connection_of(uuid, uuid) is
  'The connection of a tool server and user (null: the service); all null when there is none.';
grant execute on function private.connection_of(uuid, uuid) to service_role;

create function private.ensure_connection(p_tool_id uuid, p_user_id uuid)
returns uuid
language plpgsql
set search_path = ''
as $$
declare
  v_connection public.agent_mcp_connections := private.connection_of(p_tool_id, p_user_id);
  v_id uuid;
  v_hash text := (select private.tool_config_hash(tool) from public.tools tool where tool.id = p_tool_id);
begin
  if v_connection.config_hash = v_hash then
    return v_connection.id;
  end if;
  if v_hash is null then
    perform private.raise_error('TOOL_NOT_FOUND',
      format('Cannot connect to the tool %s: it is not registered', p_tool_id),
      'List the registered tools with GET /rest/v1/tools?select=id,slug.');
  end if;
  insert into public.agent_mcp_connections as connection (tool_id, user_id, config_hash)
  values (p_tool_id, p_user_id, v_hash)
  on conflict (tool_id, user_id) do update
  set config_hash = v_hash, protocol = null, discovery = null, session = null,
      tools_listed_at = null, health = 'unknown', failure_count = 0, retry_at = null,
      listing_started_at = null, listing_failed_at = null, listing_error = null
  where connection.config_hash <> v_hash
  returning connection.id into v_id;
  -- A concurrent session may have created it.
  return coalesce(v_id, (private.connection_of(p_tool_id, p_user_id)).id);
end;
$$;
comment on function private.ensure_connection(uuid, uuid) is
  'Returns the connection of a tool server and user (null: the service). Creates a missing one, and resets one whose row of tools, or a secret that the row names, has changed. Called by the gateway.';
grant execute on function private.ensure_connection(uuid, uuid) to service_role;

create function private.request_listing(p_tool_id uuid, p_user_id uuid)
returns void
language sql
set search_path = ''
as $$
  update public.agent_mcp_connections as connection
  set session = null, tools_listed_at = null, listing_started_at = null, listing_failed_at = null, listing_error = null
  where connection.tool_id = request_listing.p_tool_id and connection.user_id = request_listing.p_user_id;
$$;
comment on function private.request_listing(uuid, uuid) is
  'Requests a new tool list for a user''s connection, because a server may offer other tools to another account.';

create function private.begin_listing(p_connection_id uuid)
returns boolean
language plpgsql
set search_path = ''
as $$
declare
  -- The caller that is listing renews the time every second.
  c_abandoned_after constant interval := '4 seconds'::interval;
begin
  update public.agent_mcp_connections connection
  set listing_started_at = clock_timestamp()
  where connection.id = p_connection_id
    and (connection.listing_started_at is null or connection.listing_started_at < clock_timestamp() - c_abandoned_after);
  return found;
end;
$$;
comment on function private.begin_listing(uuid) is
  'Returns true to the one caller that may now list the server''s tools. That caller calls continue_listing() while it works; record_tools(), fail_listing() or end_listing() ends it. Called by the gateway.';

create function private.continue_listing(p_connection_id uuid)
returns void
language sql
set search_path = ''
as $$
  update public.agent_mcp_connections connection
  set listing_started_at = clock_timestamp()
  where connection.id = p_connection_id and connection.listing_started_at is not null;
$$;
comment on function private.continue_listing(uuid) is
  'Renews the caller''s right to list, every second. When a caller dies, another may soon list instead, so that agents do not wait long for their tools. Called by the gateway.';

create function private.end_listing(p_connection_id uuid)
returns void
language sql
set search_path = ''
as $$
  update public.agent_mcp_connections connection
  set listing_started_at = null
  where connection.id = p_connection_id;
$$;
comment on function private.end_listing(uuid) is
  'Ends the caller''s right to list when another caller has listed in the meantime. Called by the gateway.';

create function private.record_connection_failure(p_connection_id uuid)
returns void
language sql
set search_path = ''
as $$
  update public.agent_mcp_connections connection
  set failure_count = connection.failure_count + 1,
      health = case when connection.failure_count + 1 >= 3 then 'failing' else connection.health end,
      retry_at = case
        when connection.failure_count + 1 >= 5 then clock_timestamp()
          + least(interval '30 seconds' * 2 ^ least(connection.failure_count + 1 - 5, 10), interval '10 minutes')
        else connection.retry_at
      end
  where connection.id = p_connection_id;
$$;
comment on function private.record_connection_failure(uuid) is
  'Counts a failure to reach a server. The third in a row sets health to failing. The fifth opens the circuit breaker for 30 seconds, and each further one for twice as long, at most ten minutes.';

create function private.record_connection_answer(p_connection_id uuid)
returns void
language sql
set search_path = ''
as $$
  update public.agent_mcp_connections connection
  set failure_count = 0, retry_at = null, health = 'healthy'
  where connection.id = p_connection_id
    and (connection.failure_count, connection.retry_at, connection.health)
      is distinct from (0, null::timestamptz, 'healthy');
$$;
comment on function private.record_connection_answer(uuid) is
  'Closes the circuit breaker: the server answered, even if with an error of its tool.';

create function private.begin_probe(p_connection_id uuid)
returns boolean
language plpgsql
set search_path = ''
as $$
begin
  -- The caller that moves the time forward tries the server. If it dies, another may try after 30 seconds.
  update public.agent_mcp_connections connection
  set retry_at = clock_timestamp() + interval '30 seconds'
  where connection.id = p_connection_id and connection.retry_at <= clock_timestamp();
  return found;
end;
$$;
comment on function private.begin_probe(uuid) is
  'True for the one call that may try a server whose circuit breaker is half open. Called by the gateway.';

create function private.fail_listing(p_connection_id uuid, p_error jsonb, p_is_unreachable boolean)
returns void
language plpgsql
set search_path = ''
as $$
begin
  update public.agent_mcp_connections connection
  set listing_started_at = null,
      listing_failed_at = case when p_is_unreachable then clock_timestamp() end,
      listing_error = p_error
  where connection.id = p_connection_id;
  if p_is_unreachable then
    perform private.record_connection_failure(p_connection_id);
  end if;
end;
$$;
comment on function private.fail_listing(uuid, jsonb, boolean) is
  'Records that listing a server''s tools failed. A server that could not be reached also counts a connection failure. Called by the gateway.';
