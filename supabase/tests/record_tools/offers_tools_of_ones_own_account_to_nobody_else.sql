begin;
set local search_path = public, extensions;
select plan(9);

select tests.create_user('owner'), tests.create_user('other'), tests.create_user('third');
insert into public.tools (name, slug, type, config) values ('mail', 'mail', 'mcp_server', '{"mcp_url": "https://tools.example"}'), ('notes', 'notes', 'mcp_server', '{"mcp_url": "https://tools.example"}');
insert into public.user_tool_credentials (user_id, tool_id, vault_secret_name)
select tests.user_id(person.name), tool.id, 'own'
from public.tools as tool
cross join (values ('owner'), ('third')) as person (name)
where tool.slug in ('mail', 'notes');
create function pg_temp.connection(p_server text, p_name text) returns uuid language sql as $$
  select private.ensure_connection((select id from public.tools where slug = p_server), case when p_name <> 'service' then tests.user_id(p_name) end);
$$;
create function pg_temp.list(p_server text, p_name text, variadic p_tools text[]) returns int language sql as $$
  select private.record_tools(pg_temp.connection(p_server, p_name), jsonb_build_object(
    'is_remote', true, 'holds_new', true, 'tools', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'name', tool, 'openai_schema', '{}'::jsonb, 'hash', 'hash of ' || tool,
        'schema', jsonb_build_object('name', tool, 'inputSchema', '{}'::jsonb))), '[]')
      from unnest(p_tools) as tool)));
$$;
create function pg_temp.offered(p_server text, p_name text) returns text language sql as $$
  select coalesce(string_agg(tool_name, ',' order by tool_name), '')
  from public.mcp_tools_cache
  where connection_id = pg_temp.connection(p_server, p_name) and state = 'approved';
$$;

-- The server had no tools when the operator added it.
select pg_temp.list('mail', 'service', variadic '{}');
select pg_temp.list('mail', 'owner', 'send');
select is(pg_temp.offered('mail', 'owner'), 'send', 'the user gets the tools of their own account');
select pg_temp.list('mail', 'other', 'send');
select is(pg_temp.offered('mail', 'other'), '', 'another user does not get them');
select pg_temp.list('mail', 'service', 'send');
select is(pg_temp.offered('mail', 'service'), '', 'the service does not get them either');
select pg_temp.list('mail', 'third', 'read');
select is(pg_temp.offered('mail', 'third'), 'read', 'a third user gets the tools of their own account');
select is(public.approve_tool_definition(pg_temp.connection('mail', 'other'), 'send', 'hash of send'), 'approved', 'an operator approves the tool');
select is(pg_temp.offered('mail', 'other'), 'send', 'then the other user gets it');

-- The server was never listed before the user connected.
select pg_temp.list('notes', 'owner', 'write');
delete from public.user_tool_credentials where user_id = tests.user_id('owner');
select private.request_listing((select id from public.tools where slug = 'notes'), tests.user_id('owner'));
select pg_temp.list('notes', 'other', 'write');
select is(pg_temp.offered('notes', 'other'), '', 'also when the account was listed first, and has been disconnected since');

insert into public.tools (name, slug, type, config) values ('files', 'files', 'mcp_server', '{"mcp_url": "https://tools.example"}');
select pg_temp.list('files', 'other', 'read');
select is(pg_temp.offered('files', 'other'), 'read', 'the first list of a server that needs no account is approved');
select pg_temp.list('files', 'owner', 'read');
select is(pg_temp.offered('files', 'owner'), 'read', 'for every user');

select * from finish();
rollback;
