begin;
set local search_path = public, extensions;
select plan(6);

select tests.create_agent('worker-agent');
create function pg_temp.hand_over() returns uuid language plpgsql as $$
begin
  delete from public.tasks;
  delete from private.handed_tasks;
  delete from private.idle_workers;
  perform private.offer_slots('w1', 1, 30);
  return (select task_id from private.create_task('worker-agent', '{}'));
end;
$$;
create function pg_temp.expire() returns void language sql as $$
  update public.tasks set lease_expires_at = now() - interval '1 second';
$$;

-- A worker that fetched the task and died.
select pg_temp.hand_over();
select count(*) from private.fetch_handed('w1');
select pg_temp.expire();
select is((select count(*) from private.claim_tasks('w2', 5, 30, true))::int, 1, 'another worker claims it');
select results_eq(
  $$select type, payload ->> 'worker_id', payload ->> 'epoch' from public.task_events order by id$$,
  $$values
    ('task.created', null, null), ('task.started', 'w1', '1'), ('task.resumed', 'w2', '2'), ('model.started', null, null)$$,
  'the trace of the first claim precedes that of the second'
);
select is_empty('select from public.usage_events', 'no model call is recorded');

-- A worker that died with the last permitted delivery.
select pg_temp.hand_over();
update public.tasks set max_deliveries = 1;
select pg_temp.expire();
select private.reconcile();
select results_eq(
  $$select type from public.task_events order by id$$,
  $$values ('task.created'), ('task.started'), ('task.failed')$$,
  'a task that fails was created before'
);

-- A task that was cancelled before its worker fetched it.
select public.cancel_task(pg_temp.hand_over());
select private.withdraw_worker('w1');
select results_eq(
  $$select type from public.task_events order by id$$,
  $$values ('task.created'), ('task.started'), ('task.cancelled')$$,
  'a task that is cancelled was created before'
);

-- A task that waited for a slot in its worker.
select private.yield_task(pg_temp.hand_over(), 1, p_has_begun => false);
select results_eq(
  $$select type from public.task_events order by id$$,
  $$values ('task.created'), ('task.started')$$,
  'a task that is returned was created before'
);

select * from finish();
rollback;
