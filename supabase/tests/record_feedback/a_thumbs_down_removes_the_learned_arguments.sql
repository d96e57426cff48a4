begin;
set local search_path = public, extensions;
select plan(4);

select tests.create_user('owner');
insert into public.tools (id, slug, name, type, config)
values (md5('tool')::uuid, 'notes-test', 'Notes test', 'mcp_server', '{"mcp_url": "https://notes.example"}');
insert into public.agent_mcp_connections (id, tool_id, user_id, config_hash)
values (md5('connection')::uuid, md5('tool')::uuid, tests.user_id('owner'), 'hash');
insert into public.mcp_tools_cache (connection_id, tool_name, tool_schema, openai_schema, successful_parameters, success_count)
values (md5('connection')::uuid, 'search', '{"inputSchema": {}}', '{}', '[{"q": "good"}, {"q": "bad"}]', 2);
insert into public.mcp_executions (feedback_token, mcp_name, tool_name, tool_id, user_id, request_data, execution_time_ms, status)
values (md5('token')::uuid, 'notes-test', 'search', md5('tool')::uuid, tests.user_id('owner'), '{"q": "bad"}', 1, 'success');

create function pg_temp.grade(p_rating text, p_score int default null)
returns jsonb language sql as $$
  select private.record_feedback(tests.user_id('owner'), md5('token')::uuid, p_rating, p_score, null)
$$;
create function pg_temp.learned()
returns jsonb language sql as $$ select successful_parameters from public.mcp_tools_cache where tool_name = 'search' $$;

select pg_temp.grade('up');
select is(pg_temp.learned(), '[{"q": "good"}, {"q": "bad"}]'::jsonb, 'a thumbs up changes nothing');
select pg_temp.grade('down');
select is(pg_temp.learned(), '[{"q": "good"}]'::jsonb, 'a thumbs down removes only that set');

update public.mcp_tools_cache set successful_parameters = '[{"q": "bad"}]' where tool_name = 'search';
select pg_temp.grade(null, 1);
select is(pg_temp.learned(), '[{"q": "bad"}]'::jsonb, 'a set that works again is not removed by an additional comment');
select pg_temp.grade('up'), pg_temp.grade('down');
select is(pg_temp.learned(), '[]'::jsonb, 'a new thumbs down removes it');

select * from finish();
rollback;
