-- Who may do what, and the keys of the project. Only people in their own session and the service change them.

create function private.assert_may_administer(p_attempt text)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  perform private.assert_has_own_scope(p_attempt, 'swarm:configure');
  if coalesce(private.request_claims() ->> 'client_id', '') <> '' then
    perform private.raise_error('FORBIDDEN', format('Cannot %s: an OAuth client may not do this for its user', p_attempt),
      'Sign in to the console and do it there.');
  end if;
end;
$$;
comment on function private.assert_may_administer(text) is
  'Allows the service and people with the scope swarm:configure in their own session. Raises AGENT_NOT_ALLOWED, INSUFFICIENT_SCOPE, FORBIDDEN.';

-- Keys ------------------------------------------------------------------------------------------

create function private.operator_secrets()
returns table (name text, is_set boolean, set_at timestamptz, set_by text, is_from_file boolean, used_by text[], sent_to text[])
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  perform private.assert_operator('list the keys of the project');
  return query
    with named as (
      select known.name, array(
        select distinct used.used_by from private.used_secrets() as used where used.name = known.name order by 1
      ) as used_by, array(
        select distinct used.destination from private.used_secrets() as used where used.name = known.name order by 1
      ) as sent_to
      from private.project_secrets() as known (name)
    )
    select named.name, stored.id is not null, stored.updated_at, case when stored.id is not null then last_set.email end,
      starts_with(named.name, 'supaswarm/mcp/'), named.used_by, named.sent_to
    from named
    left join vault.secrets as stored on stored.name = named.name
    left join lateral (
      select private.email_of(done.operator_id) as email
      from private.operator_acts as done
      where done.act = 'secret.set' and done.details ->> 'name' = named.name
      order by done.id desc
      limit 1
    ) as last_set on true
    where stored.id is not null or named.used_by <> '{}'
    order by named.name;
end;
$$;
comment on function private.operator_secrets() is
  'Names of the project''s keys, for operators. Never a value. Definer: no role may read Vault; assert_operator() checks the caller.';

create view public.operator_secrets with (security_invoker = true) as
  select * from private.operator_secrets();
revoke all on public.operator_secrets from anon, authenticated, service_role;
comment on view public.operator_secrets is
  'The keys that the project uses or that operator_set_secret() stored: names, when and by whom they were set, what uses them, and the hosts they are sent to. Never a value. For operators and the service; INSUFFICIENT_SCOPE for all others.';
comment on column public.operator_secrets.is_from_file is 'Stored by mcps:sync from the environment; operator_set_secret() refuses it.';
grant execute on function private.operator_secrets() to authenticated, service_role;
grant select on public.operator_secrets to authenticated, service_role;

create function private.operator_set_secret(p_name text, p_secret text)
returns timestamptz
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_attempt constant text := format('store the key "%s"', left(p_name, 100));
  v_at timestamptz;
begin
  perform private.assert_may_administer(v_attempt);
  if p_name is null or p_name !~ '^[A-Za-z_][A-Za-z0-9_.-]{0,99}$' or lower(p_name) ~ '^supaswarm' then
    perform private.raise_error('SECRET_INVALID', format('Cannot %s: this is not the name of a key of the project', v_attempt),
      'Write letters, digits, _, . and -, at most 100, beginning with a letter or _ and not with supaswarm.');
  end if;
  perform private.assert_secret_is_valid(p_secret);
  perform pg_advisory_xact_lock(hashtextextended('supaswarm:secrets', 0));
  -- A project may have secrets of other programs in Vault.
  if private.vault_has_secret(p_name)
    and not exists (select from private.secret_bindings() as bound where bound ->> 0 = p_name)
    and (private.act_that_stored(p_name)).id is null
  then
    perform private.raise_error('SECRET_INVALID', format('Cannot %s: Vault has a secret of this name that the platform does not use', v_attempt),
      'Choose another name.');
  end if;
  perform private.set_secret(p_name => p_name, p_secret => p_secret, p_description => 'A key of the project, for SupaSwarm');
  select stored.updated_at into v_at from vault.secrets as stored where stored.name = p_name;
  if p_secret is null then
    -- What another program stores later under this name is not theirs.
    insert into private.awaited_secrets (used_by, name)
    select distinct used.used_by, used.name from private.used_secrets() as used where used.name = p_name
    on conflict (used_by, name) do update set given_by = null, given_at = null;
  else
    -- The list of keys shows the caller where this one is sent, also when it is rotated.
    update private.awaited_secrets as awaited
    set given_by = auth.uid(), given_at = case when auth.uid() is not null then v_at end
    where awaited.name = p_name;
    -- The service can write the rows that name the secret.
    delete from private.awaited_secrets as awaited where auth.uid() is null and awaited.name = p_name;
  end if;
  perform private.record_act(case when p_secret is null then 'secret.removed' else 'secret.set' end, '{}', null,
    jsonb_build_object('name', p_name));
  return v_at;
