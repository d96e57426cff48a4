begin;
set local search_path = public, extensions;
select plan(8);

select tests.create_agent('worker-agent');
select private.offer_slots('w1', 9, 30);
create temp table made on commit drop as select * from private.create_task('worker-agent', '{}');
create temp table fetched on commit drop as select * from private.fetch_handed('w1');

select private.begin_handed(task_id, 1) from made;
select results_eq(
  $$select type, payload - 'agent' - 'name' from public.task_events where task_id = (select task_id from made) order by id$$,
  $$values
    ('task.created', '{}'::jsonb),
    ('task.started', '{"worker_id": "w1", "epoch": 1, "deliveries": 1}'),
    ('model.started', '{"step_seq": 1}')$$,
  'the trace is that of a task that was created and claimed'
);
select is(
  (select at from public.task_events where task_id = (select task_id from made) and type = 'task.created'),
  (select created_at from public.tasks where id = (select task_id from made)),
  'the task was created when its row was written'
);
select results_eq(
  $$select seq, kind, state, name, epoch from public.task_steps where task_id = (select task_id from made)$$,
  $$select (context #>> '{steps,0,seq}')::int, context #>> '{steps,0,kind}', context #>> '{steps,0,state}',
      context #>> '{steps,0,name}', epoch from fetched$$,
  'the first step is the one that the worker was given'
);
select private.begin_handed(task_id, 1) from made;
select is(
  (select count(*) from public.task_events where task_id = (select task_id from made))::int, 3, 'a second call writes nothing'
);
select is(
  tests.code_of(format('select private.begin_handed(%L, 2)', (select task_id from made))), 'LEASE_LOST',
  'a worker without the lease writes nothing'
);

create temp table capped on commit drop as
  select * from private.create_task('worker-agent', '{}', p_budget => '{"max_steps": 3}');
select is(
  (select (context -> 'steps')::text from private.fetch_handed('w1')), '[]', 'a job with a budget has no step yet'
);
select private.begin_handed(task_id, 1) from capped;
select results_eq(
  $$select type from public.task_events where task_id = (select task_id from capped) order by id$$,
  $$values ('task.created'), ('task.started')$$,
  'its events are written'
);
select is_empty(
  $$select from public.task_steps where task_id = (select task_id from capped)$$,
  'its first step is left to the worker, which can report a refusal'
);

select * from finish();
rollback;
