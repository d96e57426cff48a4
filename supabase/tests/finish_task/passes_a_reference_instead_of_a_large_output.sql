begin;
set local search_path = public, extensions;
select plan(2);

create temp table made on commit drop as select tests.create_family(1) as id;
select private.park_task((select id from made), tests.epoch_of((select id from made)));

select private.finish_task(task_id, epoch, '{"big": true}', '{"storage_path": "p"}') from private.claim_tasks('w1', 10, 30);

select is((select output -> 'output' from public.task_steps where name = 'create_subtask'), '{"storage_path": "p"}'::jsonb, 'the parent reads the reference');
select is((select output from public.tasks where parent_id = (select id from made)), '{"big": true}'::jsonb, 'the child keeps the full output');

select * from finish();
rollback;
