begin;
set local search_path = public, extensions;
select plan(7);

select tests.quiet_realtime();
create temp table made on commit drop as select tests.create_task() as id;
grant select on made to authenticated;
select tests.claim((select id from made));
create function pg_temp.epoch() returns bigint language sql as $$ select tests.epoch_of(id) from made $$;
select private.record_steps((select id from made), pg_temp.epoch(), 30, '[]', '[{"seq": 1, "kind": "model"}]');
select private.watch_task((select id from made));
select private.broadcast_delta((select id from made), pg_temp.epoch(), 1, 0, 'Lost');
select private.broadcast_delta((select id from made), pg_temp.epoch(), 1, 0, 'Roses 🌹 ');
select private.broadcast_delta((select id from made), pg_temp.epoch(), 1, 9, 'are red');
select private.broadcast_delta((select id from made), pg_temp.epoch(), 1, 99, 'after a gap');

select tests.act_as_user('owner');
select is(
  public.read_answer((select id from made)), '{"step_seq": 1, "text": "Roses 🌹 are red"}'::jsonb,
  'a reader that joins in the middle gets the text so far, by UTF-16 positions'
);
select tests.act_as_nobody();

select private.lose_call((select id from made), pg_temp.epoch(), 30, '{"seq": 1, "input_tokens": 1, "output_tokens": 1}');
select is(
  (select output from public.task_steps where seq = 1), '{"text": "Roses 🌹 are red", "is_partial": true}'::jsonb,
  'the step keeps what was streamed, marked as partial'
);
select is(
  (select payload ->> 'text' from public.task_events where type = 'model.interrupted'), 'Roses 🌹 are red',
  'the event has it'
);
select is((select state from public.task_steps where seq = 1), 'started', 'the call is still to be made');

select private.lose_call((select id from made), pg_temp.epoch(), 30,
  '{"seq": 1, "input_tokens": 1, "output_tokens": 1, "text": "Roses are red, violets"}');
select is(
  (select output ->> 'text' from public.task_steps where seq = 1), 'Roses are red, violets',
  'a worker that lives knows the text better'
);
select is(
  (select read.context::jsonb #> '{steps,0,output}' from private.task_contexts(
    array(select task from public.tasks as task where id = (select id from made))) as read),
  'null'::jsonb, 'the model never reads it'
);

select private.record_steps((select id from made), pg_temp.epoch(), 30,
  '[{"seq": 1, "kind": "model", "state": "done", "output": {"text": "All.", "tool_calls": []}}]', '[]');
select is(
  (select output from public.task_steps where seq = 1), '{"text": "All.", "tool_calls": []}'::jsonb,
  'the repeated call replaces it'
);

select * from finish();
rollback;
