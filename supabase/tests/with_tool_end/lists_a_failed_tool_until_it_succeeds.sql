begin;
set local search_path = public, extensions;
select plan(5);

create function pg_temp.step(p_seq int, p_state text, p_name text default 'find') returns jsonb language sql as $$
  select jsonb_build_object('seq', p_seq, 'state', p_state, 'name', p_name, 'kind', 'tool', 'input', '{"server": "crm"}'::jsonb,
    'output', jsonb_build_object('error_code', 'INSUFFICIENT_SCOPE', 'text', 'no'));
$$;

select is(private.with_tool_end('[]', pg_temp.step(2, 'failed')),
  '[{"server": "crm", "tool": "find", "code": "INSUFFICIENT_SCOPE", "message": "no", "step_seq": 2}]', 'a failure is listed');
select is(private.with_tool_end(private.with_tool_end('[]', pg_temp.step(2, 'failed')), pg_temp.step(4, 'failed')) #>> '{0,step_seq}', '4', 'the last one of a tool');
select is(private.with_tool_end(private.with_tool_end('[]', pg_temp.step(2, 'failed')), pg_temp.step(4, 'done')), '[]', 'a success ends it');
select is(jsonb_array_length(private.with_tool_end(private.with_tool_end('[]', pg_temp.step(2, 'failed')), pg_temp.step(4, 'done', 'other'))), 1, 'the success of another tool does not');
select is(private.with_tool_end('[{"server": "crm", "code": "TOOL_UNAVAILABLE"}]', pg_temp.step(4, 'done')), '[]', 'a server that answers is available');

select * from finish();
rollback;
