begin;
set local search_path = public, extensions;
select plan(6);

select private.configure_project_url('http://127.0.0.1:1');
create temp table made on commit drop as select tests.create_task() as id;
update public.tasks set run_after = clock_timestamp() + interval '1 hour';
set constraints all immediate;
delete from net.http_request_queue;

select pgmq.send('agent_tasks', jsonb_build_object('task_id', (select id from made)));
select is((select run_after from public.tasks), null, 'a delayed task becomes due');
select is((select count(*) from net.http_request_queue)::int, 1, 'a worker is woken');
select is((select count(*) from pgmq.q_agent_tasks)::int, 1, 'the task has one message');
select pgmq.send('agent_tasks', jsonb_build_object('task_id', (select id from made)));
select is((select count(*) from pgmq.q_agent_tasks)::int, 1, 'a second message replaces the first');

select tests.claim((select id from made));
select pgmq.send('agent_tasks', jsonb_build_object('task_id', (select id from made)));
select is((select status from public.tasks), 'running', 'a running task goes on');
select pgmq.send('agent_tasks', '{"task_id": "nobody"}');
select pgmq.send('agent_tasks', '{}');
select is((select count(*) from pgmq.q_agent_tasks)::int, 0, 'messages without a waiting task are deleted');

select * from finish();
rollback;
