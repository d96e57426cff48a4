-- The registry of all tools, which agents may use them, and users' own credentials.

create table public.tools (
  id uuid primary key default gen_random_uuid(),
  name text not null unique,
  slug text not null unique check (slug ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
  type text not null check (type in ('internal', 'mcp_server', 'http_api', 'supabase_rpc')),
  description text,
  config jsonb not null check (jsonb_typeof(config) = 'object'),
  credential_secret_name text,
  credential_type text check (credential_type in ('api_key', 'bearer_token', 'oauth_refresh_token', 'none')),
  credential_description text,
  credential_audience text not null default 'everyone'
    check (credential_audience in ('everyone', 'agents', 'named')),
  data_flows jsonb check (jsonb_typeof(data_flows) = 'object'),
  audience text not null default 'granted' check (audience in ('everyone', 'granted')),
  is_active boolean not null default true,
  source text not null default 'manual' check (source in ('manual', 'yaml')),
  created_at timestamptz not null default now(),
  -- A refresh token belongs to a user who connected an account. The gateway never sends a refresh token to
  -- a tool.
  constraint tools_refresh_tokens_are_users_own
    check (credential_type is distinct from 'oauth_refresh_token' or credential_secret_name is null)
);
revoke all on public.tools from anon, authenticated, service_role;
create index idx_tools_slug on public.tools (slug);
comment on table public.tools is
  'Every tool that an agent can have: internal servers, MCP servers, HTTP APIs, database functions and edge functions. Written by the service role.';
comment on column public.tools.config is 'Settings of the tool; the fields depend on the type. Never contains a secret.';
comment on column public.tools.credential_secret_name is 'Name of the credential in Vault. Not readable by users.';
comment on column public.tools.credential_audience is
  'Which calls may use the tool''s shared credential. everyone: all calls. agents: calls by agents, for any user. named: calls of the users in tool_credential_audience, who may use it in every case. Other users need their own credential.';
comment on column public.tools.data_flows is
  'The data flows of the server''s tools: {tool name or *: [reads_private, reads_outside, sends_outside]}. Null: derived from the tool''s type. A task that has read private data and text from outside asks a person before it sends data outside.';
comment on column public.tools.audience is
  'Whose calls may use the tool. granted: those with the scope mcp:<slug>. everyone: also those of every account that may run jobs (swarm:run), without a grant, but not of OAuth clients with a row of their own in mcp_grants. Internal servers have scopes of their own instead.';
comment on column public.tools.source is
  'yaml: created, changed and removed by mcps:sync from external-mcps.yaml. manual: maintained by whoever inserted it.';

alter table public.tools enable row level security;
create policy "signed-in users read tools" on public.tools
  for select to authenticated using (true);
comment on policy "signed-in users read tools" on public.tools is
  'Users read which tools exist. Addresses and names of secrets are not granted.';
grant select (id, name, slug, type, description, credential_type, credential_description, credential_audience, data_flows, audience, is_active, source, created_at)
  on public.tools to authenticated;
grant select, insert, update, delete on public.tools to service_role;

create table public.tool_credential_audience (
  tool_id uuid not null references public.tools (id) on delete cascade,
  user_id uuid not null references auth.users (id) on delete cascade,
  created_at timestamptz not null default now(),
  primary key (tool_id, user_id)
);
revoke all on public.tool_credential_audience from anon, authenticated, service_role;
create index tool_credential_audience_user_id_idx on public.tool_credential_audience (user_id);
comment on table public.tool_credential_audience is
  'Users whose calls may use a tool''s shared credential when it is not for everyone. Written by the service role.';
alter table public.tool_credential_audience enable row level security;
create policy "users see which shared credentials serve them" on public.tool_credential_audience
  for select to authenticated using (user_id = (select auth.uid()));
comment on policy "users see which shared credentials serve them" on public.tool_credential_audience is
  'Users read their own rows.';
grant select on public.tool_credential_audience to authenticated;
grant select, insert, update, delete on public.tool_credential_audience to service_role;

create table public.agent_tools (
  agent_id uuid not null references public.agents (id) on delete cascade,
  tool_id uuid not null references public.tools (id) on delete cascade,
  allowed_tools text[],
  primary key (agent_id, tool_id)
);
revoke all on public.agent_tools from anon, authenticated, service_role;
create index agent_tools_tool_id_idx on public.agent_tools (tool_id);
comment on table public.agent_tools is 'Which agent may use which tool. A call inside a task needs both this row and the scopes of the task''s owner.';
comment on column public.agent_tools.allowed_tools is 'Names of the server''s tools that the agent may use; null: all.';

alter table public.agent_tools enable row level security;
create policy "users read the tools of agents that they may use" on public.agent_tools
  for select to authenticated using (exists (select from public.agents as agent where agent.id = agent_id));
comment on policy "users read the tools of agents that they may use" on public.agent_tools is
  'Users read the tools of the agents that they may use.';
grant select on public.agent_tools to authenticated;
grant select, insert, update, delete on public.agent_tools to service_role;

create table public.agent_guardrails (
  agent_id uuid not null references public.agents (id) on delete cascade,
  stage text not null check (stage in ('input', 'output')),
  priority int not null default 100,
  tool_id uuid not null references public.tools (id) on delete cascade,
  tool_name text not null,
  primary key (agent_id, stage, priority)
);
revoke all on public.agent_guardrails from anon, authenticated, service_role;
create index agent_guardrails_tool_id_idx on public.agent_guardrails (tool_id);
comment on table public.agent_guardrails is
  'Tools that check an agent''s input and output. They are called with {stage, content} and answer {allowed, reason, replacement}. Written by the service role.';
comment on column public.agent_guardrails.priority is 'Lower values first. When several guardrails replace the content, the last replacement applies.';
comment on column public.agent_guardrails.tool_name is 'The tool''s name at its server.';

alter table public.agent_guardrails enable row level security;
create policy "users read the guardrails of agents that they may use" on public.agent_guardrails
  for select to authenticated using (exists (select from public.agents as agent where agent.id = agent_id));
comment on policy "users read the guardrails of agents that they may use" on public.agent_guardrails is
  'Users read which guardrails check their tasks, for the agents that they may use.';
grant select on public.agent_guardrails to authenticated;
grant select, insert, update, delete on public.agent_guardrails to service_role;

create table public.user_tool_credentials (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references auth.users (id) on delete cascade,
  tool_id uuid not null references public.tools (id) on delete cascade,
  vault_secret_name text not null,
  destination text,
  type text not null default 'secret' check (type in ('secret', 'oauth')),
  needs_authorization boolean not null default false,
  overridden_at timestamptz not null default now(),
  unique (user_id, tool_id)
);
revoke all on public.user_tool_credentials from anon, authenticated, service_role;
create index user_tool_credentials_tool_id_idx on public.user_tool_credentials (tool_id);
comment on table public.user_tool_credentials is
  'A user''s own credential for a tool, used instead of the tool''s shared credential. Written by set_tool_credential() and the edge function mcp-oauth.';
comment on column public.user_tool_credentials.vault_secret_name is 'Name of the credential in Vault. Not readable by users.';
comment on column public.user_tool_credentials.destination is
  'The host that the tool had when the credential was stored, set by a trigger. The credential is sent to no other. Not readable by users.';
comment on column public.user_tool_credentials.type is
  'secret: a value that the user stored. oauth: an access token of a connection that the user authorized, which the gateway renews.';
comment on column public.user_tool_credentials.needs_authorization is
  'True when the authorization of an oauth connection has ended. The user must connect again; until then calls use no other credential.';

alter table public.user_tool_credentials enable row level security;
create policy "users see for which tools they have a credential" on public.user_tool_credentials
  for select to authenticated using (
    user_id = (select auth.uid()) and (select private.has_scope('credentials:write'))
  );
comment on policy "users see for which tools they have a credential" on public.user_tool_credentials is
  'Users see that they have a credential, never its value.';
grant select (id, user_id, tool_id, type, needs_authorization, overridden_at) on public.user_tool_credentials to authenticated;
grant select, insert, update, delete on public.user_tool_credentials to service_role;
