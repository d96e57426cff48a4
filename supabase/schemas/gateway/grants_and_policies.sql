-- Permissions of tool callers: scopes, limits, and the sessions that group their calls.

create table public.sessions (
  id uuid primary key default gen_random_uuid(),
  user_id uuid references auth.users (id) on delete cascade,
  agent_id uuid references public.agents (id) on delete set null,
  client_name text,
  created_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now()
);
revoke all on public.sessions from anon, authenticated, service_role;
create index sessions_user_id_idx on public.sessions (user_id, last_seen_at);
create index sessions_agent_id_idx on public.sessions (agent_id);
comment on table public.sessions is
  'Groups tool calls that belong together, such as one conversation of an MCP client. Created by the gateway. Unrelated to auth.sessions.';
comment on column public.sessions.user_id is 'The owner; null when the service calls.';
comment on column public.sessions.client_name is 'The name that the calling program reports.';

alter table public.sessions enable row level security;
create policy "users read their own sessions" on public.sessions
  for select to authenticated using (
    user_id = (select auth.uid()) and (select private.has_scope('swarm:run'))
  );
comment on policy "users read their own sessions" on public.sessions is
  'Users read which conversations their clients had.';
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
revoke all on public.mcp_grants from anon, authenticated, service_role;
comment on table public.mcp_grants is
  'Scopes of a user, optionally for one client program. A call inside a task uses the scopes of the task''s owner. Written by the service role.';
comment on column public.mcp_grants.user_id is 'Null: the default scopes, for signed-in users without their own row.';
comment on column public.mcp_grants.client_id is 'OAuth client of the token; null: any client.';
comment on column public.mcp_grants.scopes is 'For example sql:read. A server that is not part of the product needs mcp:<its slug>. admin:* covers every scope.';

insert into public.mcp_grants (scopes) values (array[
  'chat:read', 'chat:write', 'conv:write', 'ruleset:read', 'ruleset:write',
  'sql:read', 'quoth:read', 'swarm:run'
]);

alter table public.mcp_grants enable row level security;
create policy "users read their own grants and the default" on public.mcp_grants
  for select to authenticated using (user_id = (select auth.uid()) or user_id is null);
comment on policy "users read their own grants and the default" on public.mcp_grants is
  'Lets a client see which scopes to request.';
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
  max_input_bytes int check (max_input_bytes > 0),
  created_at timestamptz not null default now(),
  unique nulls not distinct (mcp_name, tool_name, user_id)
);
revoke all on public.mcp_policies from anon, authenticated, service_role;
create index mcp_policies_user_id_idx on public.mcp_policies (user_id);
comment on table public.mcp_policies is
  'Limits on tool calls. Of the rows that match a call, the most specific one applies. Written by the service role.';
comment on column public.mcp_policies.mcp_name is 'Slug of the server (tools.slug).';
comment on column public.mcp_policies.tool_name is 'The tool''s name at its server; null: every tool of the server.';
comment on column public.mcp_policies.user_id is 'Null: every user.';
comment on column public.mcp_policies.timeout_ms is 'Overrides the timeout in the tool''s config.';
comment on column public.mcp_policies.calls_per_minute is 'Sustained rate: calls per minute for each user.';
comment on column public.mcp_policies.burst_calls is 'Calls that each user may make at once.';
comment on column public.mcp_policies.max_input_bytes is 'Most bytes of a call''s arguments as JSON. Null: the limit of a request.';

alter table public.mcp_policies enable row level security;
create policy "users read the policies that apply to them" on public.mcp_policies
  for select to authenticated using (user_id = (select auth.uid()) or user_id is null);
comment on policy "users read the policies that apply to them" on public.mcp_policies is
  'Lets a client see its limits in advance.';
grant select on public.mcp_policies to authenticated;
grant select, insert, update, delete on public.mcp_policies to service_role;

create function private.find_mcp_policy(p_mcp_name text, p_tool_name text, p_user_id uuid)
returns public.mcp_policies
language plpgsql
stable
set search_path = ''
as $$
declare
  v_policy public.mcp_policies;
begin
  select policy.* into v_policy
  from public.mcp_policies policy
  where policy.mcp_name = p_mcp_name
    and (policy.tool_name is null or policy.tool_name = p_tool_name)
    and (policy.user_id is null or policy.user_id = p_user_id)
  order by policy.user_id nulls last, policy.tool_name nulls last
  limit 1;
  return v_policy;
