-- Users' OAuth connections to tool servers: registered clients, pending authorizations, and granted tokens.

create table private.oauth_clients (
  issuer text not null,
  redirect_url text not null,
  client_id text not null,
  client_secret_name text,
  expires_at timestamptz,
  created_at timestamptz not null default now(),
  primary key (issuer, redirect_url)
);
comment on table private.oauth_clients is
  'OAuth clients that this project registered with authorization servers. Their secrets are in Vault.';
comment on column private.oauth_clients.expires_at is 'When the client secret expires and the project must register again; null: never.';
alter table private.oauth_clients enable row level security;

create table private.oauth_issuers (
  tool_id uuid primary key references public.tools (id) on delete cascade,
  client_id text not null,
  issuer text not null,
  pinned_at timestamptz not null default now()
);
comment on table private.oauth_issuers is
  'The issuer with which a client that an operator registered was first used. Its secret is never sent to another issuer that the tool server may name later.';
alter table private.oauth_issuers enable row level security;

create table private.oauth_requests (
  state_hash text primary key,
  user_id uuid not null references auth.users (id) on delete cascade,
  tool_id uuid not null references public.tools (id) on delete cascade,
  verifier_secret_name text not null,
  server_url text not null,
  authorization_server jsonb not null,
  client_id text not null,
  client_secret_name text,
  redirect_url text not null,
  resource text,
  scope text,
  return_to text,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index oauth_requests_user_id_idx on private.oauth_requests (user_id);
create index oauth_requests_tool_id_idx on private.oauth_requests (tool_id);
create index oauth_requests_expires_at_idx on private.oauth_requests (expires_at);
comment on table private.oauth_requests is
  'Pending authorizations. Each can be used once, by the user who began it, before it expires.';
comment on column private.oauth_requests.state_hash is 'SHA-256 of the state parameter, which is not stored.';
comment on column private.oauth_requests.verifier_secret_name is 'Name of the PKCE code verifier in Vault.';
comment on column private.oauth_requests.authorization_server is 'The needed part of the authorization server''s metadata, as it was when the authorization began.';
comment on column private.oauth_requests.return_to is 'Page to which the browser is redirected afterwards; null: a plain page of the edge function.';
alter table private.oauth_requests enable row level security;

create table private.oauth_connections (
  credential_id uuid primary key references public.user_tool_credentials (id) on delete cascade,
  server_url text not null,
  authorization_server jsonb not null,
  client_id text not null,
  client_secret_name text,
  redirect_url text not null,
  resource text,
  scope text,
  refresh_secret_name text,
  stale_at timestamptz,
  generation int not null default 1,
  refresh_started_at timestamptz,
  connected_at timestamptz not null default now()
);
comment on table private.oauth_connections is
  'How the access token of a user''s connection is renewed. The tokens are in Vault; the refresh token is read only for the request that renews.';
comment on column private.oauth_connections.server_url is
  'The mcp_url that the user authorized. The token is not sent to any other address.';
comment on column private.oauth_connections.stale_at is 'From this time on, the access token is renewed before it is used; null: it has no expiry.';
comment on column private.oauth_connections.generation is 'Number of renewals. A caller with an older token uses the newer one instead of renewing again.';
comment on column private.oauth_connections.refresh_started_at is 'Set during a renewal, so that no other worker uses the same refresh token.';
alter table private.oauth_connections enable row level security;

-- Triggers that delete secrets together with their rows -----------------------------------------

create function private.delete_credential_secret()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  -- A row that an operator wrote may name a secret that is also used elsewhere.
  if old.vault_secret_name like 'supaswarm/user/%' then
    perform private.set_secret(old.vault_secret_name, null, null);
  end if;
  return null;
end;
$$;
comment on function private.delete_credential_secret() is
  'Row trigger: deletes a user''s credential or model key from Vault with its row. Definer: the role that deletes a user, a tool or a provider may not write to Vault.';
create trigger delete_credential_secret after delete on public.user_tool_credentials
  for each row execute function private.delete_credential_secret();
create trigger delete_credential_secret after delete on public.user_provider_keys
  for each row execute function private.delete_credential_secret();

create function private.delete_oauth_connection()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  delete from private.oauth_connections where credential_id = new.id;
  return null;
end;
$$;
comment on function private.delete_oauth_connection() is
  'Row trigger: deletes an OAuth connection when the user replaces it with a secret. Definer: the service may not write oauth_connections.';
create trigger delete_oauth_connection after update on public.user_tool_credentials
  for each row when (old.type = 'oauth' and new.type = 'secret')
  execute function private.delete_oauth_connection();

create function private.delete_refresh_secret()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  perform private.set_secret(old.refresh_secret_name, null, null);
  return null;
end;
$$;
comment on function private.delete_refresh_secret() is
  'Row trigger: deletes a connection''s refresh token from Vault. Definer: the role that deletes a user or a tool may not write to Vault.';
create trigger delete_refresh_secret after delete on private.oauth_connections
  for each row when (old.refresh_secret_name is not null)
  execute function private.delete_refresh_secret();

create function private.delete_oauth_verifier()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  perform private.set_secret(old.verifier_secret_name, null, null);
  return null;
end;
$$;
comment on function private.delete_oauth_verifier() is
  'Row trigger: deletes a request''s code verifier from Vault. Definer: the role that deletes a user or a tool may not write to Vault.';
create trigger delete_oauth_verifier after delete on private.oauth_requests
  for each row execute function private.delete_oauth_verifier();
