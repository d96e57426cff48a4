begin;
set local search_path = public, extensions;
select plan(4);

create temp table made on commit drop as select tests.create_task() as id;
select tests.claim((select id from made));
select private.record_steps((select id from made), tests.epoch_of((select id from made)), 30, '[
  {"seq": 1, "kind": "model", "state": "done", "output": {"text": "\n One, ", "finish_reason": "length", "tool_calls": []}},
  {"seq": 2, "kind": "model", "state": "done", "input": {"continues": 1}, "output": {"text": "two, ", "finish_reason": "length", "tool_calls": []}},
  {"seq": 3, "kind": "model", "state": "done", "input": {"continues": 2}, "output": {"text": "three.\n", "finish_reason": "stop", "tool_calls": []}},
  {"seq": 4, "kind": "user", "state": "done", "input": "Again"},
  {"seq": 5, "kind": "model", "state": "done", "output": {"text": "Four", "finish_reason": "length", "tool_calls": []}},
  {"seq": 6, "kind": "model", "state": "done", "input": {"continues": 5}, "output": {"text": "", "finish_reason": "tool_calls", "tool_calls": [
    {"call_id": "a", "name": "complete_task", "arguments": {"output": "Five"}}]}},
  {"seq": 8, "kind": "user", "state": "done", "input": "Again"},
  {"seq": 9, "kind": "model", "state": "done", "output": {"text": " \n", "finish_reason": "stop", "tool_calls": []}}]');

select is(private.answer_in_transcript((select id from made), 0, 4), 'One, two, three.', 'all parts are the answer, without white space around it');
select is(private.answer_in_transcript((select id from made), 0, 3), 'One, two,', 'also one that stays cut');
select is(private.answer_in_transcript((select id from made), 4, 8), 'Five', 'an output is whole');
select is(private.answer_in_transcript((select id from made), 8, 10), null, 'white space is no answer');

select * from finish();
rollback;
