-- Retention: deletes jobs that ended long ago, old events, tool calls and model calls, in bounded batches.

create index tasks_finished_at_idx on public.tasks (finished_at) where parent_id is null and finished_at is not null and not is_kept;
create index tasks_is_kept_idx on public.tasks (id) where is_kept;
create index tasks_storage_paths_idx on public.tasks using gin (storage_paths) where storage_paths <> '{}';

create table private.deleted_files (
  path text primary key,
  listed_at timestamptz not null default now()
);
comment on table private.deleted_files is
  'Objects in the bucket supaswarm-data whose jobs or owners were deleted. Workers remove them through the Storage API: deleting a row of storage.objects would leave the file.';
alter table private.deleted_files enable row level security;

create function private.default_retention()
returns jsonb
language sql
immutable
set search_path = ''
as $$
  -- 1,000 jobs a day of eight steps then stay within the 500 MB of the Free plan.
  select '{
    "keep_jobs_days": 10, "keep_events_days": 7, "keep_executions_days": 10,
    "keep_usage_days": 35, "keep_auth_events_days": 90, "keep_tool_days": 90
  }'::jsonb;
$$;
comment on function private.default_retention() is 'The retention settings with their defaults in days.';

create function private.retention_days(p_key text)
returns int
language plpgsql
stable
set search_path = ''
as $$
begin
  return coalesce(
    (select value::int from private.settings where key = p_key),
    (private.default_retention() ->> p_key)::int
  );
end;
$$;
comment on function private.retention_days(text) is
  'The value of a retention setting in days, or its default. See default_retention().';

create function private.retain_job(p_task_id uuid, p_is_kept boolean)
returns boolean
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_task constant public.tasks := private.own_task(p_task_id);
begin
  perform private.assert_person_may('keep the job', 'swarm:run');
  perform private.lock_job(v_task.master_task_id);
  -- A job that retention has begun to delete has lost its transcript.
  perform private.assert_transcript_is_kept(v_task.master_task_id);
  update public.tasks set is_kept = p_is_kept where id = v_task.master_task_id and is_kept <> p_is_kept;
  return p_is_kept;
end;
$$;
comment on function private.retain_job(uuid, boolean) is
  'See public.retain_job(). Definer: users may not write tasks; the function checks the caller.';
create function public.retain_job(p_task_id uuid, p_is_kept boolean default true)
returns boolean
language sql
set search_path = ''
as $$
  select private.retain_job(p_task_id, p_is_kept);
$$;
comment on function public.retain_job(uuid, boolean) is
  'Keeps the job of a task, with its steps, events and tool calls, until it is called with false; retention then deletes it like other jobs. A kept job still counts toward its owner''s quotas. Returns whether it is kept. For the owner, the owner''s OAuth clients with the scope swarm:run and the service. Raises TASK_NOT_FOUND, TASK_NOT_RETRYABLE, AGENT_NOT_ALLOWED, INSUFFICIENT_SCOPE.';
revoke all on function public.retain_job(uuid, boolean) from public, anon, authenticated, service_role;
grant execute on function private.retain_job(uuid, boolean), public.retain_job(uuid, boolean) to authenticated, service_role;

create function private.list_files_of_task()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  insert into private.deleted_files (path)
  select distinct file.path
  from unnest(old.storage_paths) as file (path)
  -- A fork refers to files of its original job.
  where not exists (
    select from public.tasks as other
    where other.storage_paths @> array[file.path] and other.storage_paths <> '{}'
  )
  on conflict (path) do nothing;
  return null;
end;
$$;
comment on function private.list_files_of_task() is
  'Row trigger: adds the files of a deleted task to the list of files to remove, unless another task refers to them. Definer: whoever may delete tasks or their owner need not write that list.';
create trigger tasks_list_files after delete on public.tasks
  for each row when (old.storage_paths <> '{}') execute function private.list_files_of_task();

create function private.list_files_of_user()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  insert into private.deleted_files (path)
  select upload.path from private.uploads_of(old.id) as upload
  on conflict (path) do nothing;
  return null;
end;
$$;
comment on function private.list_files_of_user() is
  'Row trigger of auth.users: adds the uploads of a deleted user to the list of files to remove; those of the user''s jobs are listed with their tasks. Definer: the role of Auth may not write that list.';
