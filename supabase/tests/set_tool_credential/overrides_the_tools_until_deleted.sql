begin;
set local search_path = public, extensions;
select plan(6);

select tests.create_user('owner'), tests.create_user('other');
insert into public.tools (name, slug, type, config, credential_secret_name, credential_type)
values ('files', 'files', 'mcp_server', '{}', 'FILES_KEY', 'api_key');
create temp table tool on commit drop as select id from public.tools where slug = 'files';

select is(tests.code_of($$select private.resolve_tool_secret((select id from tool), null)$$), 'SECRET_NOT_FOUND', 'the named secret is missing');
select vault.create_secret('shared', 'FILES_KEY');
select tests.act_as_user('owner');
select public.set_tool_credential('files', 'mine');
select tests.act_as_nobody();
select is(private.resolve_tool_secret((select id from tool), tests.user_id('owner')), 'mine', 'the owner''s own');
select is(private.resolve_tool_secret((select id from tool), tests.user_id('other')), 'shared', 'another''s is the tool''s');

select tests.act_as_user('owner');
select public.set_tool_credential('files', null);
select is(tests.code_of($$select public.set_tool_credential('files', E'a\nb')$$), 'SECRET_INVALID', 'no line breaks');
select tests.act_as_nobody();
select is(private.resolve_tool_secret((select id from tool), tests.user_id('owner')), 'shared', 'deleted: the tool''s again');
select is((select count(*) from vault.secrets where name like 'supaswarm/user/%')::int, 0, 'and gone from Vault');

select * from finish();
rollback;
