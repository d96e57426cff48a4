begin;
set local search_path = public, extensions;
select plan(5);

create temp table made on commit drop as select tests.create_task() as id;
select tests.claim(id) from made;
create function pg_temp.record(p_task_id uuid, p_text text, p_failure jsonb default null) returns mcp_executions language plpgsql as $$
declare
  v_execution mcp_executions;
begin
  perform private.record_execution(jsonb_build_object(
    'id', gen_random_uuid(), 'feedback_token', gen_random_uuid(), 'mcp_name', 'desk', 'tool_name', 'look',
    'user_id', tests.user_id('owner'), 'task_id', p_task_id, 'step_seq', case when p_task_id is not null then 2 end,
    'attempt', 1, 'execution_time_ms', 1, 'request_data', '{}'::jsonb, 'model_uses', '[]'::jsonb,
    'response_data', jsonb_build_object('text', p_text), 'failure', p_failure,
    'status', case when p_failure is null then 'success' else 'error' end,
    'error_message', case when p_failure is not null then 'It failed.' end));
  select * into v_execution from mcp_executions order by created_at desc limit 1;
  return v_execution;
end;
$$;

create temp table long on commit drop as select called.* from made, pg_temp.record(id, repeat('word ', 100)) as called;
select is(
  (select response_data from long), '{"stored_in": "task_steps", "characters": 512}',
  'the ledger names the step of a long result'
);
select is(
  (select response_data from made, pg_temp.record(id, 'It is 7.')), '{"text": "It is 7."}', 'it stores a short one'
);
select is(
  (select length(response_data ->> 'text') from pg_temp.record(null, repeat('word ', 100))), 500,
  'it stores the result of a call outside tasks'
);
select is(
  (select length(response_data ->> 'text') from made, pg_temp.record(id, repeat('word ', 100), '{"error_type": "tool_error"}')),
  500, 'it stores a failure, because the step may have the result of the next attempt'
);
select private.record_steps(id, tests.epoch_of(id), 30, jsonb_build_array(jsonb_build_object(
  'seq', 2, 'kind', 'tool', 'state', 'done', 'name', 'look', 'call_id', 'c1',
  'output', jsonb_build_object('text', repeat('word ', 100)))))
from made;
select is(
  (select length(private.response_of_call(called) ->> 'text') from mcp_executions as called join long using (id)), 500,
  'the result is read from the step'
);

select * from finish();
rollback;
