begin;
set local search_path = public, extensions;
select plan(5);

create temp table made on commit drop as select tests.create_family(2) as id;
grant select on made to authenticated;
select private.park_task((select id from made), tests.epoch_of((select id from made)));

select tests.act_as_user('owner');
select is(public.cancel_task((select id from made)), 3, 'three tasks end');
select tests.act_as_nobody();

select is((select count(*) from public.tasks where status = 'cancelled')::int, 3, 'all end immediately');
select is((select pending_children from public.tasks where id = (select id from made)), 0, 'the parent has no pending children');
select is((select count(*) from pgmq.q_agent_tasks)::int, 0, 'the queue is empty');
select is(
  (select count(*) from public.task_events where type = 'task.resumed')::int, 0,
  'the parent did not wake in between'
);

select * from finish();
rollback;
