-- Storing, reading and renewing the tokens of users' OAuth connections.

create function private.record_oauth_tokens(p_credential_id uuid, p_tokens jsonb)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_expires_in double precision := (p_tokens ->> 'expires_in')::double precision;
  v_own public.user_tool_credentials;
  v_refresh_name text;
begin
  perform private.assert_secret_is_valid(p_tokens ->> 'access_token');
  perform private.assert_secret_is_valid(p_tokens ->> 'refresh_token');
  select * into strict v_own from public.user_tool_credentials where id = p_credential_id;
  v_refresh_name := v_own.vault_secret_name || '/refresh';
  perform private.set_secret(v_own.vault_secret_name, p_tokens ->> 'access_token', 'Access token of a user''s own connection');
  perform private.set_secret(v_refresh_name, p_tokens ->> 'refresh_token', 'Refresh token of a user''s own connection');
  update private.oauth_connections as connection
  set refresh_secret_name = case when p_tokens ->> 'refresh_token' is not null then v_refresh_name end,
      -- 30 seconds before it expires, or at half its lifetime if that is shorter.
      stale_at = clock_timestamp() + make_interval(secs => greatest(v_expires_in - 30, v_expires_in / 2)),
      scope = coalesce(p_tokens ->> 'scope', connection.scope),
      generation = connection.generation + 1,
      refresh_started_at = null
  where connection.credential_id = p_credential_id;
end;
$$;
comment on function private.record_oauth_tokens(uuid, jsonb) is
  'Replaces a connection''s tokens in Vault with {access_token, refresh_token, expires_in (seconds), scope}. Raises SECRET_INVALID.';

create function private.resolve_tool_credential(p_tool_id uuid, p_user_id uuid, p_is_agent boolean default false)
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
declare
  v_own public.user_tool_credentials;
  v_secret text;
  v_connection jsonb;
begin
  select * into v_own
  from public.user_tool_credentials
  where tool_id = p_tool_id and user_id = p_user_id;
  if v_own.type = 'oauth' then
    select jsonb_build_object(
      'credential_id', connection.credential_id,
      'generation', connection.generation,
      'is_stale', coalesce(connection.stale_at <= clock_timestamp(), false),
      'needs_authorization', v_own.needs_authorization
        or connection.server_url is distinct from tool.config ->> 'mcp_url')
    into v_connection
    from private.oauth_connections as connection
    join public.tools as tool on tool.id = p_tool_id
    where connection.credential_id = v_own.id;
    v_secret := private.secret_value(v_own.vault_secret_name);
  else
    v_secret := private.resolve_tool_secret(p_tool_id, p_user_id, p_is_agent);
  end if;
  return jsonb_build_object('secret', v_secret, 'is_own', v_own.id is not null, 'connection', v_connection);
end;
$$;
comment on function private.resolve_tool_credential(uuid, uuid, boolean) is
  'The credential for a tool call: {secret, is_own, connection}. For a user''s own OAuth connection, connection is {credential_id, generation, is_stale, needs_authorization}, and no other credential replaces it; otherwise secret is that of resolve_tool_secret(). Raises SECRET_NOT_FOUND, CREDENTIAL_REQUIRED. Called by the tool gateway.';

create function private.end_authorization(p_credential_id uuid)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_name text;
begin
  update public.user_tool_credentials as own set needs_authorization = true
  where own.id = p_credential_id
  returning own.vault_secret_name into v_name;
  perform private.set_secret(v_name, null, null);
  perform private.set_secret(v_name || '/refresh', null, null);
  update private.oauth_connections as connection
  set refresh_secret_name = null, stale_at = null, refresh_started_at = null, generation = connection.generation + 1
  where connection.credential_id = p_credential_id;
end;
$$;
comment on function private.end_authorization(uuid) is
  'Deletes the tokens of a connection that can no longer be renewed. Its user must connect again.';

create function private.begin_token_refresh(p_credential_id uuid, p_generation int)
returns jsonb
language plpgsql
set search_path = ''
as $$
declare
  -- No renewal takes this long, so the worker that began it has died.
  c_abandoned_after constant interval := '30 seconds'::interval;
  v_connection private.oauth_connections;
  v_own public.user_tool_credentials;
begin
  select * into v_own from public.user_tool_credentials where id = p_credential_id for no key update;
  select * into v_connection from private.oauth_connections where credential_id = p_credential_id for no key update;
  if v_connection.credential_id is null or v_own.needs_authorization then
    return jsonb_build_object('kind', 'ended');
  elsif v_connection.generation <> p_generation then
    return jsonb_build_object('kind', 'renewed', 'generation', v_connection.generation,
      'access_token', private.secret_value(v_own.vault_secret_name));
  elsif v_connection.refresh_started_at > clock_timestamp() - c_abandoned_after then
    return jsonb_build_object('kind', 'busy');
  elsif v_connection.refresh_secret_name is null then
    perform private.end_authorization(p_credential_id);
    return jsonb_build_object('kind', 'ended');
  end if;
  update private.oauth_connections set refresh_started_at = clock_timestamp() where credential_id = p_credential_id;
  return jsonb_build_object(
    'kind', 'begun',
    'authorization_server', v_connection.authorization_server,
    'client_id', v_connection.client_id,
    'client_secret', private.oauth_client_secret(v_own.tool_id, v_connection.client_secret_name, v_connection.authorization_server),
    'resource', v_connection.resource,
    'refresh_token', private.secret_value(v_connection.refresh_secret_name)
  );
end;
$$;
comment on function private.begin_token_refresh(uuid, int) is
  'Decides what a caller with the token of a generation does next: begun (this caller alone renews; the result has all it needs), busy (another caller renews), renewed (with the newer token) or ended (the user must connect again). Raises AUTHORIZATION_REQUIRED, SECRET_NOT_FOUND as oauth_client_secret(). Called by the gateway.';

create function private.end_token_refresh(p_credential_id uuid, p_generation int, p_tokens jsonb)
returns boolean
language plpgsql
set search_path = ''
as $$
begin
  perform 1 from public.user_tool_credentials where id = p_credential_id for no key update;
  perform 1 from private.oauth_connections
  where credential_id = p_credential_id and generation = p_generation
  for no key update;
  if not found then
    return false;
  end if;
  perform private.record_oauth_tokens(p_credential_id, p_tokens);
  return true;
end;
$$;
comment on function private.end_token_refresh(uuid, int, jsonb) is
  'Stores renewed tokens of that generation; false when the connection was ended or replaced in the meantime. Called by the gateway.';

create function private.fail_token_refresh(p_credential_id uuid, p_generation int, p_is_refused boolean)
returns void
language plpgsql
set search_path = ''
as $$
begin
  perform 1 from public.user_tool_credentials where id = p_credential_id for no key update;
  update private.oauth_connections set refresh_started_at = null
  where credential_id = p_credential_id and generation = p_generation;
  if found and p_is_refused then
    perform private.end_authorization(p_credential_id);
  end if;
end;
$$;
comment on function private.fail_token_refresh(uuid, int, boolean) is
  'Ends a renewal that failed, so that another caller may renew. A refusal by the server ends the authorization of that generation. Called by the gateway.';
