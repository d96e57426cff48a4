-- What callers of tools may do: scopes, limits, and the sessions that group their calls.

create table public.sessions (
  id uuid primary key default gen_random_uuid(),
  user_id uuid references auth.users (id) on delete cascade,
  agent_id uuid references public.agents (id) on delete set null,
  client_name text,
  created_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now()
);
create index sessions_user_id_idx on public.sessions (user_id, last_seen_at desc);
create index sessions_agent_id_idx on public.sessions (agent_id);
comment on table public.sessions is
  'Groups tool calls that belong together, such as one conversation of an MCP client. Made by the gateway; not auth.sessions.';
comment on column public.sessions.user_id is 'Owner; null when the service itself calls.';
comment on column public.sessions.client_name is 'What the calling program says it is.';

alter table public.sessions enable row level security;
revoke all on public.sessions from anon, authenticated, service_role;
create policy "users read their own sessions" on public.sessions
  for select to authenticated using (user_id = (select auth.uid()));
grant select on public.sessions to authenticated;
grant select, insert, update, delete on public.sessions to service_role;

create table public.mcp_grants (
  id uuid primary key default gen_random_uuid(),
  user_id uuid references auth.users (id) on delete cascade,
  client_id text,
  scopes text[] not null default '{}',
  created_at timestamptz not null default now(),
  unique nulls not distinct (user_id, client_id)
);
comment on table public.mcp_grants is
  'Scopes of a user outside tasks, optionally for one client program. Written by the service role.';
comment on column public.mcp_grants.user_id is 'Null: the default set, for signed-in users without a row.';
comment on column public.mcp_grants.client_id is 'OAuth client of the token; null means any.';
comment on column public.mcp_grants.scopes is 'Such as sql:read; an external server needs mcp:<its slug>.';

insert into public.mcp_grants (scopes) values (array[
  'chat:read', 'chat:write', 'conv:write', 'ruleset:read', 'ruleset:write',
  'sql:read', 'sql:write', 'quoth:read', 'swarm:run'
]);

alter table public.mcp_grants enable row level security;
revoke all on public.mcp_grants from anon, authenticated, service_role;
create policy "users read their own grants and the default" on public.mcp_grants
  for select to authenticated using (user_id = (select auth.uid()) or user_id is null);
grant select on public.mcp_grants to authenticated;
grant select, insert, update, delete on public.mcp_grants to service_role;

create table public.mcp_policies (
  id uuid primary key default gen_random_uuid(),
  mcp_name text not null,
  tool_name text,
  user_id uuid references auth.users (id) on delete cascade,
  is_allowed boolean not null default true,
  timeout_ms int check (timeout_ms between 1 and 600000),
  calls_per_minute int not null default 600 check (calls_per_minute > 0),
  burst_calls int not null default 200 check (burst_calls > 0),
  created_at timestamptz not null default now(),
  unique nulls not distinct (mcp_name, tool_name, user_id)
);
create index mcp_policies_user_id_idx on public.mcp_policies (user_id);
comment on table public.mcp_policies is
  'Limits on tool calls; of the rows that fit a call the most specific one holds. Written by the service role.';
comment on column public.mcp_policies.mcp_name is 'Slug of the registry row (tools.slug).';
comment on column public.mcp_policies.tool_name is 'Name as its server calls it; null means every tool of the server.';
comment on column public.mcp_policies.user_id is 'Null means every user.';
comment on column public.mcp_policies.timeout_ms is 'Overrides the timeout of the tool''s own config.';
comment on column public.mcp_policies.calls_per_minute is 'Calls a minute that each user may make in the long run.';
comment on column public.mcp_policies.burst_calls is 'Calls that each user may make at once.';

alter table public.mcp_policies enable row level security;
revoke all on public.mcp_policies from anon, authenticated, service_role;
create policy "users read the policies that apply to them" on public.mcp_policies
  for select to authenticated using (user_id = (select auth.uid()) or user_id is null);
grant select on public.mcp_policies to authenticated;
grant select, insert, update, delete on public.mcp_policies to service_role;

create function private.find_mcp_policy(p_mcp_name text, p_tool_name text, p_user_id uuid)
returns setof public.mcp_policies
language sql
stable
security invoker
set search_path = ''
as $$
  select policy.*
  from public.mcp_policies policy
  where policy.mcp_name = p_mcp_name
    and (policy.tool_name is null or policy.tool_name = p_tool_name)
    and (policy.user_id is null or policy.user_id = p_user_id)
  order by policy.user_id nulls last, policy.tool_name nulls last
  limit 1;
$$;
comment on function private.find_mcp_policy(text, text, uuid) is
  'The policy that holds for a call: a user''s own before everyone''s, then a tool''s before its server''s. No row: the defaults of the table''s columns.';
revoke all on function private.find_mcp_policy(text, text, uuid) from public;
