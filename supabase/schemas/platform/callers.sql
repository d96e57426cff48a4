-- Who is calling and in which capacity. Used by policies and by every function that changes data.

create function private.is_service_caller()
returns boolean
language sql
stable
set search_path = ''
as $$
  -- Checks membership and not the name, because a project may have its own roles for its users.
  select pg_has_role(coalesce(nullif(current_setting('role', true), 'none'), session_user), 'service_role', 'member');
$$;
comment on function private.is_service_caller() is
  'True for the service role and for direct database sessions of roles that are members of it; false for anon, authenticated and every other role. Reads the role setting, which a definer function does not change.';

create function private.request_claims()
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
begin
  return coalesce(nullif(current_setting('request.jwt.claims', true), '')::jsonb, '{}');
end;
$$;
comment on function private.request_claims() is 'The claims of the caller''s token; empty for direct database sessions.';
grant execute on function private.request_claims() to service_role;

create function private.is_agent_call()
returns boolean
language plpgsql
stable
set search_path = ''
as $$
begin
  return
    -- A request that an agent's tool sends to this project, with any credential.
    coalesce(nullif(current_setting('request.headers', true), '')::jsonb ->> 'x-supaswarm-actor' = 'agent', false)
    or coalesce(private.request_claims() ->> 'supaswarm_actor' = 'agent', false)
    -- A called function could replace the claims; it cannot release a lock of its transaction.
    or exists (
      select from pg_catalog.pg_locks
      where locktype = 'advisory' and pid = pg_backend_pid() and granted
        and objsubid = 2 and classid::bigint = 1398227271
    );
end;
$$;
comment on function private.is_agent_call() is
  'True when an agent acts on its owner''s behalf: in a database function or an internal server that it called (claims and the transaction''s advisory lock (1398227271, any), both set by the gateway), or in a request that its tool sent here (header x-supaswarm-actor). Each of these only removes rights, so forging one gains nothing.';
grant execute on function private.is_agent_call() to service_role;

create function private.calling_task_id()
returns uuid
language plpgsql
stable
set search_path = ''
as $$
declare
  v_id constant text := coalesce(
    private.request_claims() ->> 'supaswarm_task_id',
    nullif(current_setting('request.headers', true), '')::jsonb ->> 'x-supaswarm-task-id'
  );
begin
  return substring(v_id from '^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$')::uuid;
end;
$$;
comment on function private.calling_task_id() is
  'The task of the calling agent, as named in its call, or null. Compare it with what the caller owns, because a header can be forged.';

create function private.calling_actor()
returns text
language plpgsql
stable
set search_path = ''
as $$
declare
  v_claims constant jsonb := private.request_claims();
begin
  return case
    when private.is_agent_call() then 'agent'
    when private.is_service_caller() then 'service'
    when auth.uid() is null then null
    -- A secret key that calls a tool on behalf of this user.
    when v_claims ->> 'supaswarm_actor' = 'service' then 'service'
    when coalesce(v_claims ->> 'client_id', '') <> '' then 'client'
    else 'user'
  end;
end;
$$;
comment on function private.calling_actor() is
  'Who acts: user (a person''s own session), client (a person''s OAuth client), agent (a task, on its owner''s behalf), service, or null for an anonymous caller. SQL decides this only here.';

create function private.calling_way()
returns text
language plpgsql
stable
set search_path = ''
as $$
declare
  v_claims constant jsonb := private.request_claims();
begin
  return case
    when v_claims ? 'supaswarm_actor' then 'tool'
    when v_claims = '{}' then 'database'
    else 'rest'
  end;
end;
$$;
comment on function private.calling_way() is
  'How a call arrived: tool (the gateway, over MCP, mcp-execute or in a task), rest (the REST API) or database (a direct session).';

create function private.has_scope(p_scope text)
returns boolean
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  v_client_id constant text := coalesce(private.request_claims() ->> 'client_id', '');
begin
  return v_client_id = ''
    or private.is_service_caller()
    or (
      private.granted_scopes(auth.uid(), v_client_id) && array[p_scope, 'admin:*']
      -- Several clients may have contributed to the job; the token's client is only one of them.
      and private.scopes_of_clients(private.calling_task_id(), auth.uid()) && array[p_scope, 'admin:*']
    );
end;
$$;
comment on function private.has_scope(text) is
  'True when the caller may do what the scope allows. An OAuth client needs the scope in its grant, and in a task every client that contributed to its job needs it; all other callers have the rights of their own session. Called by policies and by functions that check their caller. Definer: clients may not read the grants of other users; this function reads only the caller''s own.';
grant execute on function private.has_scope(text) to authenticated, service_role;

create function private.raise_missing_scope(p_attempt text, p_scope text)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  perform private.raise_error('INSUFFICIENT_SCOPE',
    format('Cannot %s: the client lacks the scope %s', p_attempt, p_scope),
    format('Ask an operator to add %s to the client''s row of mcp_grants.', p_scope));
end;
$$;
comment on function private.raise_missing_scope(text, text) is 'Raises INSUFFICIENT_SCOPE, naming the attempted action and the scope.';

