begin;
set local search_path = public, extensions;
select plan(16);

create temp table made on commit drop as select tests.create_task() as id;
grant select on made to authenticated;
select tests.claim((select id from made));
select private.record_steps((select id from made), tests.epoch_of((select id from made)), 30, '[
  {"seq": 1, "kind": "model", "state": "done", "output": {"text": "", "finish_reason": "tool_calls",
    "provider_data": {"parts": [1]}, "tool_calls": [
      {"call_id": "a", "name": "search", "arguments": {"q": "old"}},
      {"call_id": "b", "name": "request_human_review", "arguments": {"question": "May I?"}},
      {"call_id": "c", "name": "create_subtask", "arguments": {"agent": "worker-agent", "input": "x"}},
      {"call_id": "d", "name": "save_intermediate_data", "arguments": {"key": "k", "value": 1}}]}},
  {"seq": 2, "kind": "tool", "name": "search", "call_id": "a", "state": "done",
    "input": {"server": "web", "arguments": {"q": "old"}}, "output": {"text": "old result", "is_error": false, "execution_id": "e"}},
  {"seq": 3, "kind": "system", "name": "request_human_review", "call_id": "b", "state": "done",
    "input": {"arguments": {"question": "May I?"}}, "output": {"approved": false, "response": {}, "comments": null}},
  {"seq": 4, "kind": "system", "name": "create_subtask", "call_id": "c", "state": "done",
    "input": {"arguments": {"agent": "worker-agent", "input": "x"}}, "output": {"agent": "worker-agent", "status": "completed", "output": 1}},
  {"seq": 5, "kind": "system", "name": "save_intermediate_data", "call_id": "d", "state": "done",
    "input": {"arguments": {"key": "k", "value": 1}}, "output": {"key": "k"}},
  {"seq": 6, "kind": "model", "state": "done", "output": {"text": "b", "tool_calls": [], "finish_reason": "stop"}}]');
select private.finish_task((select id from made), tests.epoch_of((select id from made)), '{}');
create function pg_temp.fork(p_seq int, p_changes jsonb) returns uuid language sql
  as $$ select public.fork_task((select id from made), p_seq, p_changes) $$;
create function pg_temp.step(p_fork uuid, p_seq int) returns public.task_steps language sql
  as $$ select step from public.task_steps as step where task_id = p_fork and seq = p_seq $$;

select tests.act_as_user('owner');
create temp table fork on commit drop as
  select 'input' as change, pg_temp.fork(1, '{"input": {"question": "Other?"}}') as id
  union all select 'arguments', pg_temp.fork(2, '{"arguments": {"q": "new"}}')
  union all select 'answer', pg_temp.fork(2, '{"answer": "new result"}')
  union all select 'review', pg_temp.fork(3, '{"answer": {"approved": true, "comments": "Go on"}}')
  union all select 'subtask', pg_temp.fork(4, '{"answer": {"sum": 2}}')
  union all select 'both', pg_temp.fork(2, '{"arguments": {"q": "new"}, "answer": [1]}')
  union all select 'nothing', pg_temp.fork(3, '{}');
create function pg_temp.of(p_change text) returns uuid language sql as $$ select id from fork where change = p_change $$;

select is((select input from public.tasks where id = pg_temp.of('input')), '{"question": "Other?"}'::jsonb, 'the fork has the changed input');
select is(
  (select input from public.tasks where id = (select id from made)), '{"question": "?"}'::jsonb, 'the first job keeps its own input'
);
select is(
  (pg_temp.step(pg_temp.of('arguments'), 1)).output #> '{tool_calls,0}',
  '{"call_id": "a", "name": "search", "arguments": {"q": "new"}}'::jsonb,
  'the model''s answer contains the changed arguments, so the call uses them'
);
select is(
  (pg_temp.step(pg_temp.of('arguments'), 1)).output ? 'provider_data', false, 'the provider''s copy, which would contradict them, is removed'
);
select is((pg_temp.step(pg_temp.of('arguments'), 2)).seq, null, 'the call has not been made');
select is(
  (pg_temp.step(pg_temp.of('answer'), 2)).output, '{"text": "new result", "is_error": false, "execution_id": null}'::jsonb,
  'the changed answer is the call''s result'
);
select is((pg_temp.step(pg_temp.of('answer'), 3)).seq, null, 'the later calls are made again');
select is(
  (pg_temp.step(pg_temp.of('review'), 3)).output, '{"approved": true, "response": {}, "comments": "Go on"}'::jsonb,
  'a review takes a person''s answer'
);
select is(
  (pg_temp.step(pg_temp.of('subtask'), 4)).output,
  '{"agent": "worker-agent", "status": "completed", "output": {"sum": 2}}'::jsonb, 'a subtask takes its output'
);
select is(
  jsonb_build_array((pg_temp.step(pg_temp.of('both'), 2)).input -> 'arguments', (pg_temp.step(pg_temp.of('both'), 2)).output ->> 'text'),
  jsonb_build_array('{"q": "new"}'::jsonb, '[1]'::text), 'arguments and answer can change together'
);
select is(
  (select payload -> 'changes' from public.task_events where task_id = pg_temp.of('both') and type = 'task.created'),
  '["answer", "arguments"]'::jsonb, 'the trace names the changes'
);
select is(
  (select count(*) from public.task_steps where task_id = pg_temp.of('nothing')), 2::bigint, 'a fork without changes copies the steps'
);
select results_eq(
  $$select bad.seq, bad.changes from (values
      (2, '[]'::jsonb), (2, '{"output": 1}'), (2, '{"arguments": [1]}'), (1, '{"answer": "x"}'), (6, '{"answer": "x"}'),
      (1, '{"arguments": {}}'), (3, '{"answer": "yes"}'), (5, '{"answer": 1}')
    ) as bad (seq, changes)
    where tests.code_of(format('select public.fork_task(%L, %s, %L)', (select id from made), bad.seq, bad.changes))
      <> 'FORK_CHANGES_INVALID'$$,
  'select null::int, null::jsonb where false',
  'changes that are not possible are refused'
);
select is(
  tests.code_of(format($$select public.fork_task(%L, 1, '{"input": ""}')$$, (select id from made))), 'TASK_INPUT_INVALID',
  'an input must be an object or text'
);
select is((select count(*) from public.tasks where parent_id is null), 8::bigint, 'refused forks leave no job');
select tests.act_as_nobody();
select tests.create_user('stranger');
select tests.act_as_user('stranger');
select is(
  tests.code_of(format($$select public.fork_task(%L, 1, '{"input": "mine"}')$$, (select id from made))), 'TASK_NOT_FOUND',
  'a stranger cannot fork'
);
select tests.act_as_nobody();
select * from finish();
rollback;
