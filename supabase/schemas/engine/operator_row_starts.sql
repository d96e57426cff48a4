-- Starts over the API: operators see which changes of rows have not become jobs, and start failed ones again.

create function private.operator_row_starts()
returns table (
  id bigint, trigger text, table_name text, event text, row_key text, agent text, owner_id uuid, owner text, status text,
  due_at timestamptz, code text, message text, hint text
)
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  c_most_of_each constant int := 500;
begin
  perform private.assert_operator('list the starts');
  return query
    select start.id, listed.name, listed.table_name, start.event, start.row_key, listed.agent, owner.id,
      private.email_of(owner.id),
      case when start.error is not null then 'failed' when pause.error is not null then 'postponed' else 'waiting' end,
      greatest(start.due_at, pause.until), problem.error ->> 'code', problem.error ->> 'message', problem.error ->> 'hint'
    from (
      (select * from private.row_starts as failed where failed.error is not null order by failed.id desc limit c_most_of_each)
      union all
      (select * from private.row_starts as waiting where waiting.error is null order by waiting.id limit c_most_of_each)
    ) as start
    join public.row_triggers as listed on listed.id = start.trigger_id
    left join private.row_start_pauses as pause
      on start.error is null and pause.until > clock_timestamp()
      and pause.owner_key = start.owner_key
    cross join lateral (select nullif(start.owner_key, '00000000-0000-0000-0000-000000000000') as id) as owner
    cross join lateral (select coalesce(start.error, pause.error) as error) as problem
    order by start.error is null, case when start.error is not null then -start.id else start.id end;
end;
$$;
comment on function private.operator_row_starts() is
  'Starts that have not become jobs, for operators. Definer: users may not read starts; assert_operator() checks the caller.';

create view public.operator_row_starts with (security_invoker = true) as
  select * from private.operator_row_starts();
revoke all on public.operator_row_starts from anon, authenticated, service_role;
comment on view public.operator_row_starts is
  'Changes of rows that have not become jobs: the newest 500 that failed, then the oldest 500 that wait. code and message say why. A start that became a job is not listed; the job''s metadata.trigger names its trigger and row. For operators and the service; INSUFFICIENT_SCOPE for all others.';
comment on column public.operator_row_starts.row_key is
  'The values of the trigger''s key, or their hash. Empty: a whole statement. Null: the changes of a statement that could not start anything, listed once for repeated ones.';
comment on column public.operator_row_starts.owner_id is 'For whom the job runs; null: the service. With the code FORBIDDEN: who changed the row.';
comment on column public.operator_row_starts.status is 'waiting, postponed (a quota of the owner has refused an earlier start) or failed.';
comment on column public.operator_row_starts.due_at is 'When the job starts at the earliest; of a failed start, when it was due.';
grant execute on function private.operator_row_starts() to authenticated, service_role;
grant select on public.operator_row_starts to authenticated, service_role;

create function private.operator_retry_row_starts(p_trigger text, p_ids bigint[])
returns int
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_attempt constant text := format('retry the starts of the trigger "%s"', p_trigger);
  v_trigger public.row_triggers;
  v_count int;
begin
  perform private.assert_operator(v_attempt);
  select * into v_trigger from public.row_triggers where name = p_trigger;
  if not found then
    perform private.raise_error('TRIGGER_NOT_FOUND', format('Cannot %s: there is no such trigger', v_attempt),
      'Read the names from operator_definitions.');
  elsif not v_trigger.is_active then
    perform private.raise_error('TRIGGER_INACTIVE', format('Cannot %s: it is not active', v_attempt), 'Activate it first.');
  end if;
  update private.row_starts
  set error = null, due_at = clock_timestamp()
  -- A refused start of another owner, or of a whole statement, has no input.
  where trigger_id = v_trigger.id and error is not null and input is not null
    and (p_ids is null or id = any (p_ids));
  get diagnostics v_count = row_count;
  if v_count > 0 then
    perform private.record_act('row_starts.retried', '{}', null,
      jsonb_build_object('kind', 'trigger', 'slug', p_trigger, 'count', v_count));
    perform private.wake_function('supaswarm-worker');
  end if;
  return v_count;
end;
$$;
comment on function private.operator_retry_row_starts(text, bigint[]) is
  'See public.operator_retry_row_starts(). Definer: users may not write starts; assert_operator() checks the caller.';

create function public.operator_retry_row_starts(p_trigger text, p_ids bigint[] default null)
returns int
language sql
set search_path = ''
as $$
  select private.operator_retry_row_starts(operator_retry_row_starts.p_trigger, operator_retry_row_starts.p_ids);
$$;
comment on function public.operator_retry_row_starts(text, bigint[]) is
  'Starts the failed starts of a row trigger again, all or those with these ids of operator_row_starts, and returns how many. Those that are FORBIDDEN stay refused. operator_acts records it. For operators and the service. Raises INSUFFICIENT_SCOPE, AGENT_NOT_ALLOWED, TRIGGER_NOT_FOUND, TRIGGER_INACTIVE.';
revoke all on function public.operator_retry_row_starts(text, bigint[]) from public, anon, authenticated, service_role;
grant execute on function private.operator_retry_row_starts(text, bigint[]), public.operator_retry_row_starts(text, bigint[])
  to authenticated, service_role;
