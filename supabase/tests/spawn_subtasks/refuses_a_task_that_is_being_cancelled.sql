begin;
set local search_path = public, extensions;
select plan(2);

create temp table made on commit drop as select tests.create_task() as id;
select tests.claim((select id from made));
update public.tasks set cancel_requested_at = clock_timestamp();
select is(tests.code_of(format(
  $$select private.spawn_subtasks(%L, %s, 30, '[{"seq": 2, "agent": "worker-agent", "input": {}}]')$$,
  (select id from made), tests.epoch_of((select id from made))
)), 'TASK_CANCELLED', 'a task that is being cancelled creates no subtasks');
select is((select count(*)::int from public.tasks), 1, 'no subtask is created');

select * from finish();
rollback;
