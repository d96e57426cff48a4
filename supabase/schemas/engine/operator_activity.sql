-- The queue over time, the pulse of what drives it, and what fills the database, for operators.

create type public.activity_line as (
  began_at timestamptz,
  created_count bigint,
  completed_count bigint,
  failed_count bigint,
  cancelled_count bigint,
  waiting_count bigint,
  first_call_p50_ms int,
  first_call_p95_ms int
);
comment on type public.activity_line is
  'A row of operator_activity(): the jobs of an interval. waiting_count were due and not yet started at its end; first_call_* is the time from when a job was due until its first model call began.';

create function private.operator_activity(p_seconds int, p_count int)
returns setof public.activity_line
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  -- Percentiles of an interval are those of its newest jobs.
  c_measured_jobs constant int := 100;
  -- Longer waits from before the first interval are only seen while they last.
  c_longest_wait constant interval := '1 day'::interval;
  v_attempt constant text := 'show the activity of the queue';
  v_now constant timestamptz := clock_timestamp();
  v_first timestamptz;
begin
  perform private.assert_operator(v_attempt);
  if (p_seconds between 60 and 86400 and p_count between 1 and 200 and p_seconds::bigint * p_count <= 7 * 86400) is not true then
    perform private.raise_query_invalid(v_attempt, 'the intervals are not from a minute to a day, at most 200 and a week together',
      'Send p_seconds and p_count, such as 300 and 24.');
  end if;
  -- Intervals begin at the same times in each call; the last one has not ended.
  v_first := to_timestamp((floor(extract(epoch from v_now) / p_seconds) - p_count + 1) * p_seconds);
  return query
    with job as materialized (
      select task.id, task.created_at, task.started_at, task.finished_at,
        greatest(task.created_at, task.run_after) as due_at
      from public.tasks as task
      where task.parent_id is null and task.created_at >= v_first - c_longest_wait
      union all
      select task.id, task.created_at, task.started_at, task.finished_at, greatest(task.created_at, task.run_after)
      from public.tasks as task
      where task.parent_id is null and task.status = 'pending' and task.created_at < v_first - c_longest_wait
    ),
    -- A job waits from when it is due until its first claim, or until it is cancelled before.
    change as (
      select due_at as at, 1 as step from job where due_at <= v_now
      union all
      select coalesce(started_at, finished_at), -1 from job
      where due_at <= v_now and coalesce(started_at, finished_at) is not null
    ),
    changed as (
      select greatest(-1, floor(extract(epoch from at - v_first) / p_seconds))::int as place, sum(step) as step
      from change
      group by 1
    ),
    created as (
      select floor(extract(epoch from created_at - v_first) / p_seconds)::int as place, count(*) as job_count
      from job
      where created_at >= v_first
      group by 1
    ),
    ended as (
      -- Two parts, because the index of the jobs that ended leaves out those that are kept.
      select floor(extract(epoch from task.finished_at - v_first) / p_seconds)::int as place, task.status
      from public.tasks as task
      where task.parent_id is null and task.finished_at >= v_first and not task.is_kept
      union all
      select floor(extract(epoch from task.finished_at - v_first) / p_seconds)::int, task.status
      from public.tasks as task
      where task.parent_id is null and task.finished_at >= v_first and task.is_kept
    ),
    ended_count as (
      select place, count(*) filter (where status = 'completed') as completed,
        count(*) filter (where status = 'failed') as failed, count(*) filter (where status = 'cancelled') as cancelled
      from ended
      group by place
    ),
    latest as (
      select id, due_at, floor(extract(epoch from created_at - v_first) / p_seconds)::int as place,
        row_number() over (
          partition by floor(extract(epoch from created_at - v_first) / p_seconds) order by created_at desc
        ) as nth
      from job
      where created_at >= v_first and started_at is not null
    ),
    latency as (
      select latest.place,
        percentile_disc(array[0.5, 0.95]) within group (
          order by (extract(epoch from greatest(step.started_at - latest.due_at, interval '0')) * 1000)::int
        ) as percentiles_ms
      from latest
      cross join lateral (
        select call.started_at from public.task_steps as call
        where call.task_id = latest.id and call.kind = 'model'
        order by call.seq
        limit 1
      ) as step
      where latest.nth <= c_measured_jobs
      group by latest.place
    )
    select v_first + line.place * make_interval(secs => p_seconds),
      coalesce(created.job_count, 0), coalesce(ended_count.completed, 0), coalesce(ended_count.failed, 0),
      coalesce(ended_count.cancelled, 0),
      (select coalesce(sum(changed.step), 0) from changed where changed.place <= line.place)::bigint,
      latency.percentiles_ms[1], latency.percentiles_ms[2]
    from generate_series(0, p_count - 1) as line (place)
    left join created on created.place = line.place
    left join ended_count on ended_count.place = line.place
    left join latency on latency.place = line.place
    order by line.place;
end;
$$;
comment on function private.operator_activity(int, int) is
  'The jobs of all owners over time. Definer: it reads the tasks of all owners; assert_operator() checks the caller.';

create function public.operator_activity(p_seconds int default 300, p_count int default 24)
returns setof public.activity_line
language sql
stable
set search_path = ''
as $$
  select * from private.operator_activity(p_seconds => p_seconds, p_count => p_count);
