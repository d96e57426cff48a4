begin;
set local search_path = public, extensions;
select plan(12);

select tests.create_user('owner'), tests.create_user('other');
insert into public.tools (name, slug, type, config) values ('files', 'files', 'mcp_server', '{"mcp_url": "https://tools.example"}');
create temp table connection on commit drop as
  select person.name, private.ensure_connection((select id from public.tools where slug = 'files'), person.user_id) as id
  from (values ('owner', tests.user_id('owner')), ('other', tests.user_id('other'))) as person (name, user_id);
create function pg_temp.list(p_name text, p_words text) returns int language sql as $$
  select private.record_tools((select id from connection where name = p_name), jsonb_build_object(
    'is_remote', true, 'holds_new', false, 'tools', jsonb_build_array(jsonb_build_object(
      'name', 'read', 'openai_schema', '{}'::jsonb, 'hash', p_words,
      'schema', jsonb_build_object('name', 'read', 'description', p_words, 'inputSchema', '{}'::jsonb)))));
$$;
create function pg_temp.state(p_name text) returns text language sql as $$
  select state from public.mcp_tools_cache where connection_id = (select id from connection where name = p_name);
$$;

select pg_temp.list('owner', 'first');
select is(pg_temp.state('owner'), 'approved', 'the first definition seen is approved');
select pg_temp.list('other', 'changed');
select is(pg_temp.state('other'), 'quarantined', 'a different definition is quarantined for every user');
select pg_temp.list('owner', 'changed');
select is(pg_temp.state('owner'), 'quarantined', 'it is also quarantined for the user who saw the first one');
select is((select tool_schema ->> 'description' from public.mcp_tools_cache
  where connection_id = (select id from connection where name = 'owner')), 'first', 'that user keeps the approved definition');

select pg_temp.list('other', 'changed again');
select is(tests.code_of($$select public.approve_tool_definition((select id from connection where name = 'other'), 'read', 'changed')$$),
  'TOOL_DEFINITION_CHANGED', 'a definition that changed since it was read is not approved');
select is(pg_temp.state('other'), 'quarantined', 'it stays quarantined');
select pg_temp.list('other', 'changed');
select is(public.approve_tool_definition((select id from connection where name = 'other'), 'read', 'changed'), 'approved', 'the call returns the new state');
select is(pg_temp.state('owner'), 'approved', 'the definition is approved for everyone');
select is((select tool_schema ->> 'description' from public.mcp_tools_cache
  where connection_id = (select id from connection where name = 'owner')), 'changed', 'that user gets the new definition');
select is(public.approve_tool_definition((select id from connection where name = 'other'), 'read', 'changed'), 'approved', 'a repeated approval changes nothing');
select is(tests.code_of($$select public.approve_tool_definition((select id from connection where name = 'other'), 'read', null)$$),
  'TOOL_DEFINITION_CHANGED', 'a call without a hash approves nothing');
select is(tests.code_of($$select public.approve_tool_definition(gen_random_uuid(), 'read', 'changed')$$), 'TOOL_NOT_FOUND', 'the tool must exist');

select * from finish();
rollback;
