-- Connections to tool servers and the one cache of their tools.

create table public.agent_mcp_connections (
  id uuid primary key default gen_random_uuid(),
  tool_id uuid not null references public.tools (id) on delete cascade,
  user_id uuid references auth.users (id) on delete cascade,
  protocol text,
  discovery jsonb,
  session jsonb,
  pin jsonb,
  health text not null default 'unknown' check (health in ('unknown', 'healthy', 'failing')),
  last_success_at timestamptz,
  failure_count int not null default 0 check (failure_count >= 0),
  config_hash text not null,
  retry_at timestamptz,
  tools_listed_at timestamptz,
  listing_started_at timestamptz,
  listing_failed_at timestamptz,
  listing_error jsonb,
  dropped_tools jsonb not null default '[]' check (jsonb_typeof(dropped_tools) = 'array'),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique nulls not distinct (tool_id, user_id)
);
create index agent_mcp_connections_user_id_idx on public.agent_mcp_connections (user_id);
comment on table public.agent_mcp_connections is
  'One row per registered tool server and user (null: the service), made on first use, whatever the type of the server.';
comment on column public.agent_mcp_connections.protocol is 'MCP protocol version that was negotiated.';
comment on column public.agent_mcp_connections.discovery is 'Server information of the stateless protocol, cached to save the handshake.';
comment on column public.agent_mcp_connections.session is 'Session of a server of the earlier protocol. Not readable to users.';
comment on column public.agent_mcp_connections.pin is
  'Fingerprints of approved tool definitions, {tool name: [hash, …]}, the empty name for the instructions. On the connection without a user for all users; on a user''s connection what their own account was shown first, for that user.';
comment on column public.agent_mcp_connections.failure_count is 'Failures to reach the server since it last answered; three make it failing, five open the breaker.';
comment on column public.agent_mcp_connections.retry_at is 'The circuit breaker: null when closed, else when one call may try the server again.';
comment on column public.agent_mcp_connections.config_hash is 'Of the registry row''s config and credential and the secrets that they name; a change forgets protocol, discovery, session and list.';
comment on column public.agent_mcp_connections.tools_listed_at is 'When the server last listed its tools; null asks for a new list.';
comment on column public.agent_mcp_connections.listing_started_at is 'Last sign of life of the caller that is listing the server''s tools; other callers wait for it. Null when no caller is listing.';
comment on column public.agent_mcp_connections.listing_failed_at is 'When listing the server last failed; it is not asked again for a while. Null after a successful list.';
comment on column public.agent_mcp_connections.listing_error is 'Why it could not be asked: {code, message}. Not readable to users, since it may name a secret.';
comment on column public.agent_mcp_connections.dropped_tools is 'Tools of the last list whose definition is broken: [{name, reason}].';

create trigger touch_updated_at before update on public.agent_mcp_connections
  for each row execute function private.touch_updated_at();

alter table public.agent_mcp_connections enable row level security;
create policy "users read their own connections" on public.agent_mcp_connections
  for select to authenticated using (
    user_id = (select auth.uid()) and (select private.has_scope('swarm:run'))
  );
comment on policy "users read their own connections" on public.agent_mcp_connections is
  'The state of a user''s own accounts at tool servers; the shared connection is the operator''s.';
grant select (id, tool_id, user_id, protocol, health, last_success_at, failure_count, retry_at, tools_listed_at, listing_failed_at, dropped_tools, created_at, updated_at)
  on public.agent_mcp_connections to authenticated;
grant select, insert, update, delete on public.agent_mcp_connections to service_role;

create table public.mcp_tools_cache (
  id uuid primary key default gen_random_uuid(),
  connection_id uuid not null references public.agent_mcp_connections (id) on delete cascade,
  tool_name text not null,
  tool_version text,
  tool_schema jsonb not null check (jsonb_typeof(tool_schema) = 'object'),
  openai_schema jsonb not null check (jsonb_typeof(openai_schema) = 'object'),
  schema_losses jsonb not null default '{}' check (jsonb_typeof(schema_losses) = 'object'),
  definition_hash text not null default '',
  is_own boolean not null default true,
  state text not null default 'approved' check (state in ('approved', 'pending', 'quarantined')),
  held_definition jsonb check (jsonb_typeof(held_definition) = 'object'),
  scopes text[] not null default '{}',
  successful_parameters jsonb not null default '[]' check (jsonb_typeof(successful_parameters) = 'array'),
  last_successful_call timestamptz,
  success_count int not null default 0 check (success_count >= 0),
  last_updated timestamptz not null default now(),
  unique (connection_id, tool_name),
  constraint mcp_tools_cache_held_until_approved check ((state = 'approved') = (held_definition is null))
);
comment on table public.mcp_tools_cache is
  'The tools of each connection: their definitions, and the arguments that worked.';
comment on column public.mcp_tools_cache.tool_name is 'As its server calls it, verbatim.';
comment on column public.mcp_tools_cache.tool_schema is 'The definition as the server gave it: description, inputSchema, outputSchema, annotations. Arguments are validated against it.';
comment on column public.mcp_tools_cache.openai_schema is 'The definition as OpenAI''s models are offered it, ready for chat completions.';
comment on column public.mcp_tools_cache.schema_losses is
  'The parts of tool_schema that cannot be expressed for a provider: {openai, anthropic, gemini}, each a list of {path, keyword, action}.';
comment on column public.mcp_tools_cache.definition_hash is 'Fingerprint of tool_schema''s name, title, description, schemas and annotations.';
comment on column public.mcp_tools_cache.is_own is
  'The server gave tool_schema to this connection. False on the connection without a user while it has that from a user''s.';
comment on column public.mcp_tools_cache.state is
  'approved; quarantined: the server changed the definition; pending: the tool is new and its row in tools holds new ones back. Only approved tools are offered and called.';
comment on column public.mcp_tools_cache.held_definition is
  'What waits for approve_tool_definition(): {version, schema, openai_schema, schema_losses, hash}.';
comment on column public.mcp_tools_cache.scopes is 'What a caller needs outside tasks, for tools of internal servers.';
comment on column public.mcp_tools_cache.successful_parameters is
  'The ten most recent distinct sets of arguments that worked, newest last. On the connection without a user: their shapes, never their values.';
comment on column public.mcp_tools_cache.last_updated is 'When the definition last changed.';

alter table public.mcp_tools_cache enable row level security;
create policy "users read the tools of their own connections" on public.mcp_tools_cache
  for select to authenticated using (
    connection_id in (
      select connection.id from public.agent_mcp_connections connection
      where connection.user_id = (select auth.uid())
    )
  );
comment on policy "users read the tools of their own connections" on public.mcp_tools_cache is
  'Definitions may differ by account, so those of others are not shown.';
grant select on public.mcp_tools_cache to authenticated;
grant select, insert, update, delete on public.mcp_tools_cache to service_role;
