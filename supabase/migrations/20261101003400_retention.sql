-- Retention: deletes jobs that ended long ago, old events and old tool calls, in bounded batches.

create index tasks_finished_at_idx on public.tasks (finished_at) where parent_id is null and finished_at is not null;
create index tasks_storage_paths_idx on public.tasks using gin (storage_paths) where storage_paths <> '{}';

create table private.deleted_files (
  path text primary key,
  listed_at timestamptz not null default now()
);
comment on table private.deleted_files is
  'Objects in the bucket supaswarm-data whose jobs were deleted. Workers remove them through the Storage API: deleting a row of storage.objects would leave the file.';
alter table private.deleted_files enable row level security;

create function private.retention_days(p_key text)
returns int
language sql
stable
set search_path = ''
as $$
  select value::int from private.settings where key = retention_days.p_key;
$$;
comment on function private.retention_days(text) is
  'The value of a retention setting in days: keep_jobs_days, keep_events_days, keep_executions_days or keep_auth_events_days. Null: the setting has no row.';

create function private.list_files_of_job(p_master_task_id uuid)
returns void
language sql
set search_path = ''
as $$
  insert into private.deleted_files (path)
  select distinct file.path
  from public.tasks as task, unnest(task.storage_paths) as file (path)
  where task.master_task_id = list_files_of_job.p_master_task_id
    -- A fork refers to files of its original job.
    and not exists (
      select from public.tasks as other
      where other.storage_paths @> array[file.path]
        and other.storage_paths <> '{}'
        and other.master_task_id <> list_files_of_job.p_master_task_id
    )
  on conflict (path) do nothing;
$$;
comment on function private.list_files_of_job(uuid) is
  'Adds the files that no other job refers to to the list of files to remove.';

create function private.delete_old_job(p_master_task_id uuid)
returns boolean
language plpgsql
set search_path = ''
as $$
begin
  perform private.lock_job(p_master_task_id);
  -- Check again under the lock: the job may have been retried, or a subtask may still be ending.
  if exists (select from public.tasks where master_task_id = p_master_task_id and finished_at is null) then
    return false;
  end if;
  perform private.list_files_of_job(p_master_task_id);
  delete from public.tasks where id = p_master_task_id;
  -- The session of the job's tool calls.
  delete from public.sessions where id = p_master_task_id;
  return true;
end;
$$;
comment on function private.delete_old_job(uuid) is
  'Deletes a job with everything that belongs to it except usage_events, unless one of its tasks has not ended; returns whether it did.';

create function private.delete_old_jobs(p_limit int)
returns int
language plpgsql
set search_path = ''
as $$
declare
  v_before timestamptz := clock_timestamp() - make_interval(days => private.retention_days('keep_jobs_days'));
begin
  return private.run_for_each('delete_old_job', array(
    select id from public.tasks
    where parent_id is null and finished_at < v_before
    order by finished_at
    limit p_limit
  ));
end;
$$;
comment on function private.delete_old_jobs(int) is
  'Deletes up to p_limit jobs that ended more than keep_jobs_days ago, with everything that belongs to them except usage_events, and returns how many.';

create function private.drop_old_events(p_before timestamptz)
returns int
language plpgsql
set search_path = ''
set lock_timeout = '1500ms'
as $$
declare
  v_old record;
  v_is_young boolean;
  v_count int := 0;
begin
  for v_old in select * from private.partitions_before('task_events', p_before) loop
    -- A task may live longer than the retention of its events.
    execute format('select exists (select from %s where at >= $1)', v_old.partition) into v_is_young using p_before;
    continue when v_is_young;
    execute format('drop table %s', v_old.partition);
    v_count := v_count + 1;
  end loop;
  return v_count;
end;
$$;
comment on function private.drop_old_events(timestamptz) is
  'Drops the partitions of task_events in which every event is older than p_before, and returns how many. Waits one second for its lock and then fails; the next call tries again.';

