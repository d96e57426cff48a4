begin;
set local search_path = public, extensions;
select plan(9);
select tests.create_user('owner'), tests.create_agent('worker-agent');
insert into public.tools (name, slug, type, config) values ('a', 'tool-a', 'mcp_server', '{"mcp_url": "https://a.example"}'), ('b', 'tool-b', 'mcp_server', '{"mcp_url": "https://b.example"}');
insert into public.agent_tools (agent_id, tool_id) select tests.create_agent('worker-agent'), id from public.tools where slug = 'tool-a';

create function pg_temp.job(p_changes jsonb) returns uuid language sql
  as $$ select task_id from private.create_task(p_agent => 'worker-agent', p_input => '"Go"', p_created_by => tests.user_id('owner'), p_agent_changes => p_changes) $$;
create function pg_temp.tools(p_task uuid) returns text language sql
  as $$ select string_agg(tool.slug || coalesce(':' || array_to_string(own.allowed_tools, '+'), ''), ' ' order by tool.slug)
    from private.tools_of_agent(tests.create_agent('worker-agent'), p_task) as own join public.tools as tool on tool.id = own.tool_id $$;

select is(pg_temp.tools(null), 'tool-a', 'outside tasks an agent has its own tools');
select is(pg_temp.tools(pg_temp.job(null)), 'tool-a', 'a job without changes has them too');
select is(pg_temp.tools(pg_temp.job('{"prompt": "Be brief."}')), 'tool-a', 'and one that changes something else');
select is(pg_temp.tools(pg_temp.job('{"tools": [{"tool": "tool-b", "allowed_tools": ["read", "list"]}]}')), 'tool-b:read+list',
  'a job that changes the tools has those');
select is(pg_temp.tools(pg_temp.job('{"tools": []}')), null, 'or none');
select is(tests.code_of($$select pg_temp.job('{"tools": [{"tool": "tool-c"}]}')$$), 'TOOL_NOT_FOUND', 'an unknown tool is refused');
select is(tests.code_of($$select pg_temp.job('{"tools": [{"tool": "tool-a"}, {"tool": "tool-a"}]}')$$), 'AGENT_CHANGES_INVALID', 'as is one that is listed twice');
select is(tests.code_of($$select pg_temp.job('{"tools": "tool-a"}')$$), 'AGENT_CHANGES_INVALID', 'a text');
select is(tests.code_of($$select pg_temp.job('{"reasoning_effort": "hard"}')$$), 'AGENT_CHANGES_INVALID', 'and an effort that no agent has');

select * from finish();
rollback;
