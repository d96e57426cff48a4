begin;
set local search_path = public, extensions;
select plan(14);

select tests.create_user(name) from unnest(array['plain', 'writer', 'refused']) as name;
select public.grant_scopes(tests.user_id('writer'), '{sql:write}');
insert into public.mcp_grants (user_id, client_id, scopes)
values (tests.user_id('refused'), null, '{sql:read}'), (tests.user_id('plain'), 'editor', '{swarm:run}');
insert into public.tools (slug, name, type, config, audience)
values
  ('crm', 'CRM', 'http_api', '{"method": "GET", "url": "https://crm.example.com", "parameters": {"type": "object"}}', 'everyone'),
  ('erp', 'ERP', 'http_api', '{"method": "GET", "url": "https://erp.example.com", "parameters": {"type": "object"}}', default);
create function pg_temp.servers_of(p_name text, p_client_id text default null) returns text language sql as $$
  select string_agg(scope, ' ' order by scope)
  from unnest(private.granted_scopes(tests.user_id(p_name), p_client_id)) as scope where scope like 'mcp:%';
$$;

select is(pg_temp.servers_of('plain'), 'mcp:crm', 'a user without a row may use the tools for everyone');
select is(pg_temp.servers_of('writer'), 'mcp:crm', 'and one with a row of their own');
select is(pg_temp.servers_of('refused'), null, 'but nobody who may not run jobs');
select is(pg_temp.servers_of('plain', 'page'), 'mcp:crm', 'a client without a row has what its user has');
select is(pg_temp.servers_of('plain', 'editor'), null, 'and one with a row what that names');

select public.grant_scopes(tests.user_id('plain'), '{sql:write}');
select ok(not (select scopes from public.mcp_grants where user_id = tests.user_id('plain') and client_id is null) && '{mcp:crm}',
  'a grant of other scopes does not store it');
select is((select count(*)::int from private.scope_problems() where field = 'tools.crm'), 0, 'nobody lacks its scope');
select tests.create_agent('seller');
insert into public.agent_tools (agent_id, tool_id)
select agent.id, tool.id from public.agents as agent, public.tools as tool where agent.slug = 'seller' and tool.slug in ('crm', 'erp');
select is((select string_agg(field, ' ') from private.scope_problems() where name = 'seller'), 'tools.erp',
  'a tool that is not for everyone is a problem of its agent');
select matches((select hint from private.scope_problems() where name = 'seller'), 'audience: everyone', 'which says what to write');

select public.grant_scopes(null, '{mcp:crm}');
select public.grant_scopes(tests.user_id('writer'), '{mcp:crm}');
update public.tools set audience = 'granted' where slug = 'crm';
select is(pg_temp.servers_of('writer'), 'mcp:crm', 'a scope that was granted stays when the tool is no longer for everyone');
select ok((select scopes from public.mcp_grants where user_id is null) @> '{mcp:crm}', 'and so does the default');
update public.mcp_grants set scopes = array_remove(scopes, 'mcp:crm');
select is(pg_temp.servers_of('writer'), null, 'otherwise it ends at once');

update public.tools set audience = 'everyone' where type = 'internal';
select is(pg_temp.servers_of('plain'), null, 'internal servers have scopes of their own');
select is(tests.code_of($$update public.tools set audience = 'all' where slug = 'crm'$$), 'TOOL_CONFIG_INVALID', 'another audience is refused');

select * from finish();
rollback;
