-- Starting: recorded starts become jobs, in turn among their owners. What refuses one is kept with it; what a quota
-- refuses waits.

create function private.start_row_job(p_start private.row_starts, p_trigger public.row_triggers)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_owner_id constant uuid := nullif(p_start.owner_key, '00000000-0000-0000-0000-000000000000');
  v_count int;
  v_task_id uuid;
begin
  insert into private.row_start_counts as counted (trigger_id, key, hour)
  values (p_trigger.id, case p_trigger.starts_per when 'row' then p_start.row_key else p_start.owner_key::text end,
    date_trunc('hour', clock_timestamp()))
  on conflict (trigger_id, key, hour) do update set job_count = counted.job_count + 1
  returning job_count into v_count;
  if v_count > p_trigger.max_per_hour then
    perform private.raise_error('TRIGGER_LIMIT_REACHED',
      format('Cannot start the job: the trigger has started %s jobs for this key in this hour', p_trigger.max_per_hour),
      'A job that changes its own row starts itself again: narrow the conditions or the columns, or raise max_per_hour.');
  end if;
  if p_start.client_id is not null then
    perform private.assert_client_has_scope(v_owner_id, p_start.client_id, 'start the job', 'swarm:run');
  end if;
  if not private.is_within_limits(p_start.input) then
    perform private.raise_error('TASK_INPUT_INVALID',
      'Cannot start the job: its input is larger than 1 MiB, 64 levels or 70,000 values, or has a number that programs cannot read',
      'Name the columns that the agent needs in the input of the trigger.');
  end if;
  select created.task_id into v_task_id from private.create_task(
    p_agent => p_trigger.agent,
    p_input => p_start.input,
    p_created_by => v_owner_id,
    p_metadata => jsonb_build_object('trigger', jsonb_build_object(
      'name', p_trigger.name, 'table', p_trigger.table_name, 'event', p_start.event, 'row', p_start.row_key))
  ) as created;
  if p_start.client_id is not null then
    insert into private.job_clients (job_id, client_id, scopes) values (v_task_id, p_start.client_id, p_start.client_scopes);
  end if;
  delete from private.row_starts where id = p_start.id;
end;
$$;
comment on function private.start_row_job(private.row_starts, public.row_triggers) is
  'Makes a job of a start and deletes it. Raises TRIGGER_LIMIT_REACHED, INSUFFICIENT_SCOPE and what create_task() raises. The caller has locked the start.';

create function private.start_or_refuse(p_start private.row_starts)
returns text
language plpgsql
set search_path = ''
as $$
declare
  v_trigger public.row_triggers;
  v_code text;
  v_hint text;
  v_error jsonb;
begin
  -- The next change of the same key starts its job, this long after that change.
  if p_start.is_debounced and exists (
    select from private.row_starts as later
    where later.trigger_id = p_start.trigger_id and later.row_key = p_start.row_key and later.id > p_start.id
      and later.is_debounced and later.error is null
  ) then
    delete from private.row_starts where id = p_start.id;
    return 'superseded';
  end if;
  select * into v_trigger from public.row_triggers where id = p_start.trigger_id;
  if not found then
    -- Recorded by a transaction that began before the trigger was removed.
    delete from private.row_starts where id = p_start.id;
    return 'superseded';
  end if;
  perform private.start_row_job(p_start, v_trigger);
  return 'started';
exception when others then
  get stacked diagnostics v_code = pg_exception_detail, v_hint = pg_exception_hint;
  if sqlstate not like 'PT%' then
    raise warning 'Cannot start the job of row start %: % %', p_start.id, sqlstate, sqlerrm;
    v_code := 'INTERNAL';
    v_hint := 'Look into the log of the database, then retry the start.';
  end if;
  v_error := jsonb_build_object('code', v_code, 'message', case v_code when 'INTERNAL' then 'Cannot start the job: an internal error' else sqlerrm end, 'hint', v_hint);
  if v_code = 'QUOTA_EXCEEDED' then
    insert into private.row_start_pauses as pause (owner_key, until, error)
    values (
      p_start.owner_key,
      -- raise_quota_exceeded() says when to try again.
      clock_timestamp() + make_interval(secs => least(coalesce(substring(v_hint from 'Try again in (\d+) seconds')::int, 60), 600)),
      v_error
    )
    on conflict (owner_key) do update set until = excluded.until, error = excluded.error;
    return 'postponed';
  elsif sqlstate ~ '^(40|53|55|57)' then
    -- A lock, a deadlock or a lack of resources: the next call may succeed.
    update private.row_starts set due_at = clock_timestamp() + interval '1 minute' where id = p_start.id;
    return 'postponed';
  end if;
  update private.row_starts set error = v_error where id = p_start.id;
  return 'failed';