create trigger users_list_files after delete on auth.users
  for each row execute function private.list_files_of_user();

create function private.delete_old_job(p_master_task_id uuid)
returns boolean
language plpgsql
set search_path = ''
as $$
begin
  perform private.lock_job(p_master_task_id);
  -- Check again under the lock: the job may have been retried, or a subtask may still be ending.
  if exists (
    select from public.tasks where master_task_id = p_master_task_id and (finished_at is null or is_kept)
  ) then
    return false;
  end if;
  delete from public.tasks where id = p_master_task_id;
  return true;
end;
$$;
comment on function private.delete_old_job(uuid) is
  'Deletes a job with everything that belongs to it except tool calls, their session and model calls, which have retentions of their own. Does nothing when one of its tasks has not ended or the owner keeps it; returns whether it did.';

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
    where parent_id is null and finished_at < v_before and not is_kept
    order by finished_at
    limit p_limit
  ));
end;
$$;
comment on function private.delete_old_jobs(int) is
  'Deletes up to p_limit jobs that ended more than keep_jobs_days ago and are not kept, and returns how many.';

create view private.reviewed_jobs with (security_invoker = true) as
  select distinct asking.master_task_id
  from public.human_reviews as review
  join public.tasks as asking on asking.id = review.task_id
  where review.answered_at is null;
comment on view private.reviewed_jobs is
  'Jobs that wait for the answer of a person. Their events are kept, because pages read the question and the state of the job from them, also after weeks.';
revoke all on private.reviewed_jobs from public, anon, authenticated, service_role;

create function private.drop_partition(p_table text, p_partition regclass, p_stays text, p_task_ids uuid[], p_since timestamptz)
returns boolean
language plpgsql
set search_path = ''
set lock_timeout = '1500ms'
as $$
declare
  -- All writers wait while the rows are moved: a quarter of a second at most.
  c_most_rows constant int := 30000;
  v_rows constant text := format('from %s where %s', p_partition, p_stays);
  v_count int;
begin
  execute format('select count(*) from (select %s limit %s) as staying', v_rows, c_most_rows + 1)
  into v_count using p_task_ids, p_since;
  if v_count > c_most_rows then
    return false;
  end if;
  -- Dropping a table also locks those to which it refers. Writers lock a task before its rows.
  lock table public.tasks in access exclusive mode;
  -- Readers may lock in another order. This transaction gives up before their deadlock_timeout.
  perform set_config('lock_timeout', '500ms', true);
  execute format('alter table %s detach partition %s', private.partitioned_table(p_table), p_partition);
  -- Into the default partition itself, because triggers of the table would send its events again.
  execute format('insert into private.%I overriding system value select * %s', p_table || '_other', v_rows)
  using p_task_ids, p_since;
  execute format('drop table %s', p_partition);
  return true;
end;
$$;
comment on function private.drop_partition(text, regclass, text, uuid[], timestamptz) is
  'Moves the rows of a partition for which the condition p_stays on $1 (p_task_ids) and $2 (p_since) is true to the default partition, and drops the partition: otherwise a few rows would keep the disk space of a whole week. Returns false when these are more than 30,000 rows. Waits one second for its first lock and then fails.';

create function private.drop_old_events(p_before timestamptz)
returns boolean
language plpgsql
set search_path = ''
as $$
declare
  v_old record;
begin
  for v_old in select * from private.partitions_before('task_events', p_before) loop
    if private.drop_partition(
      p_table => 'task_events',
      p_partition => v_old.partition,
      -- A task may live longer than the retention of its events.
      p_stays => 'task_id = any ($1) or at >= $2',
      p_task_ids => array(
        select task.id
        from (
          select id from public.tasks where is_kept
          union
          select master_task_id from private.reviewed_jobs
        ) as job
        join public.tasks as task on task.master_task_id = job.id
        where task.id >= v_old.first_id and task.id < v_old.next_id
      ),
      p_since => p_before
    ) then
      return true;
    end if;
  end loop;
  return false;
