begin;
set local search_path = public, extensions;
select plan(7);

-- Two children of a parked parent; one has failed, and the parent has not read its result.
create temp table made on commit drop as select tests.create_family(2) as id;
select private.park_task((select id from made), tests.epoch_of((select id from made)));
create temp table child on commit drop as select * from private.claim_tasks('w1', 2, 30);
create temp table failed on commit drop as select task_id, epoch from child limit 1;
select private.fail_task(task_id, epoch, '{"code": "MODEL_REFUSED", "message": "no"}', 'never') from failed;
select is((select pending_children from public.tasks where id = (select id from made)), 1, 'the parent waits for the other child');

select is(private.retry_task((select task_id from failed)), 'pending', 'the child resumes');
select is((select pending_children from public.tasks where id = (select id from made)), 2, 'the parent waits for both children');
select is((select count(*) from public.task_steps where name = 'create_subtask' and state = 'started')::int, 2, 'no step has a result');

select private.finish_task(task_id, epoch, '{}') from child where task_id <> (select task_id from failed);
select is((select status from public.tasks where id = (select id from made)), 'pending_subtask', 'one end does not wake the parent');
select private.finish_task((select task_id from failed), tests.claim((select task_id from failed)), '{}');
select is((select status from public.tasks where id = (select id from made)), 'pending', 'the last end wakes the parent');
select is((select count(*) from public.task_steps where name = 'create_subtask' and state = 'done')::int, 2, 'both steps have results');

select * from finish();
rollback;
