begin;
set local search_path = public, extensions;
select plan(9);

select tests.create_user('owner');
insert into public.tools (name, slug, type, config, credential_secret_name, credential_type)
values ('files', 'files', 'mcp_server', '{"mcp_url": "https://tools.example/mcp"}', 'FILES_KEY', 'api_key');
select vault.create_secret('shared', 'FILES_KEY');
create function pg_temp.own() returns text language sql as $$
  select private.resolve_tool_secret(id, tests.user_id('owner')) from public.tools where slug = 'files'
$$;
create function pg_temp.code() returns text language sql as $$ select tests.code_of('select pg_temp.own()') $$;
create function pg_temp.move(p_url text) returns void language sql as $$
  update public.tools set config = jsonb_build_object('mcp_url', p_url) where slug = 'files'
$$;

select tests.act_as_user('owner');
select public.set_tool_credential('files', 'mine');
select is(tests.code_of('select destination from public.user_tool_credentials'), '42501', 'a user does not read the host');
select tests.act_as_nobody();
select pg_temp.move('https://tools.example/v2');
select is(pg_temp.own(), 'mine', 'another path of the host gets the credential');
select pg_temp.move('https://thief.test/mcp');
select is(pg_temp.code(), 'CREDENTIAL_REQUIRED', 'another host does not');
select pg_temp.move('https://tools.example:8443/mcp');
select is(pg_temp.code(), 'CREDENTIAL_REQUIRED', 'nor does another port');
update public.user_tool_credentials set needs_authorization = false;
select is(pg_temp.code(), 'CREDENTIAL_REQUIRED', 'also after the row was changed');
select tests.act_as_user('owner');
select public.set_tool_credential('files', 'mine, for the new host');
select tests.act_as_nobody();
select is(pg_temp.own(), 'mine, for the new host', 'a credential that is stored again belongs to the new host');
select pg_temp.move('https://tools.example/mcp');
select is(pg_temp.code(), 'CREDENTIAL_REQUIRED', 'and to no other');
update public.user_tool_credentials set vault_secret_name = 'FILES_KEY';
select is(pg_temp.own(), 'shared', 'a row that the service writes belongs to the host at that time');
select tests.act_as_user('owner');
select public.set_tool_credential('files', null);
select tests.act_as_nobody();
select is(pg_temp.own(), 'shared', 'without an own credential, the tool''s is used');

select * from finish();
rollback;