$$;
comment on function public.operator_activity(int, int) is
  'The last p_count intervals of p_seconds, oldest first: how many jobs were created and ended, how many waited at the end, and how long it took until their first model call (of the newest 100 of an interval). The last interval has not ended. For operators and the service. Raises INSUFFICIENT_SCOPE, AGENT_NOT_ALLOWED, QUERY_INVALID.';
revoke all on function public.operator_activity(int, int) from public, anon, authenticated, service_role;
grant execute on function private.operator_activity(int, int), public.operator_activity(int, int)
  to authenticated, service_role;

-- Pulse -------------------------------------------------------------------------------------------

create function private.operator_pulse()
returns table (
  last_tick_at timestamptz, cron_run_count bigint, cron_failure_count bigint, last_cron_failure text,
  last_wake_at timestamptz, request_count bigint, request_failure_count bigint, last_request_failure text,
  realtime_message_count bigint, realtime_messages_per_second numeric, database_bytes bigint
)
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  v_hour_ago constant timestamptz := clock_timestamp() - interval '1 hour';
begin
  perform private.assert_operator('read the pulse of the platform');
  select max(run.start_time) filter (where job.jobname = 'supaswarm-tick'), count(*) filter (where run.start_time >= v_hour_ago),
    count(*) filter (where run.start_time >= v_hour_ago and run.status = 'failed'),
    (array_agg(job.jobname || ': ' || run.return_message order by run.start_time desc)
      filter (where run.start_time >= v_hour_ago and run.status = 'failed'))[1]
  into last_tick_at, cron_run_count, cron_failure_count, last_cron_failure
  from cron.job_run_details as run
  join cron.job as job using (jobid)
  -- A project may have other jobs, of which operators need not know.
  where starts_with(job.jobname, 'supaswarm-');

  -- A gate that was opened again has no time.
  last_wake_at := (select max(gate.last_wake_at) from private.wake_gate as gate where gate.last_wake_at > '-infinity');
  select count(*), count(*) filter (where coalesce(response.status_code, 500) >= 300),
    (array_agg(coalesce(nullif(concat_ws(' ', response.status_code, response.error_msg), ''), 'no answer') order by response.created desc)
      filter (where coalesce(response.status_code, 500) >= 300))[1]
  into request_count, request_failure_count, last_request_failure
  from net._http_response as response
  where response.created >= v_hour_ago;

  -- Realtime counts the row and the message to a receiver; the condition is that of its index.
  realtime_message_count := 2 * (
    select count(*) from realtime.messages as message
    where message.extension = 'broadcast' and message.private
      and message.inserted_at >= (clock_timestamp() at time zone 'UTC') - interval '1 minute'
  );
  realtime_messages_per_second := private.setting_number('realtime_messages_per_second', 80);
  database_bytes := pg_database_size(current_database());
  return next;
end;
$$;
comment on function private.operator_pulse() is
  'One row: the platform''s cron jobs and requests of the database in the last hour, Realtime messages of the last minute, and the size of the database. Definer: it reads tables of extensions; assert_operator() checks the caller.';
create view public.operator_pulse with (security_invoker = true) as
  select * from private.operator_pulse();
revoke all on public.operator_pulse from anon, authenticated, service_role;
comment on view public.operator_pulse is
  'One row: when cron last ran supaswarm-tick, runs of the platform''s cron jobs and how many failed in the last hour, the requests with which the database wakes functions and how many failed in the last hour, the messages that Realtime counted in the last minute beside the budget per second, and the bytes of the database. For operators and the service; INSUFFICIENT_SCOPE for all others.';

create function private.operator_table_sizes()
returns table (name text, bytes bigint, row_estimate bigint)
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  perform private.assert_operator('list what fills the database');
  return query
    select format('%I.%I', space.nspname, whole.relname), sum(pg_total_relation_size(part.oid))::bigint,
      -- -1 stands for a table that was never analyzed.
      sum(greatest(part.reltuples, 0))::bigint
    from pg_catalog.pg_class as part
    left join pg_catalog.pg_inherits as child on child.inhrelid = part.oid
    join pg_catalog.pg_class as whole on whole.oid = coalesce(child.inhparent, part.oid)
    join pg_catalog.pg_namespace as space on space.oid = whole.relnamespace
    where part.relkind in ('r', 'm') and space.nspname not in ('pg_catalog', 'information_schema')
    group by space.nspname, whole.relname
    order by 2 desc
    limit 15;
end;
$$;
comment on function private.operator_table_sizes() is
  'The largest tables with their indexes, partitions together, for operators. Definer: as for the other views of operators; assert_operator() checks the caller.';
create view public.operator_table_sizes with (security_invoker = true) as
  select * from private.operator_table_sizes();
revoke all on public.operator_table_sizes from anon, authenticated, service_role;
comment on view public.operator_table_sizes is
  'The 15 largest tables of the database with their indexes, and about how many rows each has; partitions count as their table. For operators and the service; INSUFFICIENT_SCOPE for all others.';
grant execute on function private.operator_pulse(), private.operator_table_sizes() to authenticated, service_role;
grant select on public.operator_pulse, public.operator_table_sizes to authenticated, service_role;
