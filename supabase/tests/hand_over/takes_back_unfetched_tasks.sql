begin;
set local search_path = public, extensions;
select plan(7);

select tests.create_agent('worker-agent');
select private.offer_slots('w1', 3, 30);
create temp table made on commit drop as
  select task_id from generate_series(1, 3) as n, lateral private.create_task('worker-agent', to_jsonb(n::text));
select private.reconcile();
select is((select count(*) from public.tasks where status = 'running')::int, 3, 'a worker has some seconds to fetch its tasks');

update private.handed_tasks set handed_at = now() - interval '6 seconds'
where task_id = (select min(task_id::text)::uuid from made);
select private.reconcile();
select results_eq(
  $$select status, deliveries, message_id is not null from public.tasks where status = 'pending'$$,
  $$values ('pending', 0, true)$$,
  'then the task returns to the queue without counting a delivery'
);
select is_empty('select from public.usage_events', 'no model call is recorded');
select is(
  (select count(*) from private.claim_tasks('w2', 5, 30, true))::int, 1, 'another worker claims it'
);

select public.cancel_task(task_id) from made where task_id in (select task_id from private.handed_tasks limit 1);
select private.withdraw_worker('w1');
select results_eq(
  $$select status, count(*)::int from public.tasks group by 1 order by 1$$,
  $$values ('cancelled', 1), ('pending', 1), ('running', 1)$$,
  'a worker that stops claiming returns its unfetched tasks, one of which was cancelled'
);
select is_empty('select from private.idle_workers', 'it gets no more tasks');
select is_empty('select from private.handed_tasks', 'nothing is left to fetch');

select * from finish();
rollback;
