begin;
set local search_path = public, extensions;
select plan(4);

create temp table made on commit drop as select tests.create_family(1) as id;

select is(private.park_task((select id from made), 1), 'parked', 'the task is parked');

select is((select status from public.tasks where id = (select id from made)), 'pending_subtask', 'the task waits for its subtasks');
select ok((select message_id is null and lease_expires_at is null and worker_id is null from public.tasks where id = (select id from made)), 'it has no message, lease or worker');
select is((select count(*) from pgmq.q_agent_tasks)::int, 1, 'only the child has a message');

select * from finish();
rollback;
