begin;
set local search_path = public, extensions;
select plan(6);
select tests.create_user(name) from unnest(array['operator', 'stranger']) as name;
select public.grant_scopes(tests.user_id('operator'), '{swarm:operate}');
-- The beginning of the last of three intervals of a day, so that the test does not meet its end.
create temp table clock on commit drop as
  select to_timestamp(floor(extract(epoch from clock_timestamp()) / 86400) * 86400) as last_at;
grant select on clock to authenticated;
create temp table job on commit drop as
  select n, tests.create_task(p_owner => 'ada') as id from generate_series(1, 6) as n;
-- Created 30 hours before the last interval began; job n begins n hours later. 5 has not begun, 6 is due in a year.
update public.tasks as task
set created_at = last_at - interval '30 hours',
  started_at = case when n < 5 then last_at - interval '30 hours' + n * interval '1 hour' end,
  run_after = case when n = 6 then last_at + interval '1 year' end,
  status = case n when 1 then 'completed' when 2 then 'failed' when 3 then 'completed' when 4 then 'cancelled' else 'pending' end,
  output = case when n in (1, 3) then '"x"'::jsonb end,
  error = case when n in (2, 4) then '{"code": "X", "message": "y"}'::jsonb end,
  finished_at = case when n < 4 then last_at - interval '5 hours' when n = 4 then last_at + interval '1 ms' end
from job, clock
where task.id = job.id;
insert into public.task_steps (task_id, seq, kind, state, output, epoch, started_at, ended_at)
select id, seq, 'model', 'done', '{"text": "x", "tool_calls": [], "finish_reason": "stop"}', 0,
  last_at - interval '30 hours' + (n + seq) * interval '10 seconds', last_at
from job, clock, generate_series(1, 2) as seq
where n < 5;

select tests.act_as_user('operator');
select results_eq(
  $$select created_count, completed_count, failed_count, cancelled_count, waiting_count, first_call_p50_ms, first_call_p95_ms
    from public.operator_activity(86400, 3)$$,
  $$values (6::bigint, 0::bigint, 0::bigint, 0::bigint, 1::bigint, 30000, 50000), (0, 2, 1, 0, 1, null, null),
      (0, 0, 0, 1, 1, null, null)$$,
  'jobs are counted where they were created and ended, waiting ones at each end; the latency is that of first calls'
);
select results_eq(
  'select began_at from public.operator_activity(86400, 3)',
  $$select last_at + n * interval '1 day' from clock, generate_series(-2, 0) as n$$, 'intervals begin at round times'
);
select is((select array_agg(waiting_count) from public.operator_activity(60, 2)), '{1,1}'::bigint[],
  'a job that has waited since before the first interval waits in each');
select results_eq(
  $$select bad.arguments from (values ('59, 1'), ('60, 0'), ('60, 201'), ('86400, 8'), ('null, 1')) as bad (arguments)
    where tests.code_of(format('select * from public.operator_activity(%s)', bad.arguments)) is distinct from 'QUERY_INVALID'$$,
  'select null::text where false', 'other intervals are refused'
);
select tests.act_as_user('stranger');
select is(tests.code_of('select * from public.operator_activity()'), 'INSUFFICIENT_SCOPE', 'other users are refused');
select tests.act_as_anon();
select is(tests.code_of('select * from public.operator_activity()'), '42501', 'no other role may read it');
select tests.act_as_nobody();

select * from finish();
rollback;