create function private.delete_old_events(p_limit int)
returns int
language plpgsql
set search_path = ''
as $$
declare
  v_before timestamptz := clock_timestamp() - make_interval(days => private.retention_days('keep_events_days'));
  v_week constant timestamp := date_trunc('week', v_before at time zone 'utc');
  v_count int;
begin
  if v_before is null then
    return 0;
  end if;
  -- A partition is dropped as a whole once all its events are old. This deletes old events in other partitions:
  -- those of long-lived tasks, and those in the default partition.
  delete from public.task_events as event
  using (
    select task_id, id
    from public.task_events
    where at < v_before
      and (
        task_id < private.first_id_of(v_week at time zone 'utc')
        or task_id >= private.first_id_of((v_week + interval '1 week') at time zone 'utc')
      )
    limit p_limit
  ) as old
  where event.task_id = old.task_id and event.id = old.id;
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
comment on function private.delete_old_events(int) is
  'Deletes up to p_limit events older than keep_events_days that are not in a partition to be dropped, and returns how many. Tasks do not need them: their transcript is task_steps.';

create function private.drop_old_transcripts(p_before timestamptz)
returns int
language plpgsql
set search_path = ''
set lock_timeout = '1500ms'
as $$
declare
  v_old record;
  v_count int := 0;
begin
  for v_old in select * from private.partitions_before('task_steps', p_before) loop
    exit when exists (
      select from public.tasks as task
      join public.tasks as master on master.id = task.master_task_id
      where task.id >= v_old.first_id and task.id < v_old.next_id
        and (master.finished_at is null or master.finished_at >= p_before)
    );
    execute format('drop table %s', v_old.partition);
    v_count := v_count + 1;
  end loop;
  return v_count;
end;
$$;
comment on function private.drop_old_transcripts(timestamptz) is
  'Drops the partitions of task_steps in which every step belongs to a job that ended before p_before, and returns how many. Waits one second for its lock and then fails; the next call tries again. The caller has made sure that no such job can be retried.';

create function private.drop_old_partitions()
returns int
language plpgsql
set search_path = ''
as $$
declare
  v_jobs_before constant timestamptz :=
    clock_timestamp() - make_interval(days => private.retention_days('keep_jobs_days'));
  v_events_before constant timestamptz :=
    clock_timestamp() - make_interval(days => private.retention_days('keep_events_days'));
  v_count int := 0;
begin
  if v_events_before is not null then
    v_count := private.drop_old_events(v_events_before);
  end if;
  if v_jobs_before is not null then
    -- From now on such a job cannot be reopened, even if the setting changes.
    if not pg_try_advisory_xact_lock(hashtextextended('supaswarm:transcripts', 0)) then
      return v_count;
    end if;
    insert into private.settings as setting (key, value)
    values ('transcripts_kept_since', v_jobs_before::text)
    on conflict (key) do update
    set value = greatest(setting.value::timestamptz, excluded.value::timestamptz)::text, updated_at = now();
    v_count := v_count + private.drop_old_transcripts(v_jobs_before);
  end if;
  return v_count;
end;
$$;
comment on function private.drop_old_partitions() is
  'Drops whole partitions of task_events and task_steps that retention no longer keeps, and returns how many. delete_old_jobs() deletes the rows of jobs whose transcripts were dropped. Called by cron.';

create function private.awaits_export(p_execution_id uuid)
returns boolean
language sql
set search_path = ''
as $$
  select exists (
    select from public.mcp_failures as failure
    where failure.execution_id = awaits_export.p_execution_id
      and failure.created_at >= private.exported_until('failures')
  ) or exists (
    select from public.mcp_feedback as feedback
    where feedback.execution_id = awaits_export.p_execution_id
      and feedback.updated_at >= private.exported_until('feedback')
  );
$$;
comment on function private.awaits_export(uuid) is 'True when a tool call has a failure or grade that is not yet in Storage.';

create function private.delete_old_executions(p_limit int)
returns int
language plpgsql
set search_path = ''
as $$
declare
  v_before timestamptz := clock_timestamp() - make_interval(days => private.retention_days('keep_executions_days'));
  v_ids uuid[];
  v_count int;