end;
$$;
comment on function private.drop_old_events(timestamptz) is
  'Drops the oldest partition of task_events for tasks created before p_before; false when there is none. Younger events, and those of jobs that are kept or wait for a person, stay; see drop_partition().';

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
  -- Most events are dropped with their partition. This deletes those in the default partition, and in a partition
  -- with too many events that stay.
  delete from private.task_events as event
  using (
    select task_id, id
    from private.task_events
    where at < v_before
      and (
        task_id < private.first_id_of(v_week at time zone 'utc')
        or task_id >= private.first_id_of((v_week + interval '1 week') at time zone 'utc')
      )
      and master_task_id not in (select master_task_id from private.reviewed_jobs)
      and master_task_id not in (select id from public.tasks where is_kept)
    limit p_limit
  ) as old
  where event.task_id = old.task_id and event.id = old.id;
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
comment on function private.delete_old_events(int) is
  'Deletes up to p_limit events older than keep_events_days that are not in the partition to be dropped next and whose job is not kept and waits for no person, and returns how many. Tasks do not need them: their transcript is task_steps.';

create function private.drop_old_transcripts(p_before timestamptz)
returns boolean
language plpgsql
set search_path = ''
as $$
declare
  v_old record;
begin
  for v_old in select * from private.partitions_before('task_steps', p_before) loop
    if private.drop_partition(
      p_table => 'task_steps',
      p_partition => v_old.partition,
      p_stays => 'task_id = any ($1)',
      p_task_ids => array(
        select task.id
        from public.tasks as task
        join public.tasks as job on job.id = task.master_task_id
        where task.id >= v_old.first_id and task.id < v_old.next_id
          and (job.is_kept or job.finished_at is null or job.finished_at >= p_before)
      ),
      p_since => p_before
    ) then
      return true;
    end if;
  end loop;
  return false;
end;
$$;
comment on function private.drop_old_transcripts(timestamptz) is
  'Drops the oldest partition of task_steps for tasks created before p_before; false when there is none. The steps of jobs that have not ended, ended later or are kept stay; see drop_partition(). The caller has made sure that no other job can be retried.';

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
begin
  -- One partition at a time, so that nobody waits for long.
  if private.drop_old_events(v_events_before) then
    return 1;
  end if;
  -- From now on such a job cannot be reopened, even if the setting changes.
  if not pg_try_advisory_xact_lock(hashtextextended('supaswarm:transcripts', 0)) then
    return 0;
  end if;
  insert into private.settings as setting (key, value)
  values ('transcripts_kept_since', v_jobs_before::text)
  on conflict (key) do update
  set value = greatest(setting.value::timestamptz, excluded.value::timestamptz)::text, updated_at = now();
  return private.drop_old_transcripts(v_jobs_before)::int;
