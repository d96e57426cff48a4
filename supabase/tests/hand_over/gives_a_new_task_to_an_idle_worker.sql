begin;
set local search_path = public, extensions;
select plan(9);

select tests.create_agent('worker-agent');
create temp table offer on commit drop as select * from private.claim_tasks('w1', 3, 30, true, p_free_slot_count => 3);
create temp table made on commit drop as select * from private.create_task('worker-agent', '{}');

select is((select status from made), 'pending', 'its creator gets the usual answer');
select results_eq(
  $$select status, worker_id, epoch, deliveries, message_id is null, lease_expires_at > clock_timestamp() + interval '25 seconds'
    from public.tasks where id = (select task_id from made)$$,
  $$values ('running', 'w1', 1::bigint, 1, true, true)$$,
  'the task belongs to the worker, with a full lease and no message'
);
select results_eq(
  $$select type from public.task_events where task_id = (select task_id from made) order by id$$,
  $$values ('task.created'), ('task.started'), ('model.started')$$,
  'the trace is that of a task that was created and claimed'
);
select results_eq(
  $$select seq, kind, state, epoch from public.task_steps where task_id = (select task_id from made)$$,
  $$values (1, 'model', 'started', 1::bigint)$$,
  'the first model call is written as started'
);
select is(
  (select free_slot_count from private.idle_workers where worker_id = 'w1'), 2, 'the worker has one fewer free slot'
);
select is_empty($$select * from private.claim_tasks('w2', 5, 30)$$, 'no other worker can claim it');
create temp table fetched on commit drop as
  select * from private.claim_tasks('w1', 3, 30, true, p_free_slot_count => 3);
select results_eq(
  $$select task_id, epoch, context #>> '{steps,0,state}' from fetched$$,
  $$select task_id, 1::bigint, 'started' from made$$,
  'the next claim of the worker returns it with its context'
);
select is_empty(
  $$select * from private.claim_tasks('w1', 3, 30, true, p_free_slot_count => 3)$$, 'it returns the task only once'
);
select lives_ok(
  $$select private.finish_task(task_id, 1, '"done"') from made$$, 'the worker holds its lease'
);

select * from finish();
rollback;
