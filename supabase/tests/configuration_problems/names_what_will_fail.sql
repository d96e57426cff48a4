begin;
set local search_path = public, extensions;
select plan(12);

select tests.create_agent('triager');
insert into public.tools (slug, name, type, config)
values ('crm', 'CRM', 'http_api', '{"method": "GET", "url": "https://crm.example.com", "parameters": {"type": "object"}}');
insert into public.agent_tools (agent_id, tool_id)
select agent.id, tool.id from public.agents as agent, public.tools as tool where agent.slug = 'triager' and tool.slug = 'crm';
create function pg_temp.problem(p_kind text, p_name text) returns text language sql as $$
  select string_agg(field || ' ' || problem, '; ' order by field)
  from public.operator_configuration_problems where kind = p_kind and name = p_name;
$$;

select is(pg_temp.problem('agent', 'triager'),
  'tools.crm cannot be called by any user: nobody of the agent''s audience has the scope mcp:crm', 'a scope that nobody has is listed');
select public.grant_scopes(tests.create_user('ada'), '{mcp:crm}');
select is(pg_temp.problem('agent', 'triager'), null, 'but not one that all accounts have, whatever the default is');
select tests.create_user('eve');
select is(pg_temp.problem('agent', 'triager'),
  'tools.crm cannot be called in jobs of users without the scope mcp:crm (1 now)', 'an account with the default scopes lacks it');
select public.grant_scopes(null, '{mcp:crm}');
select is(pg_temp.problem('agent', 'triager'), null, 'nothing, once everyone has it');
insert into public.mcp_grants (user_id, scopes) values (tests.user_id('eve'), '{swarm:run}');
select is(pg_temp.problem('agent', 'triager'),
  'tools.crm cannot be called in jobs of users without the scope mcp:crm (1 now)', 'users with scopes of their own count');

insert into public.webhooks (created_by, name, url, events, last_error)
values (null, 'on-call', 'https://hooks.example.com/secret', '{alert.raised}', '{"message": "Cannot deliver the message: the receiver responded with 500"}');
select is(pg_temp.problem('webhook', 'on-call'),
  'url did not get the last message: Cannot deliver the message: the receiver responded with 500', 'a receiver that fails is listed');
update public.webhooks set is_active = false;
select is(pg_temp.problem('webhook', 'on-call'), null, 'unless an operator stopped the webhook');
update public.webhooks
set last_error = '{"message": "Cannot deliver the message: the receiver responded with 410 (Gone), which deactivates the webhook"}';
select matches(pg_temp.problem('webhook', 'on-call'), '410', 'also if the receiver stopped it');

update public.tools set credential_secret_name = 'CRM_KEY', credential_type = 'api_key' where slug = 'crm';
select is(pg_temp.problem('tool', 'crm'), 'credential_secret_name is "CRM_KEY", but Vault has no secret with this name', 'a missing secret is listed');
select vault.create_secret('x', 'CRM_KEY');
select is(pg_temp.problem('tool', 'crm'), null, 'until Vault has it');
update public.llm_providers set is_active = false where name = 'test';
select matches(pg_temp.problem('agent', 'triager'), 'provider is "test", which is not active', 'an inactive provider is listed');
select tests.act_as_user('eve');
select is(tests.code_of('select * from public.operator_configuration_problems'), 'INSUFFICIENT_SCOPE', 'only operators read this');
select tests.act_as_nobody();

select * from finish();
rollback;
