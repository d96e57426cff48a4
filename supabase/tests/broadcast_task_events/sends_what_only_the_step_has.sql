begin;
set local search_path = public, extensions;
select plan(4);

select tests.quiet_realtime();
create temp table made on commit drop as select tests.create_task() as id;
create temp table held on commit drop as select tests.claim(id) as epoch from made;
select tests.join_channel('owner', 'supaswarm:master:' || (select id from made));
select private.record_steps(id, held.epoch, 30,
  '[{"seq": 1, "kind": "model", "state": "done", "name": "m", "output": {"text": "I look it up.", "tool_calls": [{"name": "look"}]},
    "usage": null}]',
  '[{"seq": 2, "kind": "tool", "name": "look", "call_id": "c1", "input": {"server": "desk", "arguments": {"n": 1}, "data_flows": []}}]')
from made, held;
select private.record_steps(id, held.epoch, 30,
  '[{"seq": 2, "kind": "tool", "state": "done", "name": "look", "call_id": "c1", "output": {"text": "It is 7."}}]')
from made, held;

select results_eq(
  $$select event, payload #>> '{data,text}', payload #> '{data,arguments}', payload #>> '{data,tool_calls,0,name}'
    from realtime.messages where event ~ '^(model.completed|tool)' order by (payload ->> 'seq')::bigint$$,
  $$values ('model.completed', 'I look it up.', null::jsonb, 'look'), ('tool.started', null, '{"n": 1}', null),
    ('tool.completed', 'It is 7.', null, null)$$,
  'the messages have the text, the calls and the arguments'
);
select is_empty(
  $$select from private.task_events where payload::text ~ 'look|It is 7|arguments'$$,
  'the trace does not repeat them'
);
select is_empty(
  $$select from public.task_events where type ~ '^(model.completed|tool)' and not payload ?& array['step_seq', 'name']$$,
  'the view names the step that has them, and reads it'
);
select results_eq(
  $$select event -> 'data' ->> 'text' from made, jsonb_array_elements(private.event_page(
      (select task from public.tasks as task where task.id = made.id), null, 200, 32768) -> 'events') as event
    where event ->> 'type' in ('model.completed', 'tool.completed')$$,
  $$values ('I look it up.'), ('It is 7.')$$,
  'read_events() returns them'
);

select * from finish();
rollback;