end;
$$;
comment on function private.find_mcp_policy(text, text, uuid) is
  'The policy that applies to a call: a row for the user before a row for all users, then a row for the tool before a row for its server. All null when no row matches: the defaults of the table''s columns apply.';
grant execute on function private.find_mcp_policy(text, text, uuid) to service_role;

create function private.grant_of(p_user_id uuid, p_client_id text)
returns public.mcp_grants
language plpgsql
stable
set search_path = ''
as $$
declare
  v_grant public.mcp_grants;
begin
  select granted.* into v_grant
  from public.mcp_grants granted
  where (granted.user_id is null or granted.user_id = p_user_id)
    and (granted.client_id is null or granted.client_id = p_client_id)
  order by granted.user_id nulls last, granted.client_id nulls last
  limit 1;
  return v_grant;
end;
$$;
comment on function private.grant_of(uuid, text) is
  'The row that counts for a user: that for this client, else the user''s own, else the default. All null without any.';
-- grant_scopes() runs with the rights of its caller.
grant execute on function private.grant_of(uuid, text) to service_role;

create function private.granted_scopes(p_user_id uuid, p_client_id text)
returns text[]
language plpgsql
stable
set search_path = ''
as $$
declare
  v_grant constant public.mcp_grants := private.grant_of(p_user_id, p_client_id);
begin
  -- A client with a row of its own has what that names. Whoever may not run jobs was refused on purpose.
  if v_grant.client_id is not null or (v_grant.scopes && '{swarm:run,admin:*}') is not true then
    return coalesce(v_grant.scopes, '{}');
  end if;
  return v_grant.scopes || array(
    select 'mcp:' || tool.slug from public.tools as tool where tool.audience = 'everyone' and tool.type <> 'internal'
  );
end;
$$;
comment on function private.granted_scopes(uuid, text) is
  'The scopes of a user: those of grant_of(), and for accounts that may run jobs also those of the tools for everyone, which are stored nowhere else, so that a change of a tool''s audience counts at once. Called by the gateway.';
grant execute on function private.granted_scopes(uuid, text) to service_role;

create function public.grant_scopes(p_user_id uuid, p_scopes text[], p_client_id text default null)
returns text[]
language plpgsql
set search_path = ''
as $$
declare
  v_scopes text[];
begin
  perform private.assert_not_agent('grant scopes');
  perform private.assert_grantable(p_user_id, p_scopes);
  insert into public.mcp_grants as given (user_id, client_id, scopes)
  select p_user_id, p_client_id, array(
    select distinct scope
    from unnest((private.grant_of(p_user_id, p_client_id)).scopes || p_scopes) as scope
    order by scope
  )
  on conflict (user_id, client_id) do update
  set scopes = array(select distinct scope from unnest(given.scopes || p_scopes) as scope order by scope)
  returning scopes into v_scopes;
  return v_scopes;
end;
$$;
comment on function public.grant_scopes(uuid, text[], text) is
  'Adds scopes to those of a user, optionally for one client program, and returns all of them. A user without a row keeps the default scopes. A null user adds to the default itself. Called by operators. Raises AGENT_NOT_ALLOWED, SCOPES_INVALID.';
revoke all on function public.grant_scopes(uuid, text[], text) from public, anon, authenticated, service_role;
grant execute on function public.grant_scopes(uuid, text[], text) to service_role;

-- Unlogged: after a crash, the buckets are full.
create unlogged table private.tool_call_allowances (
  tool_id uuid not null references public.tools (id) on delete cascade,
  tool_name text not null,
  user_id uuid references auth.users (id) on delete cascade,
  calls_left double precision not null check (calls_left >= 0),
  refilled_at timestamptz not null,
  unique nulls not distinct (tool_id, tool_name, user_id)
);
create index tool_call_allowances_user_id_idx on private.tool_call_allowances (user_id);
comment on table private.tool_call_allowances is
  'Token buckets: how many calls of a tool each user may still make at once. A missing row is a full bucket.';
comment on column private.tool_call_allowances.user_id is 'Null: the service, which has a limit only if a policy sets one.';
comment on column private.tool_call_allowances.calls_left is 'Calls left at refilled_at. The number grows with time up to the policy''s burst_calls.';
alter table private.tool_call_allowances enable row level security;

