-- Functions that create connections and keep their state.
--
-- Functions that every tool call runs are in plpgsql, whose plans a session keeps. A SQL function that sets
-- search_path is never inlined, and is parsed and planned again in each transaction.

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
    v_names := v_names || array(select jsonb_array_elements_text(
      jsonb_path_query_array(p_tool.config, '$.headers.*.secret')
        || jsonb_path_query_array(p_tool.config, '$.query.*.secret')));
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
    raise sqlstate 'PT404' using
      message = format('Cannot connect to the tool %s: it is not registered', p_tool_id),
      detail = 'TOOL_NOT_FOUND',
      hint = 'List the registered tools with GET /rest/v1/tools?select=id,slug.';
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

create function private.forget_listing(p_tool_id uuid, p_user_id uuid)
returns void
language sql
set search_path = ''
as $$
  update public.agent_mcp_connections as connection
  set session = null, tools_listed_at = null, listing_started_at = null, listing_failed_at = null, listing_error = null
  where connection.tool_id = forget_listing.p_tool_id and connection.user_id = forget_listing.p_user_id;
$$;
comment on function private.forget_listing(uuid, uuid) is
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
  'Returns true to the one caller that may now list the server''s tools. That caller calls continue_listing() while it works; store_tools(), fail_listing() or end_listing() ends it. Called by the gateway.';

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

-- Approvals: fingerprints of definitions and instructions, so that a server cannot change them unnoticed ---

create function private.approved_tool_hashes(p_tool_id uuid)
returns jsonb
language sql
stable
set search_path = ''
as $$
  select coalesce((
    select connection.pin
    from public.agent_mcp_connections connection
    where connection.tool_id = p_tool_id and connection.user_id is null
  ), '{}');
$$;
comment on function private.approved_tool_hashes(uuid) is
  'Fingerprints of a server''s definitions that are approved for all users: {tool name: [hash, …]}; the empty name stands for the server''s instructions.';

create function private.approved_hashes(p_connection public.agent_mcp_connections)
returns jsonb
language sql
stable
set search_path = ''
as $$
  select coalesce(jsonb_object_agg(pinned.name, pinned.hashes), '{}')
  from (
    select hashes.key as name, jsonb_agg(distinct hash) filter (where hash is not null) as hashes
    from (
      select * from jsonb_each(private.approved_tool_hashes((p_connection).tool_id))
      union all
      select * from jsonb_each(coalesce((p_connection).pin, '{}'))
    ) as hashes
    left join lateral jsonb_array_elements(hashes.value) as hash on true
    group by hashes.key
  ) as pinned;
$$;
comment on function private.approved_hashes(public.agent_mcp_connections) is
  'Fingerprints that are approved for a connection: those for all users, and the first that its user''s own account received.';

create function private.is_own_account(p_connection public.agent_mcp_connections)
returns boolean
language sql
stable
set search_path = ''
as $$
  select exists (
    select from public.user_tool_credentials as credential
    where credential.tool_id = (p_connection).tool_id and credential.user_id = (p_connection).user_id
  );
$$;
comment on function private.is_own_account(public.agent_mcp_connections) is
  'True when a connection uses its user''s own credential, for which a server may list tools that other users do not see.';

create function private.pin_definitions(p_connection_id uuid, p_hashes jsonb, p_holds_new boolean)
returns jsonb
language plpgsql
set search_path = ''
as $$
declare
  v_connection public.agent_mcp_connections;
  v_pinned_id uuid;
  v_pin jsonb;
  v_new jsonb;
begin
  select * into strict v_connection from public.agent_mcp_connections where id = p_connection_id;
  -- Definitions that one user's own account received are not approved for other users.
  v_pinned_id := case
    when private.is_own_account(v_connection) then p_connection_id
    else private.ensure_connection(v_connection.tool_id, null)
  end;
  select coalesce(connection.pin, '{}') into strict v_pin
  from public.agent_mcp_connections connection
  where connection.id = v_pinned_id
  for no key update;
  select * into strict v_connection from public.agent_mcp_connections where id = p_connection_id;

  -- The operator registered the server for the tools of its first list, so these are approved. The
  -- instructions, under the empty name, arrive before the tools.
  if v_pin - '' = '{}' or not p_holds_new then
    v_pin := private.approved_hashes(v_connection) || v_pin;
    select jsonb_object_agg(seen.key, case when seen.value = 'null' then '[]' else jsonb_build_array(seen.value) end)
    into v_new
    from jsonb_each(p_hashes) as seen
    where not v_pin ? seen.key;
    if v_new is not null then
      update public.agent_mcp_connections connection
      set pin = coalesce(connection.pin, '{}') || v_new
      where connection.id = v_pinned_id;
    end if;
  end if;
  select * into strict v_connection from public.agent_mcp_connections where id = p_connection_id;
  return private.approved_hashes(v_connection);
