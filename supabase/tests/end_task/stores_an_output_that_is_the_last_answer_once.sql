begin;
set local search_path = public, extensions;
select plan(6);

insert into public.webhooks (url, events, created_by) values ('https://example.com/ends', '{task.completed}', tests.create_user('owner'));
create temp table made on commit drop as select n, tests.create_task() as id from generate_series(1, 2) as n;
select tests.claim(id) from made where n = 1;
select private.record_steps(id, tests.epoch_of(id), 30, '[
  {"seq": 1, "kind": "model", "state": "done", "output": {"text": "First", "tool_calls": []}},
  {"seq": 2, "kind": "model", "state": "done", "output": {"text": "Last", "tool_calls": []}}]')
from made;
select private.finish_tasks((
  select jsonb_agg(jsonb_build_object('id', id, 'held_epoch', tests.epoch_of(id), 'output', case n when 1 then 'Last' else 'First' end))
  from made
));

select results_eq(
  $$select payload from private.task_events join made on made.id = task_id where type = 'task.completed' order by n$$,
  $$values ('{"step_seq": 2}'::jsonb), ('{"output": "First"}')$$,
  'the event names the step whose text the output is, and has any other output'
);
select results_eq(
  $$select event -> 'data' from made cross join lateral jsonb_array_elements(private.read_events(made.id, null, 100, 32768) -> 'events') as event
    where event ->> 'type' = 'task.completed' order by n$$,
  $$values ('{"output": "Last"}'::jsonb), ('{"output": "First"}')$$,
  'readers see the output'
);
select results_eq(
  $$select payload #> '{data,event}' from public.webhook_messages join made on made.id = task_id order by n$$,
  $$values ('{"output": "Last"}'::jsonb), ('{"output": "First"}')$$,
  'webhooks receive the output'
);

-- A message continues the first task.
select private.continue_task(id, '"Again"') from made where n = 1;
select tests.claim(id) from made where n = 1;
select private.record_steps(id, tests.epoch_of(id), 30, '[
  {"seq": 4, "kind": "model", "state": "done", "output": {"text": "Another", "tool_calls": []}}]')
from made where n = 1;
select private.end_task(id, 'completed', '"Another"') from made where n = 1;
select results_eq(
  $$select event -> 'data' from made cross join lateral jsonb_array_elements(private.read_events(made.id, null, 100, 32768) -> 'events') as event
    where event ->> 'type' = 'task.completed' and n = 1 order by event -> 'id'$$,
  $$values ('{"output": "Last"}'::jsonb), ('{"output": "Another"}')$$,
  'an earlier end keeps its output'
);
select is((select status from public.tasks join made using (id) where n = 1), 'completed', 'the continued task has ended');
select is(
  (select count(*)::int from private.task_events join made on made.id = task_id where type = 'task.completed' and payload ? 'output'), 1,
  'the answer of the continued task is stored once'
);

select * from finish();
rollback;