end;
$$;
comment on function private.operator_set_secret(text, text) is
  'Stores a key of the project. Definer: users may not write to Vault; assert_may_administer() checks the caller.';

create function public.operator_set_secret(p_name text, p_secret text)
returns timestamptz
language sql
set search_path = ''
as $$
  select private.operator_set_secret(p_name, p_secret);
$$;
comment on function public.operator_set_secret(text, text) is
  'Stores a key of the project in Vault under a name, or (null) deletes it, and returns when it was set. It is given to everything that names it, which operator_secrets lists with the hosts. No function returns the value. operator_acts records the name. For people with the scope swarm:configure in their own session and the service. Raises INSUFFICIENT_SCOPE, AGENT_NOT_ALLOWED, FORBIDDEN, SECRET_INVALID.';
revoke all on function public.operator_set_secret(text, text) from public, anon, authenticated, service_role;
grant execute on function private.operator_set_secret(text, text), public.operator_set_secret(text, text)
  to authenticated, service_role;

-- Scopes ----------------------------------------------------------------------------------------

create function private.operator_grants()
returns table (user_id uuid, email text, client_id text, scopes text[], created_at timestamptz)
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  perform private.assert_operator('list the scopes');
  return query
    select given.user_id, private.email_of(given.user_id), given.client_id, given.scopes, given.created_at
    from public.mcp_grants as given
    order by given.user_id is not null, private.email_of(given.user_id), given.client_id nulls first;
end;
$$;
comment on function private.operator_grants() is
  'The scopes of all accounts, for operators. Definer: users read only their own; assert_operator() checks the caller.';

create view public.operator_grants with (security_invoker = true) as
  select * from private.operator_grants();
revoke all on public.operator_grants from anon, authenticated, service_role;
comment on view public.operator_grants is
  'Who has which scopes: the default (null user_id and client_id), accounts, and their OAuth clients. For operators and the service; INSUFFICIENT_SCOPE for all others.';
grant execute on function private.operator_grants() to authenticated, service_role;
grant select on public.operator_grants to authenticated, service_role;

create function private.known_scopes()
returns table (scope text, allows text)
language sql
stable
set search_path = ''
as $$
  select known.scope, known.allows
  from (
    values
      ('admin:*', 'everything; covers every other scope'),
      ('swarm:configure', 'changing definitions, settings, keys and the scopes of others'),
      ('swarm:operate', 'the pages and functions of operators'),
      ('swarm:run', 'creating and answering jobs'),
      ('sql:read', 'reading the database with SQL'),
      ('sql:write', 'changing the database with SQL'),
      ('quoth:read', 'searching and reading documents'),
      ('chat:read', 'reading conversations'),
      ('chat:write', 'calling models in conversations'),
      ('conv:write', 'storing conversations'),
      ('ruleset:read', 'reading rulesets'),
      ('ruleset:write', 'storing rulesets'),
      ('credentials:write', 'storing own credentials, for an OAuth client')
  ) as known (scope, allows)
  union all
  select 'mcp:' || tool.slug, 'calling ' || tool.name from public.tools as tool where tool.type <> 'internal';
$$;
comment on function private.known_scopes() is
  'The scopes for which tools, tables and functions ask, and what each allows.';

create function private.operator_scopes()
returns table (scope text, allows text)
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  perform private.assert_operator('list the scopes');
  return query select known.scope, known.allows from private.known_scopes() as known;
end;
$$;
comment on function private.operator_scopes() is
  'The known scopes, for operators. Definer: the list is private; assert_operator() checks the caller.';
create view public.operator_scopes with (security_invoker = true) as
  select * from private.operator_scopes();
revoke all on public.operator_scopes from anon, authenticated, service_role;
comment on view public.operator_scopes is
  'The scopes that can be granted, and what each allows. For operators and the service; INSUFFICIENT_SCOPE for all others.';
