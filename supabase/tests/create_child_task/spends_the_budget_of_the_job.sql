begin;
set local search_path = public, extensions;
select plan(8);
create temp table job on commit drop as select tests.create_task(p_budget => '{"max_tasks": 2}') as id;
create temp table first on commit drop as
  select * from private.create_child_task(
    (select id from job), '{"agent": "worker-agent", "input": {}, "idempotency_key": "k"}', null);

select is(
  (select (parent_id, master_task_id, depth, created_by)::text from public.tasks where id = (select task_id from first)),
  (select (id, id, 1, created_by)::text from public.tasks where id = (select id from job)),
  'it is a subtask with the owner of its job'
);
select is(
  (select pending_children from public.tasks where id = (select id from job)), 1, 'its parent counts it'
);
select is(
  (select (task_id, is_new)::text from private.create_child_task(
    (select id from job), '{"agent": "worker-agent", "input": {}, "idempotency_key": "k"}', null)),
  (select (task_id, false)::text from first),
  'the same key in the same job returns the same task'
);
select throws_ok(
  format('select private.create_child_task(%L, ''{"agent": "worker-agent", "input": {}}'', null)', (select id from job)),
  'PT422', null, 'a third task exceeds the job''s limit'
);
select throws_ok(
  format('select private.create_child_task(%L, ''{"agent": "worker-agent", "input": {}, "budget": {"max_tasks": 9}}'', null)', (select id from job)),
  'PT400', null, 'a subtask cannot bring a budget'
);

-- The parent ends only after the subtask.
create temp table lease on commit drop as select tests.claim((select id from job)) as epoch;
select is(
  private.finish_task((select id from job), (select epoch from lease), '"done"'), 'parked',
  'a parent that finishes waits for the subtask'
);
create temp table child_lease on commit drop as select coalesce(
  (select epoch from private.claim_tasks('w2', 50, 30) where task_id = (select task_id from first)),
  (select epoch from public.tasks where id = (select task_id from first))) as epoch;
select private.finish_task((select task_id from first), (select epoch from child_lease), '"helped"');
select is(
  (select (status, pending_children)::text from public.tasks where id = (select id from job)), '(pending,0)',
  'it wakes when the subtask has ended'
);
select throws_ok(
  format('select private.create_child_task(%L, ''{"agent": "worker-agent", "input": {}}'', null)', (select task_id from first)),
  'PT409', null, 'a task that has ended cannot create subtasks'
);
select * from finish();
rollback;
