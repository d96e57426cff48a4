begin;
set local search_path = public, extensions;
select plan(5);

select tests.create_agent('worker-agent');
select private.offer_slots('w1', 1, 30);
create temp table made on commit drop as
  select task_id from private.create_task('worker-agent', '"x"');
update public.tasks set lease_expires_at = now() - interval '1 second';
select results_eq(
  $$select epoch::int from private.claim_tasks('w1', 5, 30, true)$$, array[2],
  'a worker that no longer listens claims the task whose first lease has expired'
);
select is((select count(*) from private.handed_tasks)::int, 1, 'it has not fetched the hand-over');

update public.tasks set lease_expires_at = now() - interval '1 second';
select ok((select private.is_calling_model(task_id) from made), 'its model call counts as running');
select is_empty(
  $$select from private.claim_tasks('w1', 0, 30, true, p_free_slot_count => 1)$$,
  'it does not get the same claim again when it listens again'
);
select is_empty('select from private.handed_tasks', 'the hand-over is over');

select * from finish();
rollback;
