begin;
set local search_path = public, extensions;
select plan(6);

create temp table made on commit drop as select tests.create_family(2) as id;
grant select on made to authenticated;
select private.park_task((select id from made), tests.epoch_of((select id from made)));
create temp table running on commit drop as select * from private.claim_tasks('w1', 1, 30);

select tests.act_as_user('owner');
select is(public.cancel_task((select id from made)), 3, 'three tasks end');
select is(public.cancel_task((select id from made)), 0, 'a second call ends none');
select tests.act_as_nobody();

select is((select count(*) from public.tasks where status = 'cancelled')::int, 2, 'the parent and the waiting child have ended');
select is((select status from public.tasks where id = (select task_id from running)), 'running', 'the running child is marked');
select private.finish_task(task_id, epoch, '{}') from running;
select is((select count(*) from public.tasks where status = 'cancelled')::int, 3, 'the running child ends with its next report');
select is((select count(*) from pgmq.q_agent_tasks)::int, 0, 'the queue is empty');

select * from finish();
rollback;
