begin;
set local search_path = public, extensions;
select plan(8);

insert into public.tools (name, slug, type, config) values ('notes', 'notes', 'mcp_server', '{"mcp_url": "http://127.0.0.1:1/mcp"}');
insert into public.mcp_policies (mcp_name, calls_per_minute, burst_calls) values ('notes', 1, 1);
select tests.create_user('ada');
create function pg_temp.load(p_tool text, p_max_age_seconds int default null, p_is_charged boolean default true)
returns jsonb language sql as $$
  select private.begin_tool_call(jsonb_build_object(
    'server', 'notes', 'tool_name', p_tool, 'is_charged', p_is_charged, 'max_age_seconds', p_max_age_seconds,
    'caller', jsonb_build_object('user_id', tests.user_id('ada'), 'is_service', false)))
$$;
create function pg_temp.calls_left() returns int language sql as $$
  select count(*)::int from private.tool_call_allowances
$$;

select is(pg_temp.load('search') -> 'tool_names', '[]'::jsonb, 'a server that was never listed has no tool names');
select private.record_tools(
  (pg_temp.load('search', p_is_charged => false) #>> '{connection,id}')::uuid,
  '{"tools": [{"name": "search", "version": "2", "schema": {"name": "search", "inputSchema": {}}, "openai_schema": {}, "hash": "h", "scopes": []}], "dropped": [], "is_remote": false, "holds_new": false}');
select is(pg_temp.load('serach') -> 'tool_names', '["search"]'::jsonb, 'an unknown name returns the list of existing names');
select is(pg_temp.calls_left(), 0, 'neither call is charged');

update public.agent_mcp_connections set tools_listed_at = now() - interval '11 minutes';
select is(pg_temp.load('search', 600) -> 'is_due', 'true'::jsonb, 'an old list is reported');
select is(pg_temp.calls_left(), 0, 'that call is not charged, because it is repeated with a new list');

select is(pg_temp.load('search_v2') #>> '{cached,name}', 'search', 'a catalog key resolves to its tool');
select is(pg_temp.load('search') -> 'retry_after_ms' > '0'::jsonb, true, 'a call above the limit has to wait');
select is(
  pg_temp.load('search', p_is_charged => false) -> 'retry_after_ms', '0'::jsonb, 'a call that is not charged does not wait');

select * from finish();
rollback;
