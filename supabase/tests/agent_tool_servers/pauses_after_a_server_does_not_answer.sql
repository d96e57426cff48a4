begin;
set local search_path = public, extensions;
select plan(7);

insert into public.tools (name, slug, type, config) values ('hole', 'hole', 'mcp_server', '{"mcp_url": "http://127.0.0.1:1/mcp"}');
insert into public.agent_tools (agent_id, tool_id)
select tests.create_agent('worker-agent'), id from public.tools where slug = 'hole';
create function pg_temp.is_due() returns boolean language sql as $$
  select is_due from private.agent_tool_servers(tests.create_agent('worker-agent'), null, 600)
$$;
create function pg_temp.fail(p_is_unreachable boolean) returns void language sql as $$
  select private.fail_listing(
    (select (server #>> '{connection,id}')::uuid
      from private.agent_tool_servers(tests.create_agent('worker-agent'), null, 600)),
    '{"code": "TOOL_TIMEOUT", "message": "no answer"}', p_is_unreachable)
$$;

select ok(pg_temp.is_due(), 'a new server is listed');
select pg_temp.fail(false);
select ok(pg_temp.is_due(), 'it is listed again immediately after a failure that came quickly');
select pg_temp.fail(true);
select ok(not pg_temp.is_due(), 'a server that did not answer is not listed again immediately');
update public.agent_mcp_connections set listing_failed_at = now() - interval '61 seconds';
select ok(pg_temp.is_due(), 'it is listed again after the pause');

select pg_temp.fail(true);
update public.tools set config = '{"mcp_url": "http://127.0.0.1:2/mcp"}' where slug = 'hole';
select ok(pg_temp.is_due(), 'it is listed immediately when an operator changes its row');

create temp table made on commit drop as select tests.create_task() as id;
select private.report_absent_tools((select id from made), '[{"server": "hole", "code": "TOOL_TIMEOUT", "message": "no answer"}]')
from generate_series(1, 2);
select is(
  (select payload from public.task_events where type = 'tool.failed'),
  '{"server": "hole", "error_code": "TOOL_TIMEOUT", "text": "no answer"}'::jsonb, 'the trace reports the unavailable server once'
);
select private.report_absent_tools((select id from made), '[{"server": "other", "code": "TOOL_TIMEOUT", "message": "no answer"}]');
select is((select count(*) from public.task_events where type = 'tool.failed')::int, 2, 'each unavailable server is reported');

select * from finish();
rollback;
