begin;
set local search_path = public, extensions;
select plan(6);
select tests.create_user(name) from unnest(array['operator', 'stranger']) as name;
select public.grant_scopes(tests.user_id('operator'), '{swarm:operate}');
delete from net._http_response;
insert into net._http_response (id, status_code, error_msg, timed_out, created)
values (1, 202, null, false, now()), (2, 500, 'It broke', false, now()), (3, null, 'Timeout', true, now() + interval '1 s'),
  (4, 500, 'Long ago', false, now() - interval '2 hours');
do $do$
begin
  delete from cron.job_run_details;
  insert into cron.job_run_details (jobid, status, return_message, start_time)
  select jobid, run.status, run.message, now() - run.age
  from cron.job, (values
    ('succeeded', null, interval '1 minute'), ('failed', 'It broke', interval '2 minutes'),
    ('failed', 'Long ago', interval '2 hours')
  ) as run (status, message, age)
  where jobname = 'supaswarm-tick';
  insert into cron.job_run_details (jobid, status, return_message, start_time)
  values (cron.schedule('reports', '* * * * *', 'select 1'), 'failed', 'A secret of the project', now());
exception when insufficient_privilege then
  -- Only pg_cron writes the runs of a hosted project: compare with those that are there.
  null;
end;
$do$;
create temp table run on commit drop as
  select job.jobname, run.start_time, run.status, run.return_message
  from cron.job_run_details as run join cron.job using (jobid)
  where job.jobname <> 'reports';
grant select on run to authenticated;

select tests.act_as_user('operator');
select results_eq(
  'select last_tick_at, cron_run_count, cron_failure_count, last_cron_failure from public.operator_pulse',
  $$select
      (select max(start_time) from run where jobname = 'supaswarm-tick'),
      (select count(*) from run where start_time > now() - interval '1 hour'),
      (select count(*) from run where start_time > now() - interval '1 hour' and status = 'failed'),
      (select jobname || ': ' || return_message from run
        where start_time > now() - interval '1 hour' and status = 'failed' order by start_time desc limit 1)$$,
  'the runs of cron in the last hour are counted, with the last failure'
);
select results_eq(
  $$select request_count, request_failure_count, last_request_failure, realtime_messages_per_second from public.operator_pulse$$,
  $$values (3::bigint, 2::bigint, 'Timeout', 80::numeric)$$,
  'the requests of the last hour are counted, with the last failure'
);
select ok((select database_bytes > 1000000 from public.operator_pulse), 'the size of the database is in bytes');
select ok(
  (select bool_and(bytes > 0) and bool_or(name = 'public.task_steps') and count(*) = 15 from public.operator_table_sizes),
  'the largest tables are listed, partitions as their table'
);
select tests.act_as_user('stranger');
select is(tests.code_of('select * from public.operator_pulse'), 'INSUFFICIENT_SCOPE', 'other users may not read the pulse');
select is(tests.code_of('select * from public.operator_table_sizes'), 'INSUFFICIENT_SCOPE', 'other users may not read the sizes');
select tests.act_as_nobody();

select * from finish();
rollback;
