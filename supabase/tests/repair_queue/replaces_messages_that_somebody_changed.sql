begin;
set local search_path = public, extensions;
select plan(3);

create temp table made on commit drop as select tests.create_task() as id;
update pgmq.q_agent_tasks set message = '{"task_id": "lost"}';
select is(private.repair_queue(), 1, 'a message is sent for a task that has none');
select results_eq(
  'select message from pgmq.q_agent_tasks', $$select jsonb_build_object('task_id', id) from made$$, 'one of no task is deleted'
);
select is(private.repair_queue(), 0, 'then nothing is left to repair');

select * from finish();
rollback;
