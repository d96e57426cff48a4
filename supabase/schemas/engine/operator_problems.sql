-- What operators do about the problems of the configuration: acknowledge them, and see who lacks a scope.

create function private.operator_acknowledge_problems(p_problems jsonb, p_reason text)
returns int
language plpgsql
security definer
set search_path = ''
as $$
declare
  c_attempt constant text := 'acknowledge the problems';
  v_reason text;
  v_listed jsonb;
begin
  perform private.assert_operator(c_attempt);
  if jsonb_typeof(p_problems) is distinct from 'array' or jsonb_array_length(p_problems) not between 1 and 1000
    or private.is_nested_too_deep(p_problems)
  then
    perform private.raise_query_invalid(c_attempt, 'p_problems is not a list of 1 to 1,000 problems',
      'Send rows of operator_configuration_problems: their kind, name, field and problem.');
  end if;
  v_reason := case when p_reason is not null then private.given_reason(c_attempt, p_reason) end;
  v_listed := coalesce((
    select jsonb_agg(distinct jsonb_build_object('kind', kind, 'name', name, 'field', field, 'cause', listed.cause))
    from private.listed_problems() as listed
    join jsonb_to_recordset(p_problems) as wanted (kind text, name text, field text, problem text) using (kind, name, field, problem)
  ), '[]');
  if v_listed = '[]' then
    return 0;
  end if;

  delete from private.acknowledged_problems as known
  where v_listed @> jsonb_build_array(to_jsonb(known) - array['reason', 'acknowledged_at', 'acknowledged_by'])
    or not exists (
      select from private.listed_problems() as listed
      where (listed.kind, listed.name, listed.field, listed.cause) = (known.kind, known.name, known.field, known.cause)
    );
  if v_reason is not null then
    insert into private.acknowledged_problems (kind, name, field, cause, reason, acknowledged_by)
    select listed.kind, listed.name, listed.field, listed.cause, v_reason, auth.uid()
    from jsonb_populate_recordset(null::private.acknowledged_problems, v_listed) as listed;
  end if;
  perform private.record_act(case when v_reason is null then 'problems.reopened' else 'problems.acknowledged' end, '{}', v_reason,
    jsonb_build_object('problems', v_listed));
  return jsonb_array_length(v_listed);
end;
$$;
comment on function private.operator_acknowledge_problems(jsonb, text) is
  'See public.operator_acknowledge_problems(). Definer: no role may write the table; assert_operator() checks the caller.';

create function public.operator_acknowledge_problems(p_problems jsonb, p_reason text)
returns int
language sql
set search_path = ''
as $$
  select private.operator_acknowledge_problems(p_problems, p_reason);
$$;
comment on function public.operator_acknowledge_problems(jsonb, text) is
  'Marks rows of operator_configuration_problems [{kind, name, field, problem}] as known, with a reason of 1 to 2,000 characters, or (null) no longer, and returns how many. It changes nothing else. operator_acts records it. For operators and the service. Raises INSUFFICIENT_SCOPE, AGENT_NOT_ALLOWED, QUERY_INVALID, REASON_INVALID.';
revoke all on function public.operator_acknowledge_problems(jsonb, text) from public, anon, authenticated, service_role;
grant execute on function private.operator_acknowledge_problems(jsonb, text), public.operator_acknowledge_problems(jsonb, text)
  to authenticated, service_role;

create function private.operator_missing_scopes()
returns table (scope text, user_id uuid, email text, account_count bigint)
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  perform private.assert_operator('list the missing scopes');
  return query
    select missing.scope, missing.user_id, private.email_of(missing.user_id), max(missing.account_count)
    from private.missing_scopes() as missing
    group by missing.scope, missing.user_id;
end;
$$;
comment on function private.operator_missing_scopes() is
  'missing_scopes() for operators. Definer: it reads all agents, grants and accounts; assert_operator() checks the caller.';

create view public.operator_missing_scopes with (security_invoker = true) as
  select * from private.operator_missing_scopes();
revoke all on public.operator_missing_scopes from anon, authenticated, service_role;
comment on view public.operator_missing_scopes is
  'Which accounts lack a scope that a tool of their agents needs; operator_set_scopes() grants it. For operators and the service; INSUFFICIENT_SCOPE for all others.';
comment on column public.operator_missing_scopes.user_id is
  'Null: the account_count accounts without scopes of their own, to which the default applies.';
grant execute on function private.operator_missing_scopes() to authenticated, service_role;
grant select on public.operator_missing_scopes to authenticated, service_role;
