begin;
set local search_path = public, extensions;
select plan(7);
select tests.create_user(name) from unnest(array['operator', 'stranger']) as name;
select public.grant_scopes(tests.user_id('operator'), '{swarm:operate}');
create temp table made on commit drop as select tests.create_family(1) as id;
create temp table child on commit drop as select id from public.tasks where parent_id = (select id from made);
create temp table other on commit drop as select tests.create_task() as id;
grant select on made, child, other to authenticated;

select tests.act_as_user('operator');
select public.operator_open_job((select id from child), 'It looks stuck');
select public.operator_open_job((select id from other), 'Another job');
select public.operator_cancel_job((select id from made), 'It runs wild');
select tests.act_as_nobody();
-- Workers notice at their next checkpoint.
select private.fail_task(id, tests.epoch_of(id), '{"code": "X"}', 'never') from public.tasks where status = 'running';

select tests.act_as_user('owner');
select results_eq(
  'select act, operator_email, task_id, reason, open_until is not null from public.list_operator_acts((select id from made))',
  $$values ('job.cancelled', 'operator@example.test', (select id from made), 'It runs wild', false),
    ('job.opened', 'operator@example.test', (select id from child), 'It looks stuck', true)$$,
  'the owner reads what operators did with the job, newest first'
);
select results_eq(
  $$select task_id, payload ->> 'by', payload ->> 'reason' from public.task_events
    where type = 'task.cancelled' order by task_id$$,
  $$select id, 'operator', 'It runs wild' from (select * from made union select * from child) as task order by id$$,
  'the events of the cancelled tasks say that an operator did it, and why'
);
select tests.act_as_user('operator');
select public.operator_retry_task((select id from made), 'It was a mistake');
select tests.act_as_user('owner');
select results_eq(
  $$select payload ->> 'by', payload ->> 'reason' from public.task_events where type = 'task.retried'$$,
  $$values ('operator', 'It was a mistake')$$,
  'so does the event of a retry'
);
select public.cancel_task((select id from made));
select results_eq(
  $$select payload ->> 'by', payload ->> 'reason' from public.task_events
    where type = 'task.cancelled' and task_id = (select id from made) order by id desc limit 1$$,
  $$values (null::text, null::text)$$,
  'a later cancellation by the owner has no reason of an operator'
);
select public.retry_task((select id from made));
select results_eq(
  $$select payload ->> 'by', payload ->> 'reason' from public.task_events where type = 'task.retried' order by id desc limit 1$$,
  $$values (null::text, 'requested')$$,
  'nor has a retry by the owner'
);
select tests.act_as_user('stranger');
select is(
  tests.code_of('select * from public.list_operator_acts((select id from made))'), 'TASK_NOT_FOUND', 'a stranger finds no job'
);
select tests.act_as_anon();
select is(tests.code_of('select * from public.list_operator_acts(null)'), '42501', 'anon may not call the function');
select tests.act_as_nobody();

select * from finish();
rollback;
