-- Statements of callers that run past their time, because PostgreSQL looks for a cancellation only at some points.
--
-- Each transaction of the callers' login holds two advisory locks that nothing can release before it ends (see
-- run_as_user.ts). The key of a lock has its class in the upper half; the lower half of one has the last 32 bits
-- of the hash of the user, the lower half of the other the timeout of the statements in milliseconds.

create function private.late_statements()
returns table (pid int, user_key bigint, timeout_ms bigint, late_ms bigint)
language sql
stable
set search_path = ''
as $$
  select activity.pid, marked.user_key, marked.timeout_ms, (lasted.ms - marked.timeout_ms)::bigint
  from (
    select held.pid,
      max(held.objid::bigint) filter (where held.classid = 1398227272) as user_key,
      max(held.objid::bigint) filter (where held.classid = 1398227273) as timeout_ms
    from pg_catalog.pg_locks as held
    where held.locktype = 'advisory' and held.objsubid = 1
      and held.classid in (1398227272, 1398227273)
      and held.database = (select oid from pg_catalog.pg_database where datname = current_database())
    group by held.pid
  ) as marked
  join pg_catalog.pg_stat_activity as activity on activity.pid = marked.pid
  cross join lateral (
    select extract(epoch from clock_timestamp() - activity.query_start) * 1000 as ms
  ) as lasted
  where activity.usename = private.caller_login_name()
    and activity.state = 'active'
    and activity.pid <> pg_backend_pid()
    -- A timeout ends nearly every statement within this time.
    and lasted.ms > marked.timeout_ms + 3000;
$$;
comment on function private.late_statements() is
  'Statements of callers that still run three seconds after their timeout, by how much, and the last 32 bits of the hash of their user. Called by cron and as the functions'' own role, which is a member of the callers'' login.';

create function private.assert_no_late_statement(p_user_id uuid)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  if exists (
    select from private.late_statements() as late
    where late.user_key = hashtext(assert_no_late_statement.p_user_id::text)::bigint & 4294967295
  ) then
    perform private.raise_error('STATEMENT_STILL_RUNNING',
      'Cannot run another statement: an earlier one of this user still runs, although its time is up',
      'Try again in a minute. Operators see it in maintenance_failures.');
  end if;
end;
$$;
comment on function private.assert_no_late_statement(uuid) is
  'Raises STATEMENT_STILL_RUNNING while a statement of this user runs past its time. Called as the functions'' own role before each transaction of a caller.';

create function private.end_late_statements()
returns int
language plpgsql
set search_path = ''
as $$
declare
  v_late record;
  v_count int := 0;
begin
  for v_late in select * from private.late_statements() loop
    -- A cancellation keeps the session. It was tried before, at the timeout.
    if v_late.late_ms < 15000 then
      perform pg_cancel_backend(v_late.pid);
    else
      perform pg_terminate_backend(v_late.pid);
    end if;
    perform private.record_maintenance_failure('end_late_statements',
      coalesce((
        select account.id::text from auth.users as account
        where hashtext(account.id::text)::bigint & 4294967295 = v_late.user_key
        limit 1
      ), 'process ' || v_late.pid),
      '57014',
      format('The statement of a caller in process %s runs %s ms past its timeout of %s ms and ignores cancellation. '
        || 'If pg_terminate_backend(%s) does not end it either, restart the database.',
        v_late.pid, v_late.late_ms, v_late.timeout_ms, v_late.pid));
    v_count := v_count + 1;
  end loop;
  return v_count;
end;
$$;
comment on function private.end_late_statements() is
  'Cancels, and after 15 seconds terminates, statements of callers that run past their time, and reports them to operators as failures of this routine, with the user as the row. Returns how many there are. Called by cron, through tick().';
