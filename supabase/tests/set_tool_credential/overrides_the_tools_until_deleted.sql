begin;
set local search_path = public, extensions;
select plan(9);

select tests.create_user('owner'), tests.create_user('other');
insert into public.tools (name, slug, type, config, credential_secret_name, credential_type)
values ('files', 'files', 'mcp_server', '{"mcp_url": "https://tools.example"}', 'FILES_KEY', 'api_key');
create temp table tool on commit drop as select id from public.tools where slug = 'files';

select is(tests.code_of($$select private.resolve_tool_secret((select id from tool), null)$$), 'SECRET_NOT_FOUND', 'the named secret is missing');
select vault.create_secret('shared', 'FILES_KEY');

create function pg_temp.connect(p_name text) returns void language sql as $$
  update public.agent_mcp_connections set session = '{"id": "theirs"}', tools_listed_at = now()
  where id = private.ensure_connection((select id from tool), tests.user_id(p_name))
$$;
create function pg_temp.knows(p_name text) returns text language sql as $$
  select session::text || (tools_listed_at is not null)
  from public.agent_mcp_connections where user_id = tests.user_id(p_name)
$$;
select private.ensure_connection((select id from tool), tests.user_id(person.name)) from (values ('owner'), ('other')) as person (name);
select pg_temp.connect('owner'), pg_temp.connect('other');
select tests.act_as_user('owner');
select public.set_tool_credential('files', 'mine');
select tests.act_as_nobody();
select is(pg_temp.knows('owner'), null, 'a session that was opened with another credential is discarded');
select is(pg_temp.knows('other'), '{"id": "theirs"}true', 'other users keep their sessions');
select pg_temp.connect('owner');
select is(private.resolve_tool_secret((select id from tool), tests.user_id('owner')), 'mine', 'the owner''s own credential is used');
select is(private.resolve_tool_secret((select id from tool), tests.user_id('other')), 'shared', 'another user gets the tool''s credential');

select tests.act_as_user('owner');
select public.set_tool_credential('files', null);
select is(tests.code_of($$select public.set_tool_credential('files', E'a\nb')$$), 'SECRET_INVALID', 'line breaks are refused');
select tests.act_as_nobody();
select is(pg_temp.knows('owner'), null, 'deleting the credential discards the session too');
select is(private.resolve_tool_secret((select id from tool), tests.user_id('owner')), 'shared', 'after the deletion the tool''s credential is used again');
select is((select count(*) from vault.secrets where name like 'supaswarm/user/%')::int, 0, 'the secret is deleted from Vault');

select * from finish();
rollback;
