begin;
set local search_path = public, extensions;
select plan(4);

insert into tools (slug, name, type, config) values ('many', 'many', 'internal', '{"server": "many"}');
create temp table connection on commit drop as
  select private.ensure_connection((select id from tools where slug = 'many'), null) as id;
create function pg_temp.tool(p_name text, p_version text) returns jsonb language sql as $$
  select jsonb_build_object('name', p_name, 'version', p_version, 'schema', '{}'::jsonb,
    'openai_schema', '{}'::jsonb, 'hash', coalesce(p_name || p_version, p_name), 'scopes', '[]'::jsonb)
$$;

select is(private.record_tools((select id from connection), jsonb_build_object('is_remote', false, 'tools', jsonb_build_array(
  pg_temp.tool('ask', '9'), pg_temp.tool('ask', '10'), pg_temp.tool('ask', '2'), pg_temp.tool('tell', null)))),
  2, 'several versions of a tool are one row');
select results_eq(
  'select tool_name, tool_version from mcp_tools_cache order by tool_name',
  $$values ('ask', '10'), ('tell', null)$$, 'the row is that of the newest version, by number');

create function pg_temp.begin_call(p_name text) returns jsonb language sql as $$
  select private.begin_tool_call(jsonb_build_object('server', 'many', 'tool_name', p_name, 'is_charged', false,
    'caller', jsonb_build_object('is_service', true)))
$$;
insert into mcp_policies (mcp_name, tool_name, is_allowed) values ('many', 'ask', false);
select results_eq(
  $$select name, pg_temp.begin_call(name) -> 'is_allowed' from unnest(array['ask', 'ask@10', 'ask_v10', 'ask@9', 'ask_v9']) as name$$,
  $$select name, 'false'::jsonb from unnest(array['ask', 'ask@10', 'ask_v10', 'ask@9', 'ask_v9']) as name$$,
  'a policy for the tool applies under each of its names');
select is(pg_temp.begin_call('tell_v1') -> 'cached', 'null'::jsonb, 'a tool without a version has no other name');

select * from finish();
rollback;
