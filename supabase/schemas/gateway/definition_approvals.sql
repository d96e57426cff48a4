-- Approvals: fingerprints of definitions and instructions, so that a server cannot change them unnoticed.

create function private.approved_tool_hashes(p_tool_id uuid)
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
begin
  return coalesce((
    select connection.pin
    from public.agent_mcp_connections connection
    where connection.tool_id = p_tool_id and connection.user_id is null
  ), '{}');
end;
$$;
comment on function private.approved_tool_hashes(uuid) is
  'Fingerprints of a server''s definitions that are approved for all users: {tool name: [hash, …]}; the empty name stands for the server''s instructions.';

create function private.approved_hashes(p_connection public.agent_mcp_connections)
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
begin
  return (
    select coalesce(jsonb_object_agg(pinned.name, pinned.hashes), '{}')
    from (
      select hashes.key as name, jsonb_agg(distinct hash) filter (where hash is not null) as hashes
      from (
        select * from jsonb_each(private.approved_tool_hashes(p_connection.tool_id))
        union all
        select * from jsonb_each(coalesce(p_connection.pin, '{}'))
      ) as hashes
      left join lateral jsonb_array_elements(hashes.value) as hash on true
      group by hashes.key
    ) as pinned
  );
end;
$$;
comment on function private.approved_hashes(public.agent_mcp_connections) is
  'Fingerprints that are approved for a connection: those for all users, and the first that its user''s own account received.';

create function private.is_own_account(p_connection public.agent_mcp_connections)
returns boolean
language plpgsql
stable
set search_path = ''
as $$
begin
  return exists (
    select from public.user_tool_credentials as credential
    where credential.tool_id = p_connection.tool_id and credential.user_id = p_connection.user_id
  );
end;
$$;
comment on function private.is_own_account(public.agent_mcp_connections) is
  'True when a connection uses its user''s own credential, for which a server may list tools that other users do not see.';

create function private.record_first_list(p_tool_id uuid, p_is_list boolean)
returns boolean
language plpgsql
set search_path = ''
as $$
declare
  v_service_id constant uuid := private.ensure_connection(p_tool_id, null);
  v_was_listed boolean;
begin
  select connection.was_listed into strict v_was_listed
  from public.agent_mcp_connections as connection
  where connection.id = v_service_id
  for no key update;
  if p_is_list and not v_was_listed then
    update public.agent_mcp_connections as connection set was_listed = true where connection.id = v_service_id;
  end if;
  return v_was_listed;
end;
$$;
comment on function private.record_first_list(uuid, boolean) is
  'True when a server has sent a list of its tools before, to anyone. With p_is_list, records that it has sent one now. Concurrent first lists are serialized.';

create function private.pin_definitions(p_connection_id uuid, p_hashes jsonb, p_holds_new boolean)
returns jsonb
language plpgsql
set search_path = ''
as $$
declare
  v_connection public.agent_mcp_connections;
  v_is_own boolean;
  v_pinned_id uuid;
  v_pin jsonb;
  v_new jsonb;
  v_was_listed boolean;
begin
  select * into strict v_connection from public.agent_mcp_connections where id = p_connection_id;
  v_was_listed := private.record_first_list(v_connection.tool_id, not p_hashes ? '');
  -- Definitions that one user's own account received are not approved for other users.
  v_is_own := private.is_own_account(v_connection);
  v_pinned_id := case
    when v_is_own then p_connection_id
    else private.ensure_connection(v_connection.tool_id, null)
  end;
  select coalesce(connection.pin, '{}') into strict v_pin
  from public.agent_mcp_connections connection
  where connection.id = v_pinned_id
  for no key update;
  select * into strict v_connection from public.agent_mcp_connections where id = p_connection_id;

  -- The operator registered the server for the tools of its first list, even if that list is empty, and a
  -- user connected an account for those of the account's first list. An account that is listed before the
  -- server shows no other user's tools. The instructions, under the empty name, arrive before the tools.
  if not p_holds_new or (v_is_own and v_pin - '' = '{}') or (not v_is_own and not v_was_listed) then
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
  'Approves new definitions {name: hash, or null when there is none} when the server is listed for the first time, by anyone, or when new ones need no approval; for a user''s own account only for this user, and returns the fingerprints that are approved for the connection.';

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
language plpgsql
immutable
set search_path = ''
as $$
begin
  return coalesce(p_connection.discovery ->> 'instructions', p_connection.session ->> 'instructions');
end;
$$;
comment on function private.instructions_of(public.agent_mcp_connections) is 'The instructions that a server gives for models.';

create function private.instructions_hash(p_connection public.agent_mcp_connections)
returns text
language plpgsql
immutable
set search_path = ''
as $$
begin
  return encode(sha256(convert_to(private.instructions_of(p_connection), 'UTF8')), 'hex');
end;
$$;
comment on function private.instructions_hash(public.agent_mcp_connections) is 'SHA-256 of a server''s instructions, in hex.';

create function private.are_instructions_approved(p_connection public.agent_mcp_connections)
returns boolean
language plpgsql
stable
set search_path = ''
as $$
declare
  v_is_trusted boolean := (
    select coalesce((tool.config ->> 'trusted')::boolean, false)
    from public.tools as tool
    where tool.id = p_connection.tool_id
  );
  v_hash text;
begin
  -- Most servers have no instructions, so nothing to compare.
  if v_is_trusted is not false then
    return v_is_trusted;
  end if;
  v_hash := private.instructions_hash(p_connection);
  if v_hash is null then
    return null;
  end if;
  return private.approved_hashes(p_connection) -> '' ? v_hash;
end;
$$;
comment on function private.are_instructions_approved(public.agent_mcp_connections) is
  'True when a server''s instructions may be passed on to models.';

create function private.record_connection_state(p_connection_id uuid, p_state jsonb)
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
comment on function private.record_connection_state(uuid, jsonb) is
  'Stores what was negotiated with a server: {protocol, discovery, session}. Approves the first instructions of a server. Called by the gateway.';

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
  -- Lock the user's connection before the shared one, as record_tools() does.
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
    perform private.raise_error('TOOL_NOT_FOUND',
      format('Cannot approve ''%s'': the connection %s has no such tool', p_tool_name, p_connection_id),
      'List the waiting definitions: GET /rest/v1/mcp_tools_cache?state=neq.approved&select=connection_id,tool_name,held_definition.');
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
    perform private.raise_error('TOOL_DEFINITION_CHANGED',
      format('Cannot approve ''%s'': its current definition has a different hash', p_tool_name),
      format('Review the current definition and approve it with its hash %L.', v_hash));
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
  perform private.record_approved_definition(p_connection_id, p_tool_name, v_hash);
  return 'approved';
end;
$$;
comment on function private.approve_tool_definition(uuid, text, text) is
  'Approves a tool''s definition. Definer: operators may not write the cache of tools; assert_operator() checks the caller.';

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
revoke all on function public.approve_tool_definition(uuid, text, text) from public, anon, authenticated, service_role;
grant execute on function
  private.approve_tool_definition(uuid, text, text),
  public.approve_tool_definition(uuid, text, text)
  to authenticated, service_role;