grant execute on function private.operator_scopes() to authenticated, service_role;
grant select on public.operator_scopes to authenticated, service_role;

create function private.assert_not_for_everyone(p_scope text, p_attempt text)
returns void
language plpgsql
immutable
set search_path = ''
as $$
begin
  if p_scope = any (array['admin:*', 'swarm:configure', 'swarm:operate']) then
    perform private.raise_error('SCOPES_INVALID', format('Cannot %s: %s is only for named accounts', p_attempt, p_scope),
      'Grant it to each account that needs it.');
  end if;
end;
$$;
comment on function private.assert_not_for_everyone(text, text) is
  'Refuses the scopes of operators. Raises SCOPES_INVALID.';

create function private.assert_grantable(p_user_id uuid, p_scopes text[])
returns void
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  c_attempt constant text := 'grant scopes';
  v_known constant text[] := array(select known.scope from private.known_scopes() as known);
  v_scope text;
begin
  foreach v_scope in array coalesce(p_scopes, '{}') loop
    -- A migration can grant the scope of a server that is registered later.
    if v_scope not like 'mcp:_%' then
      perform private.assert_no_problem(private.choice_problem('scopes', v_scope, v_known), 'SCOPES_INVALID', c_attempt);
    end if;
    if p_user_id is null then
      perform private.assert_not_for_everyone(v_scope, c_attempt);
    end if;
  end loop;
end;
$$;
comment on function private.assert_grantable(uuid, text[]) is
  'The checks of grant_scopes(): the scopes exist, and those of operators are not for everyone (null). Definer: the service may not call the functions of operators. Raises SCOPES_INVALID.';
grant execute on function private.assert_grantable(uuid, text[]) to service_role;

create function private.sorted(p_texts text[])
returns text[]
language sql
immutable
set search_path = ''
as $$
  select case when p_texts is not null then array(select distinct member from unnest(p_texts) as member order by member) end;
$$;
comment on function private.sorted(text[]) is 'The members of an array without repetitions, in order; null for null.';

create function private.scopes_that_differ(p_before text[], p_after text[])
returns text[]
language sql
immutable
set search_path = ''
as $$
  select array(
    (select unnest(p_before) except select unnest(p_after)) union (select unnest(p_after) except select unnest(p_before)) order by 1
  );
$$;
comment on function private.scopes_that_differ(text[], text[]) is 'The scopes that only one of two lists has.';

create function private.scopes_without_row(p_user_id uuid, p_client_id text)
returns text[]
language sql
stable
set search_path = ''
as $$
  select coalesce((
    select given.scopes
    from public.mcp_grants as given
    where given.client_id is null and (given.user_id is null or given.user_id = p_user_id and p_client_id is not null)
    order by given.user_id nulls last
    limit 1
  ), '{}');
$$;
comment on function private.scopes_without_row(uuid, text) is
  'The scopes that an account, or its client, has once its row is removed: the account''s, or the default.';

create function private.operator_set_scopes(p_account text, p_scopes text[], p_base text[], p_client_id text, p_reason text)
returns text[]
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_attempt constant text := format('change the scopes of %s', coalesce(p_account, 'everyone'));
  v_is_service constant boolean := private.is_service_caller();
  v_reason text;
  v_user_id uuid;
  v_wanted constant text[] := coalesce(private.sorted(p_scopes), '{}');
  v_before text[];
  v_changed text[];
  v_own text[];
  v_scope text;
