begin;
set local search_path = public, extensions;
select plan(4);

create temp table made on commit drop as select tests.create_family(2) as id;

select private.spawn_subtasks((select id from made), tests.epoch_of((select id from made)), 30, '[
  {"seq": 2, "agent": "worker-agent", "input": {}}, {"seq": 3, "agent": "worker-agent", "input": {}}]');

select is((select count(*) from public.tasks where parent_id = (select id from made))::int, 2, 'there are still two children');
select is((select pending_children from public.tasks where id = (select id from made)), 2, 'the parent waits for two');
select is((select task_count from private.job_totals), 3, 'the job has three tasks');
select is((select count(distinct created_by) from public.tasks)::int, 1, 'the owner owns the children');

select * from finish();
rollback;
