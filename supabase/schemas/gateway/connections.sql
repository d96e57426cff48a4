-- Connections to tool servers, and the cache of their tools.

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
  prepared_by text,
  was_listed boolean not null default false,
  listing_started_at timestamptz,
  listing_failed_at timestamptz,
  listing_error jsonb,
  dropped_tools jsonb not null default '[]' check (jsonb_typeof(dropped_tools) = 'array'),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique nulls not distinct (tool_id, user_id)
);
revoke all on public.agent_mcp_connections from anon, authenticated, service_role;
create index agent_mcp_connections_user_id_idx on public.agent_mcp_connections (user_id);
comment on table public.agent_mcp_connections is
  'One row per registered tool server and user (null: the service), for servers of every type. Created on first use.';
comment on column public.agent_mcp_connections.protocol is 'The negotiated MCP protocol version.';
comment on column public.agent_mcp_connections.discovery is 'Server information of the stateless protocol, cached to save the handshake.';
comment on column public.agent_mcp_connections.session is 'Session of a server with the earlier, stateful protocol. Not readable by users.';
comment on column public.agent_mcp_connections.pin is
  'Fingerprints of approved tool definitions: {tool name: [hash, …]}; the empty name stands for the server''s instructions. On the connection without a user they apply to all users. On a user''s connection they are the first definitions that the user''s own account received, and apply to that user.';
comment on column public.agent_mcp_connections.failure_count is 'Failures to reach the server since its last answer. Three set health to failing, five open the circuit breaker.';
comment on column public.agent_mcp_connections.retry_at is 'State of the circuit breaker: null when closed, else when one call may try the server again.';
comment on column public.agent_mcp_connections.config_hash is 'Hash of the tool''s config and credential and the secrets that they name. A change resets protocol, discovery, session and tool list.';
comment on column public.agent_mcp_connections.tools_listed_at is 'When the server last listed its tools. Null requests a new list.';
comment on column public.agent_mcp_connections.prepared_by is 'The release that converted the definitions of the last list. A later one converts them again.';
comment on column public.agent_mcp_connections.was_listed is 'On the connection without a user: the server has sent a list of its tools to anyone, so that tools that appear later need an approval.';
comment on column public.agent_mcp_connections.listing_started_at is 'Last heartbeat of the caller that is listing the server''s tools, for which other callers wait. Null when no caller is listing.';
comment on column public.agent_mcp_connections.listing_failed_at is 'When listing the server''s tools last failed; it is not tried again for a while. Null after a successful list.';
comment on column public.agent_mcp_connections.listing_error is 'Why listing failed: {code, message}. Not readable by users, because it may contain the name of a secret.';
comment on column public.agent_mcp_connections.dropped_tools is 'Tools of the last list with an invalid definition: [{name, reason}].';

create trigger touch_updated_at before update on public.agent_mcp_connections
  for each row execute function private.touch_updated_at();

alter table public.agent_mcp_connections enable row level security;
create policy "users read their own connections" on public.agent_mcp_connections
  for select to authenticated using (
    user_id = (select auth.uid()) and (select private.has_scope('swarm:run'))
  );
comment on policy "users read their own connections" on public.agent_mcp_connections is
  'Users read the state of their own accounts at tool servers. Only operators see the shared connection.';
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
revoke all on public.mcp_tools_cache from anon, authenticated, service_role;
comment on table public.mcp_tools_cache is
  'The tools of each connection: their definitions, and the arguments of successful calls.';
comment on column public.mcp_tools_cache.tool_name is 'The tool''s name at its server, unchanged.';
comment on column public.mcp_tools_cache.tool_schema is 'The definition from the server: description, inputSchema, outputSchema, annotations. Arguments are validated against it.';
comment on column public.mcp_tools_cache.openai_schema is 'The definition in the form for OpenAI models, ready for chat completions.';
comment on column public.mcp_tools_cache.schema_losses is
  'The parts of tool_schema that the form for a provider cannot express: {openai, anthropic, gemini}, each a list of {path, keyword, action}.';
comment on column public.mcp_tools_cache.definition_hash is 'Fingerprint of name, title, description, schemas and annotations in tool_schema.';
comment on column public.mcp_tools_cache.is_own is
  'True when tool_schema was received over this connection. False on the connection without a user while it uses the definition from a user''s connection.';
comment on column public.mcp_tools_cache.state is
  'approved: offered to models and callable. quarantined: the server changed the definition. pending: the tool is new, and its row in tools requires an approval for new tools.';
comment on column public.mcp_tools_cache.held_definition is
  'The definition that waits for approve_tool_definition(): {version, schema, openai_schema, schema_losses, hash}.';
comment on column public.mcp_tools_cache.scopes is 'Scopes that a caller outside tasks needs, for tools of internal servers.';
comment on column public.mcp_tools_cache.successful_parameters is
  'The ten most recent distinct sets of arguments of successful calls, newest last. On the connection without a user: their shapes, never their values.';
comment on column public.mcp_tools_cache.success_count is
  'Successful calls that were learned from: of a busy tool at most one a second. tool_usage counts all.';
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
  'Definitions may differ between accounts, so users do not see those of others.';
grant select on public.mcp_tools_cache to authenticated;
grant select, insert, update, delete on public.mcp_tools_cache to service_role;