end;
$$;
comment on function private.drop_old_partitions() is
  'Drops the oldest partition of task_events or task_steps that retention no longer keeps, and returns how many: 1, or 0 when there is none. delete_old_jobs() deletes the rows of jobs whose transcripts were dropped. Called by cron.';

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
  select array_agg(old.id) into v_ids
  from (
    select execution.id
    from public.mcp_executions as execution
    where execution.created_at < v_before
      and execution.created_at <= (select summed_until from private.tool_days_mark)
      and not private.awaits_export(execution.id)
      and not exists (
        select from public.tasks as task
        join public.tasks as job on job.id = task.master_task_id
        where task.id = execution.task_id and job.is_kept
      )
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
  'Deletes up to p_limit tool calls older than keep_executions_days with their failures and grades, and returns how many. Keeps calls that the export has not written yet or that are not in tool_days, and those of kept jobs.';

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
  delete from public.sessions
  where id in (
    select session.id
    from public.sessions as session
    where session.last_seen_at < v_before
      -- A job has the session of its id as long as it exists.
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
  'Deletes up to p_limit sessions that were last used more than keep_executions_days ago, and returns how many. Callers choose the ids of sessions, so they can create any number of them.';

create function private.delete_old_usage(p_limit int)
returns int
language plpgsql
set search_path = ''
as $$
declare
  -- Caps on the spending of a month are checked against its rows, so at least these are needed.
  v_days constant int := greatest(private.retention_days('keep_usage_days'), 32);
  -- Whole UTC days.
  v_before constant timestamptz :=
    date_trunc('day', clock_timestamp() at time zone 'utc' - make_interval(days => v_days)) at time zone 'utc';
  v_count int;
begin
  with old as (
    select usage.*, (usage.created_at at time zone 'utc')::date as day
    from public.usage_events as usage
    where usage.created_at < v_before
    order by usage.id
    limit p_limit
    for update skip locked
  ),
  fresh as (
    select old.day, old.user_id, old.agent_slug, old.provider_id, old.model, old.key_source, old.mcp_name, old.tool_name,
      count(*) as call_count,
      -- A task counts with its last call of the day, because its calls may be in different batches.
      count(*) filter (where old.task_id is not null and not exists (
        select from public.usage_events as later
        where later.task_id = old.task_id and later.id > old.id
          and (later.created_at at time zone 'utc')::date = old.day
          and later.model = old.model and later.key_source = old.key_source
          and later.provider_id is not distinct from old.provider_id
          and later.agent_slug is not distinct from old.agent_slug
          and later.mcp_name is not distinct from old.mcp_name
          and later.tool_name is not distinct from old.tool_name
      )) as task_count,
      sum(old.input_tokens) as input_tokens, sum(old.cached_input_tokens) as cached_input_tokens,
      sum(old.output_tokens) as output_tokens, sum(old.cost_micro_usd) as cost_micro_usd,
      count(*) filter (where old.cost_micro_usd is null) as unpriced_call_count
    from old
    group by 1, 2, 3, 4, 5, 6, 7, 8
  ),
  -- Not "on conflict": the keys have nulls, and the deletion of users makes their rows equal.
  earlier as (
    delete from public.usage_days as summed
    using fresh
    where summed.day = fresh.day and summed.model = fresh.model and summed.key_source = fresh.key_source
      and summed.user_id is not distinct from fresh.user_id
      and summed.agent_slug is not distinct from fresh.agent_slug
      and summed.provider_id is not distinct from fresh.provider_id
      and summed.mcp_name is not distinct from fresh.mcp_name
      and summed.tool_name is not distinct from fresh.tool_name
    returning summed.*
  ),
  summed as (
    insert into public.usage_days (
      day, user_id, agent_slug, provider_id, model, key_source, mcp_name, tool_name, call_count, task_count,
      input_tokens, cached_input_tokens, output_tokens, cost_micro_usd, unpriced_call_count
    )
    select day, user_id, agent_slug, provider_id, model, key_source, mcp_name, tool_name, sum(call_count),
      sum(task_count), sum(input_tokens), sum(cached_input_tokens), sum(output_tokens), sum(cost_micro_usd),
      sum(unpriced_call_count)
    from (select * from fresh union all select * from earlier) as part
    group by 1, 2, 3, 4, 5, 6, 7, 8
  )
  delete from public.usage_events as usage using old where usage.id = old.id;
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
comment on function private.delete_old_usage(int) is
  'Adds up to p_limit model calls of days that are more than keep_usage_days ago, at least 32, to usage_days, deletes them, and returns how many.';

create function private.delete_old_tool_days(p_limit int)
returns int
language plpgsql
set search_path = ''
as $$
declare
  v_before constant date := (clock_timestamp() at time zone 'utc')::date - private.retention_days('keep_tool_days');
  v_count int;
begin
  delete from public.tool_days
  where ctid = any (array(select ctid from public.tool_days where day < v_before limit p_limit));
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
comment on function private.delete_old_tool_days(int) is
  'Deletes up to p_limit sums of tool calls of days that are more than keep_tool_days ago, and returns how many.';

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
language plpgsql
set search_path = ''
as $$
begin
  return jsonb_build_object(
    'jobs', private.run_maintenance('delete_old_jobs', 200),
    'events', private.run_maintenance('delete_old_events', 10000),
    'executions', private.run_maintenance('delete_old_executions', 2000),
    'sessions', private.run_maintenance('delete_old_sessions', 2000),
    'usage', private.run_maintenance('delete_old_usage', 2000),
    'tool_days', private.run_maintenance('delete_old_tool_days', 2000),
    'confirmations', private.run_maintenance('delete_old_confirmations', 2000),
    'row_starts', private.run_maintenance('delete_old_row_starts', 2000)
  );
end;
$$;
comment on function private.delete_old() is 'Runs one batch of retention and returns how much it deleted. Called by cron.';

-- Every minute: 288,000 jobs a day, in batches of about a second.
select cron.schedule('supaswarm-delete-old', '* * * * *', 'select private.delete_old()');
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
