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
select is_empty(
  $$select from public.task_events where task_id = (select task_id from made)
    union all select from public.task_steps where task_id = (select task_id from made)$$,
  'its trace is left to the worker'
);
select is(
  (select free_slot_count from private.idle_workers where worker_id = 'w1'), 2, 'the worker has one fewer free slot'
);
select is_empty($$select * from private.claim_tasks('w2', 5, 30)$$, 'no other worker can claim it');
create temp table fetched on commit drop as select * from private.fetch_handed('w1');
select results_eq(
  $$select task_id, epoch, context #>> '{agent,slug}', context #>> '{task,input}', context ->> 'is_untraced' from fetched$$,
  $$select task_id, 1::bigint, 'worker-agent', '{}', 'true' from made$$,
  'the worker fetches it with its context'
);
select is_empty($$select * from private.fetch_handed('w1')$$, 'it gets the task only once');
select private.create_task('worker-agent', '{}');
select is(
  (select count(*) from private.claim_tasks('w1', 3, 30, true, p_free_slot_count => 3))::int, 1,
  'a claim returns handed tasks too'
);
select lives_ok(
  $$select private.finish_task(task_id, 1, '"done"') from made$$, 'the worker holds its lease'
);

select * from finish();
rollback;
