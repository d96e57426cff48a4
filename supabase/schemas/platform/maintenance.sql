-- Maintenance: what cron calls. A row that cannot be handled does not stop the other rows, and a routine that
-- fails does not stop the other routines: each runs in its own subtransaction, and its failure is recorded. A
-- routine that is cancelled, also by the statement timeout, counts as failed: the others still run, without a
-- timeout, because PostgreSQL starts it once for each statement.

create table private.maintenance_failures (
  routine text primary key,
  failure_count bigint not null default 1,
  last_row_id text,
  last_error_code text not null,
  last_error_message text not null,
  first_failed_at timestamptz not null default clock_timestamp(),
  last_failed_at timestamptz not null default clock_timestamp()
);
comment on table private.maintenance_failures is
  'Routines of cron that failed, for operators. A row is deleted seven days after its last failure.';
comment on column private.maintenance_failures.routine is 'The function in schema private that failed.';
comment on column private.maintenance_failures.last_row_id is
  'The task, job, schedule, project, alert or kind of work that could not be handled; null when the whole routine failed.';
comment on column private.maintenance_failures.last_error_code is 'SQLSTATE.';
alter table private.maintenance_failures enable row level security;
grant select on private.maintenance_failures to service_role;

create function private.record_maintenance_failure(p_routine text, p_row_id text, p_error_code text, p_error_message text)
returns void
language plpgsql
set search_path = ''
as $$
begin
  raise warning 'The routine % failed for %: % %', p_routine, coalesce(p_row_id, 'all rows'), p_error_code, p_error_message;
  insert into private.maintenance_failures as failure (routine, last_row_id, last_error_code, last_error_message)
  values (p_routine, p_row_id, p_error_code, left(p_error_message, 1000))
  on conflict (routine) do update
  set failure_count = failure.failure_count + 1,
      last_row_id = excluded.last_row_id,
      last_error_code = excluded.last_error_code,
      last_error_message = excluded.last_error_message,
      last_failed_at = excluded.last_failed_at;
exception when others then
  raise warning 'Cannot record the failure of %: %', p_routine, sqlerrm;
end;
$$;
comment on function private.record_maintenance_failure(text, text, text, text) is
  'Counts a failure of a routine and keeps its last error. Never raises. The caller has rolled back what failed.';

create function private.run_maintenance(p_routine text, p_limit int default null)
returns int
language plpgsql
set search_path = ''
-- A session that holds a lock must not stop what other rows need.
set lock_timeout = '2s'
as $$
declare
  v_count int;
begin
  execute format('select private.%I(%s)', p_routine, p_limit) into v_count;
  return v_count;
exception when query_canceled or others then
  perform private.record_maintenance_failure(p_routine, null, sqlstate, sqlerrm);
  return 0;
end;
$$;
comment on function private.run_maintenance(text, int) is
  'Calls the routine [(p_limit)] of schema private and returns its count. When it raises, records the failure and returns 0.';

create function private.run_for_each(p_routine text, p_ids uuid[])
returns int
language plpgsql
set search_path = ''
set lock_timeout = '2s'
as $$
declare
  v_id uuid;
  v_is_done boolean;
  v_count int := 0;
begin
  foreach v_id in array p_ids loop
    begin
      execute format('select private.%I($1)', p_routine) into v_is_done using v_id;
      v_count := v_count + coalesce(v_is_done, false)::int;
    exception when query_canceled or others then
      perform private.record_maintenance_failure(p_routine, v_id::text, sqlstate, sqlerrm);
    end;
  end loop;
  return v_count;
end;
$$;
comment on function private.run_for_each(text, uuid[]) is
  'Calls the routine (uuid) of schema private, which returns a boolean, for each id and returns how often it was true. Rows for which it raises are recorded and skipped. Costs nothing without rows.';
