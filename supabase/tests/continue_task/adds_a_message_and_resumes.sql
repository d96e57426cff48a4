begin;
set local search_path = public, extensions;
select plan(9);

create temp table made on commit drop as select tests.create_task('{"max_input_tokens": 100}') as id;
grant select on made to authenticated;
select tests.claim((select id from made));
select private.record_steps((select id from made), tests.epoch_of((select id from made)), 30,
  '[{"seq": 1, "kind": "model", "state": "done",
     "output": {"text": "", "tool_calls": [{"call_id": "a"}, {"call_id": "b"}, {"call_id": "c"}]},
     "usage": {"model": "m", "key_source": "none", "input_tokens": 7, "output_tokens": 1}}]',
  '[{"seq": 2, "kind": "tool", "name": "look", "call_id": "a"}]');
select private.fail_task((select id from made), tests.epoch_of((select id from made)), '{"code": "MODEL_REFUSED", "message": "no"}', 'never');

select tests.act_as_user('owner');
select is(public.continue_task((select id from made), '"And Bern?"'), 'pending', 'the task is queued again');
select is(
  tests.code_of($$select public.continue_task((select id from made), '"And Basel?"')$$),
  'TASK_NOT_CONTINUABLE', 'it accepts no other message until it has ended'
);
select tests.act_as_nobody();

select results_eq(
  'select seq, kind, state from public.task_steps order by seq',
  $$values (1, 'model', 'done'), (2, 'tool', 'failed'), (5, 'user', 'done')$$,
  'the message follows all calls of the last answer, and started calls have ended'
);
select is((select input from public.task_steps where kind = 'user'), '"And Bern?"', 'the message is stored');
select results_eq(
  'select status, error, finished_at, attempts from public.tasks',
  $$values ('pending', null::jsonb, null::timestamptz, 0)$$, 'the end is cleared'
);
select is((select input_tokens from public.tasks), 7::bigint, 'earlier spending still counts');
select is((select budget ->> 'max_input_tokens' from public.tasks), '100', 'it counts against the same budget');
select is(
  (select payload ->> 'reason' from public.task_events where type = 'task.resumed'), 'continued',
  'the trace shows why the task resumed'
);
select cmp_ok(tests.epoch_of((select id from made)), '<', tests.claim((select id from made)), 'a worker claims it with a new epoch');

select * from finish();
rollback;