end;
$$;
comment on function private.pin_definitions(uuid, jsonb, boolean) is
  'Approves new definitions {name: hash, or null when there is none} when the server is listed for the first time or when new ones need no approval, and returns the fingerprints that are approved for the connection. Concurrent first lists are serialized.';

create function private.holds_new_definitions(p_config jsonb)
returns boolean
language sql
immutable
set search_path = ''
as $$
  select not coalesce((p_config ->> 'trusted')::boolean, false)
    and coalesce(p_config ->> 'new_tools', 'hold') = 'hold';
$$;
comment on function private.holds_new_definitions(jsonb) is
  'True when definitions that a server adds after its first list need an approval: always, unless its row says that the server is trusted or that new tools are approved.';

create function private.instructions_of(p_connection public.agent_mcp_connections)
returns text
language sql
immutable
set search_path = ''
as $$
  select coalesce((p_connection).discovery ->> 'instructions', (p_connection).session ->> 'instructions');
$$;
comment on function private.instructions_of(public.agent_mcp_connections) is 'The instructions that a server gives for models.';

create function private.instructions_hash(p_connection public.agent_mcp_connections)
returns text
language sql
immutable
set search_path = ''
as $$
  select encode(sha256(convert_to(private.instructions_of(p_connection), 'UTF8')), 'hex');
$$;
comment on function private.instructions_hash(public.agent_mcp_connections) is 'SHA-256 of a server''s instructions, in hex.';

create function private.are_instructions_approved(p_connection public.agent_mcp_connections)
returns boolean
language sql
stable
set search_path = ''
as $$
  select coalesce((tool.config ->> 'trusted')::boolean, false)
    or private.approved_hashes(p_connection) -> '' ? private.instructions_hash(p_connection)
  from public.tools as tool
  where tool.id = (p_connection).tool_id;
$$;
comment on function private.are_instructions_approved(public.agent_mcp_connections) is
  'True when a server''s instructions may be passed on to models.';

create function private.save_connection_state(p_connection_id uuid, p_state jsonb)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_connection public.agent_mcp_connections;
begin
  update public.agent_mcp_connections as connection
  set protocol = p_state ->> 'protocol',
      discovery = nullif(p_state -> 'discovery', 'null'),
      session = nullif(p_state -> 'session', 'null')
  where connection.id = p_connection_id
  returning * into v_connection;
  if coalesce(v_connection.discovery, v_connection.session) is not null then
    perform private.pin_definitions(
      p_connection_id,
      jsonb_build_object('', private.instructions_hash(v_connection)),
      private.holds_new_definitions(tool.config)
    )
    from public.tools as tool
    where tool.id = v_connection.tool_id
      and not private.approved_hashes(v_connection) ? '';
  end if;
end;
$$;
comment on function private.save_connection_state(uuid, jsonb) is
  'Stores what was negotiated with a server: {protocol, discovery, session}. Approves the first instructions of a server. Called by the gateway.';

create function private.newest_versions(p_tools jsonb)
returns jsonb
language sql
immutable
set search_path = ''
as $$
  select coalesce(jsonb_agg(newest.tool order by newest.place), '[]')
  from (
    select distinct on (listed.tool ->> 'name') listed.tool, listed.place
    from jsonb_array_elements(p_tools) with ordinality as listed (tool, place)
    order by listed.tool ->> 'name',
      string_to_array(substring(listed.tool ->> 'version' from '^[0-9]{1,9}(?:\.[0-9]{1,9})*$'), '.')::int[] desc nulls last,
      listed.place
  ) as newest;
$$;
comment on function private.newest_versions(jsonb) is
  'The newest version of each tool in [{name, version}]. Older versions are not listed; the server still implements them.';

create function private.store_tools(p_connection_id uuid, p_listing jsonb)
returns int
language plpgsql
set search_path = ''
as $$
declare
  v_tools jsonb := private.newest_versions(p_listing -> 'tools');
  v_is_remote boolean := (p_listing ->> 'is_remote')::boolean;
  v_pin jsonb;
  v_changed int;