end;
$$;
comment on function private.start_or_refuse(private.row_starts) is
  'Makes a job of a start: started. superseded: a later change of the same key replaces it. postponed: a quota has refused it, and the starts of its owner wait. failed: the start keeps the error. Never raises. The caller has locked the start.';

create function private.owners_of_due_starts(p_limit int)
returns setof uuid
language plpgsql
stable
set search_path = ''
set enable_seqscan = off
set jit = off
as $$
declare
  -- As many tasks of an owner wait at most; further starts wait here, where they cost less.
  c_most_waiting constant int := 1000;
  v_now constant timestamptz := clock_timestamp();
  -- A random start, so that every owner has a chance when more owners wait than are read.
  v_start constant uuid := gen_random_uuid();
begin
  return query
    with recursive owner (place, half, owner_key, due_at) as (
      values (0, 0, v_start, null::timestamptz)
      union all
      select owner.place + 1, following.half, following.owner_key, following.due_at
      from owner
      cross join lateral (
        (
          select owner.half, start.owner_key, start.due_at
          from private.row_starts as start
          where start.error is null
            and start.owner_key > owner.owner_key
            and (owner.half = 0 or start.owner_key <= v_start)
          order by start.owner_key, start.due_at, start.id
          limit 1
        )
        union all
        (
          select 1, start.owner_key, start.due_at
          from private.row_starts as start
          where owner.half = 0 and start.error is null
            and start.owner_key <= v_start
          order by start.owner_key, start.due_at, start.id
          limit 1
        )
        limit 1
      ) as following
      where owner.place < p_limit
    )
    select owner.owner_key
    from owner
    where owner.place > 0 and owner.due_at <= v_now
      and not exists (
        select from private.row_start_pauses as pause where pause.owner_key = owner.owner_key and pause.until > v_now
      )
      and (
        select count(*) from (
          select from public.tasks as task
          where task.status = 'pending' and task.run_after is null and task.owner_key = owner.owner_key
          limit c_most_waiting
        ) as waiting
      ) < c_most_waiting
    order by owner.place;
end;
$$;
comment on function private.owners_of_due_starts(int) is
  'Owners whose oldest start is due, up to p_limit read from a random one on, without those whose starts are postponed and those of whom 1,000 tasks wait.';

create function private.start_row_jobs(p_limit int default 1000, p_max_duration interval default '1 second')
returns int
language plpgsql
set search_path = ''
set enable_seqscan = off
set jit = off
as $$
declare
  c_most_owners constant int := 64;
  v_until constant timestamptz := clock_timestamp() + p_max_duration;
  v_now constant timestamptz := clock_timestamp();
  v_owners uuid[];
  v_owner_key uuid;
  v_start private.row_starts;
  v_count int := 0;
begin
  -- One call at a time: a claim must not wait for the quota of an owner for whom another call starts many jobs.
  if not pg_try_advisory_xact_lock(hashtextextended('supaswarm:row-starts', 0)) then
    return 0;
  end if;
  v_owners := array(select private.owners_of_due_starts(c_most_owners));
  foreach v_owner_key in array v_owners loop
    for v_start in
      select start.*
      from private.row_starts as start
      where start.error is null and start.due_at <= v_now
        and start.owner_key = v_owner_key
      order by start.due_at, start.id
      limit ceil(p_limit::numeric / cardinality(v_owners))::int
      for update skip locked
    loop
      -- The rest of an owner whose start was postponed waits too.
      exit when private.start_or_refuse(v_start) = 'postponed';
      v_count := v_count + 1;
      exit when clock_timestamp() > v_until;
    end loop;
    exit when clock_timestamp() > v_until;
  end loop;
  return v_count;
end;
$$;
comment on function private.start_row_jobs(int, interval) is
  'Makes jobs of starts that are due, in turn among their owners and the oldest of each first, and returns how many it handled. Bounded in number and time. Does nothing while another call runs. Called by cron and by claims.';

select cron.schedule('supaswarm-row-starts', '15 seconds', 'select private.start_row_jobs()');

create function private.delete_old_row_starts(p_limit int)
returns int
language plpgsql
set search_path = ''
as $$
declare
  v_before constant timestamptz := clock_timestamp() - make_interval(days => private.retention_days('keep_jobs_days'));
  v_count int;
begin
  delete from private.row_start_counts where hour < clock_timestamp() - interval '2 hours';
  delete from private.row_start_pauses where until < clock_timestamp();
  delete from private.row_starts
  where id in (
    select id from private.row_starts where error is not null and due_at < v_before limit p_limit for update skip locked
  );
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
comment on function private.delete_old_row_starts(int) is
  'Deletes up to p_limit starts that failed more than keep_jobs_days ago, and what limits no longer need, and returns how many starts.';
