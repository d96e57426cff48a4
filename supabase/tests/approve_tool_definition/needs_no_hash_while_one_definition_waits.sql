begin;
set local search_path = public, extensions;
select plan(3);

insert into public.tools (name, slug, type, config) values ('files', 'files', 'mcp_server', '{"mcp_url": "https://tools.example"}');
create temp table connection on commit drop as
  select private.ensure_connection((select id from public.tools where slug = 'files'), null) as id;
create function pg_temp.list(p_words text) returns int language sql as $$
  select private.record_tools((select id from connection), jsonb_build_object(
    'is_remote', true, 'holds_new', false, 'tools', jsonb_build_array(jsonb_build_object(
      'name', 'read', 'openai_schema', '{}'::jsonb, 'hash', p_words,
      'schema', jsonb_build_object('name', 'read', 'description', p_words, 'inputSchema', '{}'::jsonb)))));
$$;
select pg_temp.list('first');
select pg_temp.list('changed');

select is((select state from public.mcp_tools_cache where connection_id = (select id from connection)), 'quarantined', 'one definition waits');
select is(public.approve_tool_definition((select id from connection), 'read'), 'approved', 'a call with two arguments approves the only pending definition');
select is((select tool_schema ->> 'description' from public.mcp_tools_cache
  where connection_id = (select id from connection)), 'changed', 'the connection gets the new definition');

select * from finish();
rollback;