create function private.assert_client_has_scope(p_user_id uuid, p_client_id text, p_attempt text, p_scope text)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  if not private.granted_scopes(p_user_id, p_client_id) && array[p_scope, 'admin:*'] then
    perform private.raise_missing_scope(p_attempt, p_scope);
  end if;
end;
$$;
comment on function private.assert_client_has_scope(uuid, text, text, text) is
  'Raises INSUFFICIENT_SCOPE unless the grant of a user''s OAuth client has the scope. Called by the edge functions, which have verified the token.';

create function private.assert_has_scope(p_attempt text, p_scope text)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  if not private.has_scope(p_scope) then
    perform private.raise_missing_scope(p_attempt, p_scope);
  end if;
end;
$$;
comment on function private.assert_has_scope(text, text) is 'Raises INSUFFICIENT_SCOPE unless has_scope().';

create function private.assert_not_agent(p_attempt text)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  if private.is_agent_call() then
    perform private.raise_error('AGENT_NOT_ALLOWED',
      format('Cannot %s: an agent may not do this on its owner''s behalf', p_attempt),
      'A person or the service has to do it; an agent asks with request_human_review.');
  end if;
end;
$$;
comment on function private.assert_not_agent(text) is
  'Raises AGENT_NOT_ALLOWED, naming the attempted action, when the caller is an agent.';
grant execute on function private.assert_not_agent(text) to service_role;

create function private.assert_person_may(p_attempt text, p_scope text)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  perform private.assert_not_agent(p_attempt);
  perform private.assert_has_scope(p_attempt, p_scope);
end;
$$;
comment on function private.assert_person_may(text, text) is
  'Allows people, their OAuth clients with this scope, and the service. Raises AGENT_NOT_ALLOWED, INSUFFICIENT_SCOPE. The first statement of functions that change what belongs to a person.';

create function private.grants_own_scope(p_user_id uuid, p_client_id text, p_scope text)
returns boolean
language plpgsql
stable
set search_path = ''
as $$
begin
  -- The default grant never counts here, and a user's grant never counts for an OAuth client:
  -- each needs its own row.
  return not exists (
    select from unnest(array[null, nullif(p_client_id, '')]) as wanted (client_id)
    where not exists (
      select from public.mcp_grants as own
      where own.user_id = p_user_id
        and own.client_id is not distinct from wanted.client_id
        and own.scopes && array[p_scope, 'admin:*']
    )
  );
end;
$$;
comment on function private.grants_own_scope(uuid, text, text) is
  'True when the user''s own grant has the scope and, for an OAuth client, the user''s grant for that client too.';

create function private.has_own_scope(p_scope text)
returns boolean
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  return not private.is_agent_call() and (
    private.is_service_caller()
    or private.grants_own_scope(auth.uid(), private.request_claims() ->> 'client_id', p_scope)
  );
end;
$$;
comment on function private.has_own_scope(text) is
  'True for the service and for a user whose own grant has the scope; for an OAuth client, the user''s grant for that client needs the scope too. Never true for an agent. Reads the grant at each call, so that a revoked grant stops counting immediately. Definer: policies call it, and it reads only the caller''s own grants.';
grant execute on function private.has_own_scope(text) to authenticated, service_role;

create function private.is_operator()
returns boolean
language plpgsql
stable
set search_path = ''
as $$
begin
  return private.has_own_scope('swarm:operate');
end;
$$;
comment on function private.is_operator() is
  'True for the service and for people with a grant of their own that has the scope swarm:operate, as has_own_scope() says.';
grant execute on function private.is_operator() to authenticated, service_role;

create function private.raise_missing_own_scope(p_attempt text, p_scope text)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  perform private.raise_error('INSUFFICIENT_SCOPE',
    format('Cannot %s: the caller lacks the scope %s', p_attempt, p_scope),
    format('Ask an operator of the project to grant it: select public.grant_scopes(<user>, ''{%s}'').', p_scope));
end;
$$;
comment on function private.raise_missing_own_scope(text, text) is
  'Raises INSUFFICIENT_SCOPE for a scope that a person''s own grant must have.';

create function private.assert_has_own_scope(p_attempt text, p_scope text)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  perform private.assert_not_agent(p_attempt);
  if not private.has_own_scope(p_scope) then
    perform private.raise_missing_own_scope(p_attempt, p_scope);
  end if;
end;
$$;
comment on function private.assert_has_own_scope(text, text) is
  'Allows the service and people whose own grant has the scope. Raises AGENT_NOT_ALLOWED, INSUFFICIENT_SCOPE.';

create function private.assert_operator(p_attempt text)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  perform private.assert_has_own_scope(p_attempt, 'swarm:operate');
end;
$$;
comment on function private.assert_operator(text) is
  'Allows operators and the service. Raises AGENT_NOT_ALLOWED, INSUFFICIENT_SCOPE. The first statement of functions for operators only.';

create function private.touch_updated_at()
returns trigger
language plpgsql
set search_path = ''
as $$
begin
  new.updated_at := clock_timestamp();
  return new;
end;
$$;
comment on function private.touch_updated_at() is 'Row trigger: sets updated_at to the time of the change.';