begin
  -- Serialize concurrent listings, so that the later list is stored as a whole.
  perform from public.agent_mcp_connections connection
  where connection.id = p_connection_id
  for no key update;
  if v_is_remote and not coalesce((p_listing ->> 'is_trusted')::boolean, false) then
    v_pin := private.pin_definitions(
      p_connection_id,
      (select coalesce(jsonb_object_agg(tool ->> 'name', tool -> 'hash'), '{}') from jsonb_array_elements(v_tools) as tool),
      (p_listing ->> 'holds_new')::boolean
    );
  end if;

  insert into public.mcp_tools_cache as cached
    (connection_id, tool_name, tool_version, tool_schema, openai_schema, schema_losses, definition_hash, scopes, state, held_definition)
  select p_connection_id, tool ->> 'name', tool ->> 'version', tool -> 'schema', tool -> 'openai_schema',
    coalesce(tool -> 'schema_losses', '{}'), tool ->> 'hash', array(select jsonb_array_elements_text(tool -> 'scopes')), judged.state,
    case when judged.state <> 'approved' then jsonb_build_object(
      'version', tool -> 'version', 'schema', tool -> 'schema',
      'openai_schema', tool -> 'openai_schema',
      'schema_losses', coalesce(tool -> 'schema_losses', '{}'), 'hash', tool -> 'hash') end
  from jsonb_array_elements(v_tools) as tool
  cross join lateral (
    select case
      when v_pin is null or v_pin -> (tool ->> 'name') ? (tool ->> 'hash') then 'approved'
      when v_pin ? (tool ->> 'name') then 'quarantined'
      else 'pending'
    end as state
  ) as judged
  on conflict (connection_id, tool_name) do update
  set state = excluded.state,
      held_definition = excluded.held_definition,
      scopes = excluded.scopes,
      -- A definition that is not approved is stored next to the approved one.
      tool_version = case when excluded.state = 'approved' then excluded.tool_version else cached.tool_version end,
      tool_schema = case when excluded.state = 'approved' then excluded.tool_schema else cached.tool_schema end,
      openai_schema = case when excluded.state = 'approved' then excluded.openai_schema else cached.openai_schema end,
      schema_losses = case when excluded.state = 'approved' then excluded.schema_losses else cached.schema_losses end,
      definition_hash = case when excluded.state = 'approved' then excluded.definition_hash else cached.definition_hash end,
      is_own = cached.is_own or excluded.state = 'approved',
      last_updated = now()
  where (cached.tool_version, cached.tool_schema, cached.openai_schema, cached.schema_losses, cached.scopes, cached.state, cached.held_definition, cached.is_own)
    is distinct from
    (excluded.tool_version, excluded.tool_schema, excluded.openai_schema, excluded.schema_losses, excluded.scopes, excluded.state, excluded.held_definition, cached.is_own or excluded.state = 'approved');
  get diagnostics v_changed = row_count;

  delete from public.mcp_tools_cache cached
  where cached.connection_id = p_connection_id
    and not exists (
      select 1 from jsonb_array_elements(v_tools) as tool where tool ->> 'name' = cached.tool_name
    );

  update public.agent_mcp_connections connection
  set tools_listed_at = clock_timestamp(), dropped_tools = coalesce(p_listing -> 'dropped', '[]'),
      listing_started_at = null, listing_failed_at = null, listing_error = null
  where connection.id = p_connection_id;
  if v_is_remote then
    perform private.record_connection_answer(p_connection_id);
  end if;
  return v_changed;
end;
$$;
comment on function private.store_tools(uuid, jsonb) is
  'Stores the complete list of a server {tools: [{name, version, schema, openai_schema, schema_losses, hash, scopes}], dropped, is_remote, is_trusted, holds_new}. Keeps the newest of several versions of a tool, writes only rows that differ, removes tools that are missing from the list, and holds back unapproved definitions of remote servers unless the operator trusts the server. Returns how many rows were written. Called by the gateway.';

create function private.forget_outdated_parameters()
returns trigger
language plpgsql
set search_path = ''
as $$
begin
  new.successful_parameters := '[]';
  new.success_count := 0;
  return new;
end;
$$;
comment on function private.forget_outdated_parameters() is
  'Row trigger: deletes learned arguments when the schema of the arguments changes, because they are no example for the new schema.';

create trigger forget_outdated_parameters before update of tool_schema on public.mcp_tools_cache
  for each row when (old.tool_schema -> 'inputSchema' is distinct from new.tool_schema -> 'inputSchema')
  execute function private.forget_outdated_parameters();

create function private.approve_tool_definition(p_connection_id uuid, p_tool_name text, p_definition_hash text)
returns text
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_tool_id uuid;
  v_hash text;
  v_state text;
  v_service_id uuid;
