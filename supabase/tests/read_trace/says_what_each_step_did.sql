begin;
set local search_path = public, extensions;
select plan(7);
create temp table job on commit drop as select tests.create_task() as id;
grant select on job to authenticated;
select private.record_steps(id, tests.claim(id), 30, '[
  {"seq": 1, "kind": "model", "state": "done", "name": "m", "output": {"text": "I look\n it up.", "tool_calls": []},
   "usage": {"model": "priced", "key_source": "none", "input_tokens": 3, "output_tokens": 1}},
  {"seq": 2, "kind": "tool", "state": "failed", "name": "search", "call_id": "c1",
   "input": {"server": "web", "arguments": {"q": "question"}},
   "output": {"text": "<untrusted_data id=\"x\">No such page", "is_error": true, "error_code": "TOOL_TIMEOUT"}}]',
  '[{"seq": 3, "kind": "model", "name": "m"}]')
from job;
insert into public.usage_events (user_id, task_id, step_seq, model, key_source, input_tokens, output_tokens, cost_micro_usd)
select tests.user_id('owner'), id, 2, 'inner', 'none', 1, 1, 40 from job;

select tests.act_as_user('owner');
select results_eq(
  'select seq, kind, state, name, server, call_id, error_code from public.read_trace((select id from job))',
  $$values (1, 'model', 'done', 'm', null, null, null),
    (2, 'tool', 'failed', 'search', 'web', 'c1', 'TOOL_TIMEOUT'),
    (3, 'model', 'started', 'm', null, null, null)$$,
  'each step has its kind and outcome'
);
select is(
  (select cost_micro_usd from public.read_trace((select id from job)) where seq = 2), 40::bigint,
  'each step has the cost of its own model call and of those inside it'
);
select ok(
  (select bool_and((ended_at is null) = (state = 'started') and started_at is not null)
    from public.read_trace((select id from job))),
  'each step has its start and end'
);
select results_eq(
  'select seq, summary from public.read_trace((select id from job))',
  $$values (1, 'I look it up.'), (2, 'No such page'), (3, null)$$,
  'each step has the first words of its answer or error in one line'
);
select tests.act_as_user('stranger');
select is(tests.code_of(format('select * from public.read_trace(%L)', (select id from job))), 'TASK_NOT_FOUND', 'a stranger reads nothing');

select tests.act_as_nobody();
update public.task_steps
set state = 'done', input = jsonb_build_object('arguments', jsonb_build_object('query', repeat('word ', 100), 'limit', 5))
where seq = 2 and task_id = (select id from job);
select is(
  private.step_summary(step), left('query: ' || repeat('word ', 100), 200),
  'a call has the beginning of its arguments, texts first'
) from public.task_steps as step where seq = 2 and task_id = (select id from job);
update public.task_steps set output = output || '{"finish_reason": "length"}'
where seq = 1 and task_id = (select id from job);
select tests.act_as_user('owner');
select is(error_code, 'MODEL_OUTPUT_CUT', 'an answer that was cut has a code')
from public.read_trace((select id from job)) where seq = 1;
select tests.act_as_nobody();
select * from finish();
rollback;
