-- Connecting a user's account to a tool server by OAuth, and disconnecting it.

create function private.oauth_client(p_issuer text, p_redirect_url text)
returns jsonb
language sql
stable
set search_path = ''
as $$
  select jsonb_build_object('client_id', client.client_id, 'client_secret_name', client.client_secret_name)
  from private.oauth_clients as client
  where client.issuer = oauth_client.p_issuer
    and client.redirect_url = oauth_client.p_redirect_url
    and (client.expires_at is null or client.expires_at > now() + interval '1 hour');
$$;
comment on function private.oauth_client(text, text) is
  'The client {client_id, client_secret_name} that is registered with an authorization server, or null. Called by mcp-oauth.';

create function private.record_oauth_client(p_client jsonb)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_secret text := p_client ->> 'client_secret';
  v_secret_name text;
begin
  if v_secret is not null then
    perform private.assert_secret_is_valid(v_secret);
    -- Each client has its own secret, so connections of an earlier client keep working.
    v_secret_name := 'supaswarm/oauth/client/' || encode(sha256(convert_to(
      jsonb_build_array(p_client ->> 'issuer', p_client ->> 'client_id')::text, 'UTF8')), 'hex');
    perform private.set_secret(v_secret_name, v_secret, 'Client secret of this project at ' || (p_client ->> 'issuer'));
  end if;
  insert into private.oauth_clients (issuer, redirect_url, client_id, client_secret_name, expires_at)
  values (p_client ->> 'issuer', p_client ->> 'redirect_url', p_client ->> 'client_id', v_secret_name,
    to_timestamp(nullif((p_client ->> 'expires_at_seconds')::double precision, 0)))
  on conflict (issuer, redirect_url) do update
  set client_id = excluded.client_id, client_secret_name = excluded.client_secret_name,
      expires_at = excluded.expires_at, created_at = now();
end;
$$;
comment on function private.record_oauth_client(jsonb) is
  'Stores a registered client {issuer, redirect_url, client_id, client_secret, expires_at_seconds} for all users who connect later. Called by mcp-oauth.';

create function private.delete_oauth_client(p_issuer text, p_client_id text)
returns void
language sql
set search_path = ''
as $$
  delete from private.oauth_clients as client
  where client.issuer = delete_oauth_client.p_issuer and client.client_id = delete_oauth_client.p_client_id;
$$;
comment on function private.delete_oauth_client(text, text) is
  'Deletes a registered client that its authorization server no longer accepts. Called by the gateway.';

create function private.pin_oauth_issuer(p_tool_id uuid, p_client_id text, p_issuer text)
returns boolean
language plpgsql
set search_path = ''
as $$
begin
  insert into private.oauth_issuers as pinned (tool_id, client_id, issuer)
  values (p_tool_id, p_client_id, p_issuer)
  on conflict (tool_id) do update
  set client_id = excluded.client_id, issuer = excluded.issuer, pinned_at = now()
  where pinned.client_id <> excluded.client_id;
  return exists (
    select from private.oauth_issuers where tool_id = p_tool_id and issuer = p_issuer
  );
end;
$$;
comment on function private.pin_oauth_issuer(uuid, text, text) is
  'True when a tool''s client, which an operator registered, may be used with this issuer: the first issuer it was used with, until the operator registers another client. Called by mcp-oauth.';

