begin;
set local search_path = public, extensions;
select plan(6);

create temp table made on commit drop as select tests.create_family(2) as id;
select private.park_task((select id from made), tests.epoch_of((select id from made)));
create temp table child on commit drop as
  select task_id as id, epoch, row_number() over () as n from private.claim_tasks('w1', 10, 30);

select private.finish_task(id, epoch, '{"n": 1}') from child where n = 1;
select is((select status from public.tasks where id = (select id from made)), 'pending_subtask', 'the parent still waits for the other child');

select private.fail_task(id, epoch, '{"code": "TOOL_FAILED", "message": "broken"}', 'never') from child where n = 2;
select is((select status from public.tasks where id = (select id from made)), 'pending', 'a failed child counts too');
select is((select count(*) from pgmq.q_agent_tasks)::int, 1, 'only the parent has a message');
select bag_eq(
  $$select output - 'agent' from public.task_steps where name = 'create_subtask'$$,
  $$values ('{"status": "completed", "output": {"n": 1}}'::jsonb), ('{"status": "failed", "error": {"code": "TOOL_FAILED", "message": "broken"}}')$$,
  'the parent''s steps hold both results'
);
select is(tests.code_of($$select private.finish_task(id, epoch, '{}') from child where n = 1$$), 'LEASE_LOST', 'a child ends only once');
select is((select pending_children from public.tasks where id = (select id from made)), 0, 'the parent counts it once');

select * from finish();
rollback;
