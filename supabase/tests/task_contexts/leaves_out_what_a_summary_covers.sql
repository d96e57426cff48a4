begin;
set local search_path = public, extensions;
select plan(12);

create temp table made on commit drop as select tests.create_task() as id;
select tests.claim((select id from made));
-- Turns of an answer and a call. The second one returns a result that does not fit; the other calls succeed.
insert into public.task_steps (task_id, seq, kind, state, name, call_id, input, output, epoch, ended_at)
select id, seq, kind, case when seq in (4, 14) then 'failed' else 'done' end, case when kind <> 'model' then call end,
  case when kind <> 'model' then 'c' || seq end,
  case when kind <> 'model' then jsonb_build_object('server', 'desk', 'model_name', call, 'arguments', '{"at": 1}'::jsonb) end,
  case
    when kind = 'model' then jsonb_build_object('text', '', 'tool_calls', jsonb_build_array(jsonb_build_object('name', call)))
    when seq = 4 then '{"text": "It does not fit", "error_code": "OUTPUT_SCHEMA_MISMATCH"}'
    when seq = 14 then '{"text": "Not found", "error_code": "TOOL_FAILED"}'
    else jsonb_build_object('text', 'result ' || seq)
  end, 1, now()
from made, generate_series(1, 18) as seq,
  lateral (select case seq when 3 then 'complete_task' when 4 then 'complete_task' else 'look' end as call) as called,
  lateral (select case when seq % 2 = 1 then 'model' when seq = 4 then 'system' else 'tool' end as kind) as done;
create function pg_temp.context() returns jsonb language sql as $$
  select context::jsonb from private.task_contexts(
    array(select task from public.tasks as task where task.id = (select id from made))
  )
$$;
create function pg_temp.sent() returns int[] language sql as $$
  select array_agg((step -> 'seq')::int order by place)
  from jsonb_array_elements(pg_temp.context() -> 'steps') with ordinality as step (step, place)
$$;
create function pg_temp.step(p_seq int) returns jsonb language sql as $$
  select step from jsonb_array_elements(pg_temp.context() -> 'steps') as step where (step -> 'seq')::int = p_seq
$$;

select is(pg_temp.sent(), array(select generate_series(1, 18)), 'without a summary all steps are sent');
select is(pg_temp.context() -> 'unsent_turns', '0', 'and no turn is missing');

insert into public.task_steps (task_id, seq, kind, state, input, epoch)
select id, 19, 'model', 'started', '{"summarizes_through": 16}', 1 from made;
select is(array_length(pg_temp.sent(), 1), 19, 'a summary that has not ended covers nothing');

update public.task_steps set state = 'done', output = '{"text": "All fine", "tool_calls": []}', ended_at = now()
where task_id = (select id from made) and seq = 19;
select is(
  pg_temp.sent(), array[2, 3, 4] || array(select generate_series(7, 19)),
  'of covered steps: the last five turns, returned results, failures, and the first success of a tool'
);
select is(pg_temp.context() -> 'unsent_turns', '2', 'the other turns are counted');
select is(
  pg_temp.step(16) #- '{call_id}',
  '{"seq": 16, "kind": "tool", "state": "done", "name": "look", "input": {"server": "desk", "model_name": "look"}, "output": null}',
  'without arguments and result'
);
select is(pg_temp.step(4) -> 'output', '{"error_code": "OUTPUT_SCHEMA_MISMATCH"}', 'of an older error only its code');
select is(pg_temp.step(14) #>> '{output,text}', 'Not found', 'of one in the last five turns also its text, which may be repeated');
select is(pg_temp.step(18) #>> '{output,text}', 'result 18', 'later steps are complete');

update public.task_steps set input = '{"retried": true}' where task_id = (select id from made) and seq = 1;
select is(pg_temp.sent(), array[1, 2, 3, 4] || array(select generate_series(7, 19)), 'an answer after which the task was retried is sent');
select is(pg_temp.context() -> 'unsent_turns', '1', 'and no turn up to it is counted');

insert into public.task_steps (task_id, seq, kind, state, input, output, epoch, ended_at)
select id, 20, 'user', 'done', '"Go on"', '{}', 1, now() from made;
select is(pg_temp.context() -> 'unsent_turns', '0', 'only turns of the current run are counted');

select * from finish();
rollback;