begin
  if v_before is null then
    return 0;
  end if;
  select array_agg(old.id) into v_ids
  from (
    select execution.id
    from public.mcp_executions as execution
    where execution.created_at < v_before
      and not private.awaits_export(execution.id)
    order by execution.created_at
    limit p_limit
    for update skip locked
  ) as old;
  -- Check again under the lock: a call may have been graded in the meantime.
  delete from public.mcp_executions as execution
  using unnest(v_ids) as old (id)
  where execution.id = old.id and not private.awaits_export(execution.id);
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
comment on function private.delete_old_executions(int) is
  'Deletes up to p_limit tool calls older than keep_executions_days with their failures and grades, and returns how many. Keeps calls that the export has not written yet.';

create index sessions_last_seen_at_idx on public.sessions (last_seen_at);

create function private.delete_old_sessions(p_limit int)
returns int
language plpgsql
set search_path = ''
as $$
declare
  v_before timestamptz := clock_timestamp() - make_interval(days => private.retention_days('keep_executions_days'));
  v_count int;
begin
  if v_before is null then
    return 0;
  end if;
  delete from public.sessions
  where id in (
    select session.id
    from public.sessions as session
    where session.last_seen_at < v_before
      and not exists (select from public.mcp_executions as execution where execution.session_id = session.id)
      -- The session of a job is deleted with it.
      and not exists (select from public.tasks as job where job.id = session.id)
    order by session.last_seen_at
    limit p_limit
    for update skip locked
  );
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
comment on function private.delete_old_sessions(int) is
  'Deletes up to p_limit sessions that were last used more than keep_executions_days ago and have no tool calls left, and returns how many. Callers choose the ids of sessions, so they can create any number of them.';

create function private.delete_old_confirmations(p_limit int)
returns int
language plpgsql
set search_path = ''
as $$
declare
  v_used_before constant timestamptz := clock_timestamp() - make_interval(days => private.retention_days('keep_executions_days'));
  v_count int;
begin
  delete from public.sql_confirmations
  where id in (
    select id
    from public.sql_confirmations
    where case when used_at is null then expires_at < clock_timestamp() - interval '1 day' else used_at < v_used_before end
    limit p_limit
    for update skip locked
  );
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
comment on function private.delete_old_confirmations(int) is
  'Deletes up to p_limit statements that a dry run has shown: unused ones a day after they expired, used ones after keep_executions_days. Returns how many. Everybody who may write can create any number of them.';

create function private.delete_old()
returns jsonb
language sql
set search_path = ''
as $$
  select jsonb_build_object(
    'jobs', private.run_maintenance('delete_old_jobs', 200),
    'events', private.run_maintenance('delete_old_events', 10000),
    'executions', private.run_maintenance('delete_old_executions', 2000),
    'sessions', private.run_maintenance('delete_old_sessions', 2000),
    'confirmations', private.run_maintenance('delete_old_confirmations', 2000)
  );
$$;
comment on function private.delete_old() is 'Runs one batch of retention and returns how much it deleted. Called by cron.';

select cron.schedule('supaswarm-delete-old', '*/5 * * * *', 'select private.delete_old()');
select cron.schedule('supaswarm-drop-partitions', '37 * * * *', 'select private.drop_old_partitions()');

create function private.files_to_remove(p_limit int)
returns jsonb
language sql
stable
set search_path = ''
as $$
  select coalesce(jsonb_agg(file.path), '[]')
  from (select path from private.deleted_files order by listed_at limit files_to_remove.p_limit) as file;
$$;
comment on function private.files_to_remove(int) is
  'Paths to remove from the bucket supaswarm-data. They stay listed until delete_removed_files(). Called by workers.';

create function private.delete_removed_files(p_paths jsonb)
returns void
language sql
set search_path = ''
as $$
  delete from private.deleted_files where delete_removed_files.p_paths ? path;
$$;
comment on function private.delete_removed_files(jsonb) is
  'Removes deleted files [path] from the list. Called by workers.';