create function private.oauth_client_may_be_used(
  p_tool_id uuid, p_secret_name text, p_authorization_server jsonb
)
returns boolean
language sql
stable
set search_path = ''
as $$
  select p_secret_name is null
    or starts_with(p_secret_name, 'supaswarm/oauth/client/')
    or exists (
      select from public.tools as tool
      where tool.id = p_tool_id and tool.config #>> '{oauth,client_secret,secret}' = p_secret_name
        and private.host_of(coalesce(tool.config #>> '{oauth,issuer}', p_authorization_server ->> 'issuer'))
          = private.host_of(p_authorization_server ->> 'issuer')
    );
$$;
comment on function private.oauth_client_may_be_used(uuid, text, jsonb) is
  'Whether a connection''s client is without a secret, was registered by the project itself with the authorization server {issuer}, or is still the one that the tool''s document names for it.';

create function private.oauth_client_secret(p_tool_id uuid, p_secret_name text, p_authorization_server jsonb)
returns text
language plpgsql
stable
set search_path = ''
as $$
declare
  v_tool public.tools;
begin
  select * into v_tool from public.tools where id = p_tool_id;
  if not private.oauth_client_may_be_used(p_tool_id, p_secret_name, p_authorization_server) then
    perform private.raise_error('AUTHORIZATION_REQUIRED',
      format('Cannot use the connection to %L: its OAuth client is no longer the one that the server''s settings name', v_tool.slug),
      'Connect the account again.');
  end if;
  perform private.assert_secret_is_bound(private.document_of_tool(v_tool), p_secret_name);
  return private.secret_value(p_secret_name);
end;
$$;
comment on function private.oauth_client_secret(uuid, text, jsonb) is
  'The client secret of a connection to a tool for its authorization server; null for a public client. Raises AUTHORIZATION_REQUIRED for another client than the tool''s, SECRET_NOT_FOUND for a secret that the tool waits for.';

-- The authorization flow ---------------------------------------------------------------------------

create function private.begin_oauth(p_request jsonb)
returns timestamptz
language plpgsql
set search_path = ''
as $$
declare
  c_lifetime constant interval := '10 minutes'::interval;
  c_open_requests constant int := 10;
  v_user_id uuid := (p_request ->> 'user_id')::uuid;
  v_expires_at timestamptz := clock_timestamp() + c_lifetime;
  v_secret_name text := 'supaswarm/oauth/request/' || (p_request ->> 'state_hash');
begin
  delete from private.oauth_requests where expires_at <= clock_timestamp();
  delete from private.oauth_requests as open
  using (
    select state_hash from private.oauth_requests
    where user_id = v_user_id
    order by created_at desc
    offset c_open_requests - 1
  ) as oldest
  where open.state_hash = oldest.state_hash;

  perform private.set_secret(v_secret_name, p_request ->> 'code_verifier', 'Code verifier of an authorization under way');
  insert into private.oauth_requests
    (state_hash, user_id, tool_id, verifier_secret_name, server_url, authorization_server, client_id, client_secret_name, redirect_url, resource, scope, return_to, expires_at)
  values (p_request ->> 'state_hash', v_user_id, (p_request ->> 'tool_id')::uuid, v_secret_name, p_request ->> 'server_url',
    p_request -> 'authorization_server', p_request ->> 'client_id', p_request ->> 'client_secret_name',
    p_request ->> 'redirect_url', p_request ->> 'resource', p_request ->> 'scope', p_request ->> 'return_to', v_expires_at);
  return v_expires_at;
end;
$$;
comment on function private.begin_oauth(jsonb) is
  'Stores a pending authorization {state_hash, user_id, tool_id, code_verifier, server_url, authorization_server, client_id, client_secret_name, redirect_url, resource, scope, return_to} for ten minutes, at most ten per user, and returns when it expires. Called by mcp-oauth.';

create function private.find_oauth_request(p_state_hash text)
returns jsonb
language sql
stable
set search_path = ''
as $$
  select jsonb_build_object('return_to', request.return_to, 'redirect_url', request.redirect_url)
  from private.oauth_requests as request
  where request.state_hash = find_oauth_request.p_state_hash and request.expires_at > clock_timestamp();
$$;
comment on function private.find_oauth_request(text) is
  'The addresses {redirect_url, return_to} of a pending authorization; null when there is none with this state. Called by mcp-oauth.';

create function private.take_oauth_request(p_state_hash text, p_user_id uuid)
returns jsonb
language plpgsql
set search_path = ''
as $$
declare
  v_request private.oauth_requests;
  v_verifier text;
begin
  select * into v_request from private.oauth_requests where state_hash = p_state_hash for update;
  if not found then
    return null;
  end if;
  v_verifier := private.secret_value(v_request.verifier_secret_name);
  -- Any caller uses the request up: when another user has the state, it is no longer secret.
  delete from private.oauth_requests where state_hash = p_state_hash;
  if v_request.user_id <> p_user_id or v_request.expires_at <= clock_timestamp() then
    return null;
  end if;
  return jsonb_build_object(
    'user_id', v_request.user_id,
    'tool_id', v_request.tool_id,
    'slug', (select tool.slug from public.tools as tool where tool.id = v_request.tool_id),
    'server_url', v_request.server_url,
    'authorization_server', v_request.authorization_server,
    'client_id', v_request.client_id,
    'client_secret_name', v_request.client_secret_name,
    'client_secret', private.oauth_client_secret(v_request.tool_id, v_request.client_secret_name, v_request.authorization_server),
    'redirect_url', v_request.redirect_url,
    'resource', v_request.resource,
    'scope', v_request.scope,
    'code_verifier', v_verifier
  );
end;
$$;
comment on function private.take_oauth_request(text, uuid) is
  'Deletes and returns a pending authorization of this user, with its code verifier; null for any other. Raises AUTHORIZATION_REQUIRED, SECRET_NOT_FOUND as oauth_client_secret(). Called by mcp-oauth.';

create function private.record_oauth_connection(p_connection jsonb, p_tokens jsonb)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_user_id uuid := (p_connection ->> 'user_id')::uuid;
  v_tool_id uuid := (p_connection ->> 'tool_id')::uuid;
  v_id uuid;
begin
  insert into public.user_tool_credentials (user_id, tool_id, vault_secret_name, type)
  values (v_user_id, v_tool_id, format('supaswarm/user/%s/tool/%s', v_user_id, v_tool_id), 'oauth')
  on conflict (user_id, tool_id) do update
  set vault_secret_name = excluded.vault_secret_name, type = 'oauth', needs_authorization = false, overridden_at = now()
  returning id into v_id;

  insert into private.oauth_connections
    (credential_id, server_url, authorization_server, client_id, client_secret_name, redirect_url, resource, scope)
  values (v_id, p_connection ->> 'server_url', p_connection -> 'authorization_server', p_connection ->> 'client_id',
    p_connection ->> 'client_secret_name', p_connection ->> 'redirect_url', p_connection ->> 'resource',
    p_connection ->> 'scope')
  on conflict (credential_id) do update
  set server_url = excluded.server_url,
      authorization_server = excluded.authorization_server, client_id = excluded.client_id,
      client_secret_name = excluded.client_secret_name, redirect_url = excluded.redirect_url,
      resource = excluded.resource, scope = excluded.scope, connected_at = now();
  perform private.record_oauth_tokens(v_id, p_tokens);
  perform private.request_listing(v_tool_id, v_user_id);
end;
$$;
comment on function private.record_oauth_connection(jsonb, jsonb) is
  'Creates or replaces a user''s connection from the result of take_oauth_request() and the granted tokens. Called by mcp-oauth.';

create function private.end_oauth_connection(p_tool_slug text, p_user_id uuid)
returns jsonb
language plpgsql
set search_path = ''
as $$
declare
  v_own public.user_tool_credentials;
  v_ended jsonb;
begin
  select own.* into v_own
  from public.user_tool_credentials as own
  join public.tools as tool on tool.id = own.tool_id
  where tool.slug = p_tool_slug and own.user_id = p_user_id and own.type = 'oauth'
  for update of own;
  if not found then
    return null;
  end if;
  select jsonb_build_object(
    'authorization_server', connection.authorization_server,
    'client_id', connection.client_id,
    -- Without it, the tokens are deleted here, and the server may refuse to revoke them.
    'client_secret', case
      when private.oauth_client_may_be_used(v_own.tool_id, connection.client_secret_name, connection.authorization_server)
        and not private.is_awaited_secret((
          select private.document_of_tool(tool) from public.tools as tool where tool.id = v_own.tool_id
        ), connection.client_secret_name)
        then private.secret_value(connection.client_secret_name)
    end,
    'access_token', private.secret_value(v_own.vault_secret_name),
    'refresh_token', private.secret_value(connection.refresh_secret_name)
  )
  into v_ended
  from private.oauth_connections as connection
  where connection.credential_id = v_own.id;
  delete from public.user_tool_credentials where id = v_own.id;
  perform private.request_listing(v_own.tool_id, p_user_id);
  return v_ended;
end;
$$;
comment on function private.end_oauth_connection(text, uuid) is
  'Deletes a user''s connection with its tokens and returns what is needed to revoke them; null when there is none. Called by mcp-oauth.';
