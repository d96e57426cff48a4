begin;
set local search_path = public, extensions;
select plan(5);
create temp table job on commit drop as select tests.create_task() as id;
grant select on job to authenticated;
select private.record_steps(id, tests.claim(id), 30, '[
  {"seq": 1, "kind": "model", "state": "done", "name": "m", "output": {"text": "", "tool_calls": []},
   "usage": {"model": "priced", "key_source": "none", "input_tokens": 3, "output_tokens": 1}},
  {"seq": 2, "kind": "tool", "state": "failed", "name": "search", "call_id": "c1",
   "input": {"server": "web", "arguments": {"q": "secret question"}},
   "output": {"text": "secret answer", "is_error": true, "error_code": "TOOL_TIMEOUT"}}]',
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
select unalike(
  (select string_agg(to_jsonb(step)::text, '') from public.read_trace((select id from job)) as step), '%secret%',
  'neither input nor output is included'
);
select tests.act_as_user('stranger');
select is(tests.code_of(format('select * from public.read_trace(%L)', (select id from job))), 'TASK_NOT_FOUND', 'a stranger reads nothing');

select tests.act_as_nobody();
select * from finish();
rollback;
