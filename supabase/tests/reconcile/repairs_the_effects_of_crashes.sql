begin;
set local search_path = public, extensions;
select plan(6);

create temp table lost on commit drop as select tests.create_task() as id;
delete from pgmq.q_agent_tasks;
select is(private.reconcile() ->> 'resent', '1', 'a lost message is sent again');
select isnt(tests.claim((select id from lost)), null, 'the task can be claimed');

update public.tasks set deliveries = max_deliveries;
select tests.expire_lease((select id from lost));
select is(private.reconcile() ->> 'ended', '1', 'a task that kills its workers ends');
select is((select error ->> 'code' from public.tasks), 'TASK_DELIVERIES_EXCEEDED', 'the error gives the reason');
select results_eq('select reason from private.dead_letters', array['deliveries_exhausted'], 'a dead letter is written');
select is(private.reconcile(), '{"ended": 0, "resent": 0, "woken": 0}'::jsonb, 'then nothing is left to repair');

select * from finish();
rollback;
