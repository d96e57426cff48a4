begin;
set local search_path = public, extensions;
select plan(11);

create temp table made on commit drop as select tests.create_task() as id;
create function pg_temp.die() returns void language sql as $$
  select count(*) from private.claim_tasks('dead', 1, 30);
  update public.task_steps set started_at = clock_timestamp() - interval '50 seconds';
  update private.task_events set at = clock_timestamp() - interval '50 seconds';
  update public.tasks set lease_expires_at = clock_timestamp() - interval '10 seconds';
$$;
select pg_temp.die();
insert into private.workers (id, seen_at) values ('dead', clock_timestamp() - interval '40 seconds');
select private.heartbeat('other', '[]', 30);

select is((select status from public.tasks), 'pending', 'the heartbeat of another worker returns the task of a dead one');
select results_eq(
  $$select is_estimate, output_tokens between 490 and 520, input_tokens > 0 from public.usage_events$$,
  'values (true, true, true)', 'its call is booked, estimated by the time until the worker''s last heartbeat'
);
select ok(not (select runs_exclusively from public.tasks), 'the next call runs beside others');
select pg_temp.die();
select private.heartbeat('other', '[]', 30);
select ok((select runs_exclusively from public.tasks), 'after a second interruption the call runs alone');

create temp table other on commit drop as select tests.create_task() as id;
select results_eq(
  $$select task_id from private.claim_tasks('busy', 10, 30, p_is_idle => false)$$, 'select id from other',
  'a worker with other work skips it'
);
create temp table third on commit drop as select tests.create_task() as id;
select results_eq(
  $$select task_id from private.claim_tasks('free', 10, 30, p_is_idle => true)$$, 'select id from made',
  'an idle worker claims it and nothing else'
);
select is(
  (select (context -> 'task' ->> 'runs_exclusively')::boolean from private.task_contexts(array(select task from public.tasks as task where task.id = (select id from made)))), true,
  'the context reports it'
);
select is((select deliveries from public.tasks where id = (select id from made)), 3, 'all claims count');
select private.record_steps((select id from made), tests.epoch_of((select id from made)), 30, '[{"seq": 1, "kind": "model", "state": "done", "output": {}}]');
select ok(not (select runs_exclusively from public.tasks where id = (select id from made)), 'a completed step ends the restriction');
select private.yield_task((select id from made), tests.epoch_of((select id from made)));
select is(
  (select count(*) from private.claim_tasks('busy', 10, 30, p_is_idle => false))::int, 2, 'afterwards any worker can claim it'
);
select is((select count(*) from public.usage_events)::int, 2, 'nothing is recorded twice');

select * from finish();
rollback;
