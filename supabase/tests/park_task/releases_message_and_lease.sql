begin;
set local search_path = public, extensions;
select plan(4);

create temp table made on commit drop as select tests.create_family(1) as id;

select is(private.park_task((select id from made), tests.epoch_of((select id from made))), 'parked', 'the task is parked');

select is((select status from public.tasks where id = (select id from made)), 'pending_subtask', 'the task waits for its subtasks');
select ok((select lease_expires_at is null and worker_id is null from public.tasks where id = (select id from made)), 'it has no lease and no worker');
select results_eq(
  $$select message ->> 'task_id' from pgmq.q_agent_tasks$$, $$select id::text from public.tasks where parent_id is not null$$,
  'only the child has a message'
);

select * from finish();
rollback;
