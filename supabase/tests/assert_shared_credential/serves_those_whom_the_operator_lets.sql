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

select is(pg_temp.resolved('other'), 'shared', 'it serves everyone unless the operator says otherwise');

update public.tools set credential_audience = 'named' where slug = 'files';
insert into public.tool_credential_audience (tool_id, user_id) select id, tests.user_id('owner') from tool;
select is(pg_temp.resolved('owner'), 'shared', 'named: those who are named');
select is(pg_temp.refusal('other'), 'CREDENTIAL_REQUIRED', 'and nobody else');
select is(pg_temp.refusal('other', true), 'CREDENTIAL_REQUIRED', 'nor by way of an agent');
select is(private.resolve_tool_credential((select id from tool), null) ->> 'secret', 'shared', 'the service is served');
select is((select private.tool_call_secrets(tools, tests.user_id('other'), false) from public.tools where slug = 'files'), null, 'no call is given it');

select tests.act_as_user('other');
select public.set_tool_credential('files', 'mine');
select tests.act_as_nobody();
select is(pg_temp.resolved('other'), 'mine', 'who has a credential of their own uses that');
update public.tools set config = config || '{"headers": {"x-tenant": {"secret": "TENANT_KEY"}}}' where slug = 'files';
select is((select private.tool_call_secrets(tools, tests.user_id('other'), false) from public.tools where slug = 'files'), null, 'but not with the operator''s other secrets');
select is((select private.tool_call_secrets(tools, tests.user_id('owner'), false) #>> '{named,TENANT_KEY}' from public.tools where slug = 'files'), 'tenant', 'which serve those who are named');

delete from public.user_tool_credentials;
update public.tools set credential_audience = 'agents' where slug = 'files';
select is(pg_temp.resolved('other', true), 'shared', 'agents: an agent uses it for whomever it acts');
select is(pg_temp.refusal('other'), 'CREDENTIAL_REQUIRED', 'the user does not');
select tests.act_as_user('other');
select is_empty('select * from public.tool_credential_audience', 'and does not see who is named');
select tests.act_as_nobody();

select * from finish();
rollback;
