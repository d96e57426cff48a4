begin;
set local search_path = public, extensions;
select plan(9);

create temp table made on commit drop as select tests.create_task() as id;
select count(*) from private.claim_tasks('dead', 1, 30, true);
update public.task_steps set started_at = clock_timestamp() - interval '50 seconds';
update public.task_events set at = clock_timestamp() - interval '50 seconds';
-- The last heartbeat came ten seconds later: a lease of 30 seconds that expired ten seconds ago.
update public.tasks set lease_expires_at = clock_timestamp() - interval '10 seconds';
create temp table other on commit drop as select tests.create_task() as id;

select results_eq(
  $$select task_id from private.claim_tasks('busy', 10, 30, true, 'skip')$$, 'select id from other',
  'a worker with other work skips it'
);
select is((select status from public.tasks where id = (select id from made)), 'pending', 'the task waits');
select results_eq(
  $$select is_estimate, output_tokens between 490 and 520, input_tokens > 0 from public.usage_events$$,
  'values (true, true, true)', 'the cost of the dead worker''s call is recorded, estimated by its running time'
);

create temp table third on commit drop as select tests.create_task() as id;
select results_eq(
  $$select task_id from private.claim_tasks('free', 10, 30, true, 'first')$$, 'select id from made',
  'an idle worker claims it and nothing else'
);
select is(
  (select (context -> 'task' ->> 'works_alone')::boolean from private.task_contexts(array(select task from public.tasks as task where task.id = (select id from made)))), true,
  'the context reports it'
);
select is((select deliveries from public.tasks where id = (select id from made)), 2, 'both claims count');
select private.record_steps((select id from made), 2, 30, '[{"seq": 1, "kind": "model", "state": "done", "output": {}}]');
select ok(not (select works_alone from public.tasks where id = (select id from made)), 'a completed step ends the restriction');
select private.yield_task((select id from made), 2);
select is(
  (select count(*) from private.claim_tasks('busy', 10, 30, true, 'skip'))::int, 2, 'afterwards any worker can claim it'
);
select is((select count(*) from public.usage_events)::int, 1, 'nothing is recorded twice');

select * from finish();
rollback;
