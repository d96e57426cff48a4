begin;
set local search_path = public, extensions;
select plan(8);

select tests.create_user('owner'), tests.create_agent('worker-agent');
insert into public.schedules (created_by, name, agent, input, cron, overlap)
select tests.user_id('owner'), overlap, 'worker-agent', to_jsonb(overlap), '* * * * *', overlap
from unnest(array['skip', 'queue']) as overlap;
create function pg_temp.let_fall_due(p_minutes int) returns void language sql as $$
  update public.schedules set next_run_at = date_trunc('minute', now()) - make_interval(mins => p_minutes);
  select private.run_due_schedules();
$$;
create function pg_temp.jobs(p_name text) returns int language sql as $$
  select count(*)::int from public.tasks where metadata -> 'schedule' ->> 'name' = p_name
$$;
create function pg_temp.end_jobs() returns void language sql as $$
  update public.tasks set status = 'completed', output = '{}', finished_at = now() where finished_at is null;
$$;

select pg_temp.let_fall_due(30 - n) from generate_series(1, 3) as n;
select is(array[pg_temp.jobs('skip'), pg_temp.jobs('queue')], array[1, 1], 'no job begins while the previous one runs');
select is((select skipped_count from public.schedules where name = 'skip')::int, 2, 'skip drops the runs');
select is((select cardinality(waiting_times) from public.schedules where name = 'queue'), 2, 'queue keeps the runs');
select pg_temp.end_jobs(), private.run_due_schedules(), private.run_due_schedules();
select is(array[pg_temp.jobs('skip'), pg_temp.jobs('queue')], array[1, 2], 'a queued run begins when the job has ended');
select pg_temp.end_jobs(), private.run_due_schedules();
select results_eq(
  $$select date_trunc('minute', now()) - (metadata -> 'schedule' ->> 'scheduled_at')::timestamptz
    from public.tasks where input = '"queue"' order by id$$,
  $$values (interval '29 minutes'), ('28 minutes'), ('27 minutes')$$, 'runs begin in the order in which they were due'
);
select pg_temp.let_fall_due(20 - n) from generate_series(1, 12) as n;
select is((select cardinality(waiting_times) from public.schedules where name = 'queue'), 10, 'at most ten runs wait');
select is((select skipped_count from public.schedules where name = 'queue')::int, 2, 'further runs are skipped');
update public.schedules set is_active = false where name = 'queue';
select pg_temp.end_jobs(), private.run_due_schedules();
select is(pg_temp.jobs('queue'), 3, 'an inactive schedule begins no run');

select * from finish();
rollback;
