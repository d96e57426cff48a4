begin;
set local search_path = public, extensions;
select plan(4);

create temp table made on commit drop as select tests.create_task() as id;
grant select on made to authenticated;
select tests.claim((select id from made));
select private.record_steps((select id from made), tests.epoch_of((select id from made)), 30, '[
  {"seq": 1, "kind": "model", "state": "done", "output": {"text": "", "finish_reason": "length", "cut_at_tokens": 9,
    "tool_calls": [
      {"call_id": "a", "name": "read", "arguments": {}}, {"call_id": "b", "name": "pay", "arguments": {}},
      {"call_id": "c", "name": "pay", "arguments": {}}]}},
  {"seq": 2, "kind": "tool", "name": "read", "call_id": "a", "state": "failed", "output": {"error_code": "MODEL_OUTPUT_CUT", "text": "cut"}},
  {"seq": 3, "kind": "tool", "name": "pay", "call_id": "b", "state": "failed", "output": {"error_code": "MODEL_OUTPUT_CUT", "text": "cut"}},
  {"seq": 4, "kind": "tool", "name": "pay", "call_id": "c", "state": "failed", "output": {"error_code": "MODEL_OUTPUT_CUT", "text": "cut"}},
  {"seq": 5, "kind": "model", "state": "done", "output": {"text": "b", "tool_calls": [], "finish_reason": "stop"}}]');
select private.finish_task((select id from made), tests.epoch_of((select id from made)), '{}');

select tests.act_as_user('owner');
create temp table fork on commit drop as
  select public.fork_task((select id from made), 3, '{"arguments": {"amount": 5}}') as id;
create temp table unchanged on commit drop as select public.fork_task((select id from made), 3) as id;
select is(output ->> 'finish_reason', 'tool_calls', 'the turn is whole with the arguments of a person')
from public.task_steps where task_id = (select id from fork) and seq = 1;
select is(output -> 'tool_calls',
  '[{"call_id": "a", "name": "read", "arguments": {}}, {"call_id": "b", "name": "pay", "arguments": {"amount": 5}}]',
  'without the call after it, which is not')
from public.task_steps where task_id = (select id from fork) and seq = 1;
select is(output ? 'cut_at_tokens', false, 'and without its limit')
from public.task_steps where task_id = (select id from fork) and seq = 1;
select is(output ->> 'finish_reason', 'length', 'a fork without changes keeps the turn as it was')
from public.task_steps where task_id = (select id from unchanged) and seq = 1;
select tests.act_as_nobody();

select * from finish();
rollback;
