begin;
set local search_path = public, extensions;
select plan(12);

select tests.create_user('owner'), tests.create_user('other');
select vault.create_secret('shared', 'FILES_KEY'), vault.create_secret('tenant', 'TENANT_KEY');
insert into public.tools (name, slug, type, config, credential_secret_name, credential_type)
values ('files', 'files', 'mcp_server', '{"mcp_url": "https://files.example"}', 'FILES_KEY', 'api_key');
create temp table tool on commit drop as select id from public.tools where slug = 'files';

create function pg_temp.resolved(p_name text, p_is_agent boolean default false) returns text language sql as $$
  select private.resolve_tool_credential((select id from tool), tests.user_id(p_name), p_is_agent) ->> 'secret'
$$;
create function pg_temp.refusal(p_name text, p_is_agent boolean default false) returns text language sql as $$
  select tests.code_of(format('select pg_temp.resolved(%L, %L)', p_name, p_is_agent))
$$;

select is(pg_temp.resolved('other'), 'shared', 'it serves everyone unless the operator restricts it');

update public.tools set credential_audience = 'named' where slug = 'files';
insert into public.tool_credential_audience (tool_id, user_id) select id, tests.user_id('owner') from tool;
select is(pg_temp.resolved('owner'), 'shared', 'with the setting "named" it serves only the named users');
select is(pg_temp.refusal('other'), 'CREDENTIAL_REQUIRED', 'no other user is served');
select is(pg_temp.refusal('other', true), 'CREDENTIAL_REQUIRED', 'an agent cannot use it for an unnamed user');
select is(private.resolve_tool_credential((select id from tool), null) ->> 'secret', 'shared', 'the service can use it');
select is((select private.tool_call_secrets(tools, tests.user_id('other'), false) from public.tools where slug = 'files'), null, 'no call receives it for an unnamed user');

select tests.act_as_user('other');
select public.set_tool_credential('files', 'mine');
select tests.act_as_nobody();
select is(pg_temp.resolved('other'), 'mine', 'a user with their own credential uses that one');
update public.tools set config = config || '{"headers": {"x-tenant": {"secret": "TENANT_KEY"}}}' where slug = 'files';
select is((select private.tool_call_secrets(tools, tests.user_id('other'), false) from public.tools where slug = 'files'), null, 'but without the operator''s other secrets');
select is((select private.tool_call_secrets(tools, tests.user_id('owner'), false) #>> '{named,TENANT_KEY}' from public.tools where slug = 'files'), 'tenant', 'named users receive the operator''s other secrets');

delete from public.user_tool_credentials;
update public.tools set credential_audience = 'agents' where slug = 'files';
select is(pg_temp.resolved('other', true), 'shared', 'with the setting "agents" an agent uses it for any user');
select is(pg_temp.refusal('other'), 'CREDENTIAL_REQUIRED', 'the user cannot use it directly');
select tests.act_as_user('other');
select is_empty('select * from public.tool_credential_audience', 'a user does not see who is named');
select tests.act_as_nobody();

select * from finish();
rollback;
