begin;
set local search_path = public, extensions;
select plan(13);
create temp table job on commit drop as select tests.create_task() as id;
grant select on job to authenticated;
update public.tasks set input = '{"prompt": "Compare the harbors"}' where id = (select id from job);
select private.record_steps(id, tests.claim(id), 30, '[
  {"seq": 1, "kind": "model", "state": "done", "name": "m", "output": {"text": "I look it up.", "reasoning": "Cranes first", "tool_calls": []}},
  {"seq": 2, "kind": "tool", "state": "done", "name": "orders", "call_id": "c1",
   "input": {"server": "shop", "arguments": {"country": "DE"}},
   "output": {"text": "{\"orders\": [{\"order\": \"O-9001\", \"placed_by\": \"Ada\\nLovelace\"}]}", "structured": {"weight_kg": 7}}},
  {"seq": 3, "kind": "tool", "state": "failed", "name": "search", "call_id": "c2",
   "input": {"server": "web", "arguments": {"q": "x"}},
   "output": {"text": "Connection refused", "is_error": true, "error_code": "TOOL_UNAVAILABLE"}}]', '[]')
from job;
select tests.create_task();

select tests.act_as_user('owner');
create function pg_temp.found(p_text text) returns text language sql as $$
  select string_agg(seq::text, ',' order by seq) from public.search_trace((select id from job), p_text);
$$;
select is(pg_temp.found('o-9001'), '2', 'the result of a tool is searched, in any case');
select is(pg_temp.found('"order": "O-9001"'), '2', 'also with its quotes');
select is(pg_temp.found('Ada\nLovelace'), '2', 'and with its escapes');
select is(pg_temp.found('weight_kg'), '2', 'as are the names in a structured result');
select is(pg_temp.found('"country": "de"'), '2', 'and the arguments');
select is(pg_temp.found('cranes'), '1', 'the reasoning of an answer is searched');
select is(pg_temp.found('connection refused'), '3', 'the text of an error is searched');
select is(pg_temp.found('TOOL_UNAVAILABLE'), '3', 'and its code');
select is(pg_temp.found('harbors'), '0', 'the input of the task itself is found as 0');
select is(pg_temp.found('is_error'), null, 'names that every step has match nothing');
select results_eq(
  $$select seq from public.search_trace((select id from job), 'o',
    (select to_jsonb(page) from public.search_trace((select id from job), 'o', null, 2) as page order by seq desc limit 1))$$,
  'values (2), (3)', 'the next page begins after the last row'
);
select is(
  tests.code_of(format('select * from public.search_trace(%L, %L)', (select id from job), repeat('x', 201))),
  'QUERY_INVALID', 'the text is bounded'
);
select tests.act_as_user('stranger');
select is(
  tests.code_of(format('select * from public.search_trace(%L, ''o'')', (select id from job))), 'TASK_NOT_FOUND',
  'a stranger finds nothing'
);
select tests.act_as_nobody();
select * from finish();
rollback;