begin
  perform private.assert_operator(format('approve the definition of ''%s''', p_tool_name));
  -- Lock the user's connection before the shared one, as store_tools() does.
  select connection.tool_id into v_tool_id
  from public.agent_mcp_connections connection
  where connection.id = p_connection_id
  for no key update;
  select cached.state, coalesce(cached.held_definition ->> 'hash', cached.definition_hash) into v_state, v_hash
  from public.mcp_tools_cache cached
  where cached.connection_id = p_connection_id and cached.tool_name = p_tool_name
  union all
  select case when private.are_instructions_approved(connection) then 'approved' else 'quarantined' end,
    private.instructions_hash(connection)
  from public.agent_mcp_connections connection
  where connection.id = p_connection_id and p_tool_name = '' and private.instructions_of(connection) is not null;
  if not found then
    raise sqlstate 'PT404' using
      message = format('Cannot approve ''%s'': the connection %s has no such tool', p_tool_name, p_connection_id),
      detail = 'TOOL_NOT_FOUND',
      hint = 'List the waiting definitions: GET /rest/v1/mcp_tools_cache?state=neq.approved&select=connection_id,tool_name,held_definition.';
  end if;
  if p_definition_hash is null and (
    select count(distinct cached.held_definition ->> 'hash')
    from public.mcp_tools_cache cached
    join public.agent_mcp_connections connection on connection.id = cached.connection_id
    where connection.tool_id = v_tool_id and cached.tool_name = p_tool_name
  ) = 1 then
    p_definition_hash := v_hash;
  end if;
  -- The operator has reviewed one definition; the server may have sent another since.
  if v_hash is distinct from p_definition_hash then
    raise sqlstate 'PT409' using
      message = format('Cannot approve ''%s'': its current definition has a different hash', p_tool_name),
      detail = 'TOOL_DEFINITION_CHANGED',
      hint = format('Review the current definition and approve it with its hash %L.', v_hash);
  end if;
  if v_state = 'approved' then
    return v_state;
  end if;

  v_service_id := private.ensure_connection(v_tool_id, null);
  update public.agent_mcp_connections connection
  set pin = coalesce(connection.pin, '{}') || jsonb_build_object(
    p_tool_name, coalesce(connection.pin -> p_tool_name, '[]') || to_jsonb(v_hash))
  where connection.id = v_service_id;

  update public.mcp_tools_cache cached
  set state = 'approved',
      held_definition = null,
      tool_version = cached.held_definition ->> 'version',
      tool_schema = cached.held_definition -> 'schema',
      openai_schema = cached.held_definition -> 'openai_schema',
      schema_losses = cached.held_definition -> 'schema_losses',
      definition_hash = v_hash,
      is_own = true,
      last_updated = now()
  from public.agent_mcp_connections connection
  where connection.id = cached.connection_id and connection.tool_id = v_tool_id
    and cached.tool_name = p_tool_name and cached.held_definition ->> 'hash' = v_hash;
  perform private.note_approved_definition(p_connection_id, p_tool_name, v_hash);
  return 'approved';
end;
$$;
comment on function private.approve_tool_definition(uuid, text, text) is
  'Approves a tool''s definition. Definer: operators may not write the cache of tools; assert_operator() checks the caller.';
grant execute on function private.approve_tool_definition(uuid, text, text) to authenticated, service_role;

create function public.approve_tool_definition(
  p_connection_id uuid, p_tool_name text, p_definition_hash text default null
)
returns text
language sql
set search_path = ''
as $$
  select private.approve_tool_definition(p_connection_id, p_tool_name, p_definition_hash);
$$;
comment on function public.approve_tool_definition(uuid, text, text) is
  'Approves for every user the definition with that hash, which is the current definition of the tool at its server (an empty name: the server''s instructions), and returns the tool''s state. The hash may be omitted only while exactly one definition of the tool waits. operator_acts records the approval. For operators and the service. Raises TOOL_NOT_FOUND, TOOL_DEFINITION_CHANGED when the server has sent another definition since, INSUFFICIENT_SCOPE, AGENT_NOT_ALLOWED.';
grant execute on function public.approve_tool_definition(uuid, text, text) to authenticated, service_role;

create function private.report_absent_tools(p_task_id uuid, p_servers jsonb)
returns void
language sql
set search_path = ''
as $$
  select private.emit_event(task.id, task.master_task_id, 'tool.failed', jsonb_build_object(
    'server', absent.server, 'error_code', absent.code, 'text', absent.message
  ))
  from public.tasks as task
  cross join jsonb_to_recordset(p_servers) as absent (server text, code text, message text)
  where task.id = report_absent_tools.p_task_id
    -- Report once per task, not at each claim.
    and not exists (
      select from public.task_events as event
      where event.task_id = task.id
        and event.type = 'tool.failed'
        and not event.payload ? 'step_seq'
        and event.payload ->> 'server' = absent.server
        and event.payload ->> 'error_code' = absent.code
    );
$$;
comment on function private.report_absent_tools(uuid, jsonb) is
  'Writes an event to a task''s trace for each server [{server, code, message}] that could not list its tools. Called by the gateway.';
