begin;
set local search_path = public, extensions;
select plan(8);
create temp table source on commit drop as
  select tests.create_task(p_budget => '{"max_input_tokens": 100, "max_tasks": 3}') as id;
create function pg_temp.spend(p_job_id uuid, p_tokens int) returns void language sql
  as $$ update private.job_totals set input_tokens = p_tokens where master_task_id = p_job_id $$;
create function pg_temp.attempt_call(p_job_id uuid) returns text language sql
  as $$ select format($call$
    select private.assert_budget_allows_model_call(task) from public.tasks as task where id = %L
  $call$, p_job_id) $$;
create function pg_temp.attempt_subtask(p_job_id uuid) returns text language sql
  as $$ select format('select private.assert_subtask_caps(task, 1) from public.tasks as task where id = %L', p_job_id) $$;
select pg_temp.spend((select id from source), 40);
create temp table fork on commit drop as
  select private.fork_task((select id from source), 1) as id, 1 as number
  union all select private.fork_task((select id from source), 1), 2;
insert into fork select private.fork_task((select id from fork where number = 1), 1), 3;

select is(
  (select array_agg(distinct budget ->> 'max_input_tokens') from public.tasks where id in (select id from fork)),
  '{60}', 'each fork may spend the remainder'
);
select pg_temp.spend((select id from fork where number = 1), 59);
select lives_ok(pg_temp.attempt_call((select id from fork where number = 2)), 'the other forks continue while part of it is left');
select pg_temp.spend((select id from fork where number = 2), 1);
select throws_ok(
  pg_temp.attempt_call((select id from fork where number = 2)), 'PT422',
  'Cannot call the model: the job has used up its max_input_tokens of 100', 'they end when together they have spent the budget'
);
select throws_ok(pg_temp.attempt_call((select id from fork where number = 3)), 'PT422', null, 'a fork of a fork shares it too');
select throws_ok(pg_temp.attempt_call((select id from source)), 'PT422', null, 'the first job shares it too');
select throws_ok(
  format('select private.fork_task(%L, 1)', (select id from fork where number = 3)), 'PT422', null,
  'nothing is left for another fork'
);

update private.job_totals set task_count = 2 where master_task_id = (select id from fork where number = 1);
select lives_ok(pg_temp.attempt_subtask((select id from fork where number = 2)), 'the third task of all of them is within max_tasks');
update private.job_totals set task_count = 2 where master_task_id = (select id from fork where number = 2);
select throws_ok(
  pg_temp.attempt_subtask((select id from fork where number = 3)),
  'PT422', 'Cannot create 1 more subtasks: the job and its forks together may have at most 3 tasks', 'the fourth is refused'
);
select * from finish();
rollback;