begin
  perform private.assert_may_administer(v_attempt);
  -- Two people who withdraw each other's scopes: the second has none by then.
  perform pg_advisory_xact_lock(hashtextextended('supaswarm:scopes', 0));
  perform private.assert_may_administer(v_attempt);
  v_reason := private.given_reason(v_attempt, p_reason);
  v_user_id := case when p_account is not null then private.account_of(p_account, v_attempt) end;
  if p_account is null and p_client_id is not null or p_client_id = '' then
    perform private.raise_error('SCOPES_INVALID', format('Cannot %s: a client needs the account that uses it', v_attempt),
      'Name the account, or leave out the client.');
  end if;
  if v_user_id = auth.uid() and not v_is_service then
    perform private.raise_error('SCOPES_INVALID', format('Cannot %s: nobody changes their own scopes', v_attempt),
      'Another person with the scope swarm:configure, or the service with grant_scopes(), does it.');
  end if;
  select given.scopes into v_before
  from public.mcp_grants as given
  where given.user_id is not distinct from v_user_id and given.client_id is not distinct from p_client_id;
  if private.sorted(v_before) is distinct from private.sorted(p_base) then
    perform private.raise_error('DEFINITION_CHANGED', format('Cannot %s: they were changed in the meantime', v_attempt),
      'Read them from operator_grants and repeat your change.');
  end if;

  -- Without a row, or without it from now on, the default applies.
  v_changed := private.scopes_that_differ(
    coalesce(v_before, (private.grant_of(v_user_id, p_client_id)).scopes, '{}'),
    case when p_scopes is null then private.scopes_without_row(v_user_id, p_client_id) else v_wanted end
  );
  if p_account is null and p_scopes is null then
    perform private.raise_error('SCOPES_INVALID', format('Cannot %s: the default cannot be removed', v_attempt), 'Send an empty list.');
  end if;
  foreach v_scope in array v_changed loop
    if v_scope = any (v_wanted) then
      perform private.assert_no_problem(
        private.choice_problem('scopes', v_scope, array(select known.scope from private.known_scopes() as known)), 'SCOPES_INVALID', v_attempt);
      if p_account is null then
        perform private.assert_not_for_everyone(v_scope, v_attempt);
      end if;
    end if;
  end loop;
  if not v_is_service then
    v_own := private.granted_scopes(auth.uid(), null);
    foreach v_scope in array v_changed loop
      -- Whoever may register servers may say who uses them.
      if v_scope not like 'mcp:%' and not v_own && array[v_scope, 'admin:*'] then
        perform private.raise_error('SCOPES_INVALID', format('Cannot %s: you do not have the scope %s yourself', v_attempt, v_scope),
          'Nobody gives or takes a scope that they lack. Ask somebody who has it or admin:*, or the service.');
      end if;
    end loop;
  end if;

  if p_scopes is null then
    delete from public.mcp_grants as given
    where given.user_id = v_user_id and given.client_id is not distinct from p_client_id;
  else
    insert into public.mcp_grants as given (user_id, client_id, scopes)
    values (v_user_id, p_client_id, v_wanted)
    on conflict (user_id, client_id) do update set scopes = excluded.scopes;
  end if;
  if p_scopes is null and v_before is not null or v_changed <> '{}' or v_before is null then
    perform private.record_act('scopes.changed', jsonb_build_object('owner_id', v_user_id), v_reason,
      jsonb_build_object('client', p_client_id, 'before', v_before, 'after', case when p_scopes is not null then v_wanted end));
  end if;
  return case when p_scopes is not null then v_wanted end;
end;
$$;
comment on function private.operator_set_scopes(text, text[], text[], text, text) is
  'Changes the scopes of an account. Definer: users may not write grants; assert_may_administer() checks the caller.';

create function public.operator_set_scopes(
  p_account text, p_scopes text[], p_reason text, p_base text[] default null, p_client_id text default null
)
returns text[]
language sql
set search_path = ''
as $$
  select private.operator_set_scopes(
    p_account => operator_set_scopes.p_account, p_scopes => operator_set_scopes.p_scopes, p_base => operator_set_scopes.p_base,
    p_client_id => operator_set_scopes.p_client_id, p_reason => operator_set_scopes.p_reason
  );
$$;
comment on function public.operator_set_scopes(text, text[], text, text[], text) is
  'Replaces the scopes of an account (its email address or id; null: the default), or of one of its OAuth clients, and returns them. Null scopes remove the row, so that the default applies. p_base: the scopes that the caller read, null for no row; they must still be current. Nobody changes their own scopes, or gives or takes a scope that they lack, except mcp:<server>; admin:* covers all. operator_acts records the change and the reason. For people with the scope swarm:configure in their own session and the service. Raises INSUFFICIENT_SCOPE, AGENT_NOT_ALLOWED, FORBIDDEN, REASON_INVALID, USER_NOT_FOUND, DEFINITION_CHANGED, SCOPES_INVALID.';
revoke all on function public.operator_set_scopes(text, text[], text, text[], text) from public, anon, authenticated, service_role;
grant execute on function private.operator_set_scopes(text, text[], text[], text, text),
  public.operator_set_scopes(text, text[], text, text[], text) to authenticated, service_role;
