begin;
set local search_path = public, extensions;
select plan(6);

create temp table made on commit drop as select tests.create_task() as id;
create temp table held on commit drop as select tests.claim((select id from made)) as epoch;
create function pg_temp.output_of(p_seq int, p_epochs_ago int default 0)
returns jsonb
language sql
as $$
  select output from private.read_result((select id from made), (select epoch - p_epochs_ago from held), p_seq)
$$;
select private.record_steps((select id from made), (select epoch from held), 30,
  '[{"seq": 1, "kind": "model", "state": "done", "output": {"text": "", "tool_calls": []}},
    {"seq": 2, "kind": "tool", "state": "done", "name": "look", "call_id": "c2", "output": {"text": "seen"}},
    {"seq": 3, "kind": "system", "state": "done", "name": "load_skill", "call_id": "c3",
     "input": {"arguments": {"skill_id": "pricing"}}, "output": {"text": "secret", "skill_id": "pricing"}}]',
  '[{"seq": 4, "kind": "tool", "name": "look", "call_id": "c4"}]');

select is(pg_temp.output_of(2), '{"text": "seen"}', 'the result of a call is read');
select is(pg_temp.output_of(3), '{"skill_id": "pricing"}', 'of a skill only what its owner may read');
select is(pg_temp.output_of(1), null, 'an answer of the model is not the result of a call');
select is(pg_temp.output_of(4), null, 'a started call has no result');
select is(pg_temp.output_of(9), null, 'nor has a step that does not exist');
select throws_ok('select pg_temp.output_of(2, 1)', 'PT409', null, 'a worker without the lease reads nothing');

select * from finish();
rollback;