create function private.take_tool_call(
  p_tool_id uuid, p_tool_name text, p_user_id uuid, p_calls_per_minute int, p_burst_calls int
)
returns int
language plpgsql
set search_path = ''
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_left double precision;
begin
  insert into private.tool_call_allowances as bucket (tool_id, tool_name, user_id, calls_left, refilled_at)
  values (p_tool_id, p_tool_name, p_user_id, p_burst_calls - 1, v_now)
  on conflict (tool_id, tool_name, user_id) do update
  set calls_left = least(
        p_burst_calls,
        bucket.calls_left + greatest(0, extract(epoch from v_now - bucket.refilled_at)) * p_calls_per_minute / 60.0
      ) - 1,
      refilled_at = greatest(v_now, bucket.refilled_at)
  where bucket.calls_left + greatest(0, extract(epoch from v_now - bucket.refilled_at)) * p_calls_per_minute / 60.0 >= 1
  returning bucket.calls_left into v_left;
  if found then
    return 0;
  end if;
  select bucket.calls_left + greatest(0, extract(epoch from v_now - bucket.refilled_at)) * p_calls_per_minute / 60.0
  into v_left
  from private.tool_call_allowances bucket
  where bucket.tool_id = p_tool_id and bucket.tool_name = p_tool_name
    and bucket.user_id is not distinct from p_user_id;
  return greatest(1, ceil((1 - v_left) * 60000.0 / p_calls_per_minute));
end;
$$;
comment on function private.take_tool_call(uuid, text, uuid, int, int) is
  'Takes one call out of a user''s bucket for a tool, in one statement. Returns 0 on success, else the milliseconds until a call is available. Called by the gateway.';

create function private.touch_session(p_session_id uuid, p_user_id uuid, p_agent_id uuid, p_client_name text)
returns void
language plpgsql
set search_path = ''
as $$
begin
  insert into public.sessions as session (id, user_id, agent_id, client_name)
  values (p_session_id, p_user_id, p_agent_id, left(p_client_name, 200))
  on conflict (id) do update set last_seen_at = clock_timestamp()
  where session.user_id is not distinct from excluded.user_id;
  if not found then
    perform private.raise_error('FORBIDDEN',
      format('Cannot use the session %s: it belongs to another user', p_session_id),
      'Use a new random UUID as session_id.');
  end if;
end;
$$;
comment on function private.touch_session(uuid, uuid, uuid, text) is
  'Creates a session of the caller on its first call, and records when it was last used. Called by the gateway.';

create function private.session_of_call(p_caller jsonb, p_user_id uuid)
returns uuid
language plpgsql
set search_path = ''
as $$
declare
  -- The time of last use is written at most once a minute, to save writes.
  c_noted_every constant interval := interval '1 minute';
  -- Calls of one program further apart than this are separate conversations.
  c_pause constant interval := interval '30 minutes';
  v_agent_id uuid := (p_caller ->> 'agent_id')::uuid;
  v_session public.sessions;
  v_job_id uuid;
begin
  if p_caller ->> 'session_id' is not null then
    v_session.id := (p_caller ->> 'session_id')::uuid;
    perform private.touch_session(v_session.id, p_user_id, v_agent_id, p_caller ->> 'client_name');
    return v_session.id;
  elsif p_caller ->> 'task_id' is not null then
    select task.master_task_id into v_job_id from public.tasks as task where task.id = (p_caller ->> 'task_id')::uuid;
    select * into v_session from public.sessions where id = v_job_id;
  elsif (p_caller ->> 'joins_session')::boolean then
    select * into v_session
    from public.sessions as session
    where session.user_id is not distinct from p_user_id
      and session.client_name is not distinct from left(p_caller ->> 'client_name', 200)
      and session.agent_id is not distinct from v_agent_id
      and session.last_seen_at > clock_timestamp() - c_pause
    order by session.last_seen_at desc
    limit 1;
  else
    return null;
  end if;

  if v_session.id is null then
    insert into public.sessions (id, user_id, agent_id, client_name)
    values (coalesce(v_job_id, gen_random_uuid()), p_user_id, v_agent_id, left(p_caller ->> 'client_name', 200))
    on conflict (id) do nothing
    returning * into v_session;
    return coalesce(v_session.id, v_job_id);
  elsif v_session.user_id is distinct from p_user_id then
    return null;
  elsif v_session.last_seen_at < clock_timestamp() - c_noted_every then
    update public.sessions set last_seen_at = clock_timestamp() where id = v_session.id;
  end if;
  return v_session.id;
end;
$$;
comment on function private.session_of_call(jsonb, uuid) is
  'The session of a user''s call: the one that the caller {session_id, task_id, agent_id, client_name, joins_session} names; inside a task the session of its job (with the job''s id); for a caller with joins_session the user''s last session with the same program. Created on first use; null for any other caller. Called by the gateway.';
