begin;
set local search_path = public, extensions;
select plan(8);
select tests.create_agent('triager');
insert into public.tools (slug, name, type, config)
values ('crm', 'CRM', 'http_api', '{"method": "GET", "url": "https://crm.example.com", "parameters": {"type": "object"}}');
insert into public.agent_tools (agent_id, tool_id)
select agent.id, tool.id from public.agents as agent, public.tools as tool where agent.slug = 'triager' and tool.slug = 'crm';
create function pg_temp.lacking() returns text language sql as $$
  select string_agg(coalesce(email, 'default of ' || account_count), ', ' order by email nulls first)
  from public.operator_missing_scopes where scope = 'mcp:crm';
$$;

select is(pg_temp.lacking(), 'default of 0', 'without accounts, the default lacks it');
select tests.create_user(name) from unnest(array['ada', 'ben', 'eve']) as name;
select is(pg_temp.lacking(), 'default of 3', 'accounts without scopes of their own have the default');
insert into public.mcp_grants (user_id, scopes) values (tests.user_id('ada'), '{swarm:run}'), (tests.user_id('ben'), '{admin:*}');
select is(pg_temp.lacking(), 'default of 1, ada@example.test', 'others have their own, of which admin:* covers all');
select public.grant_scopes(null, '{mcp:crm}');
select is(pg_temp.lacking(), 'ada@example.test', 'a default does not reach them');

update public.mcp_grants set scopes = '{swarm:run}' where user_id is null;
update public.agents set audience = 'named' where slug = 'triager';
select is(pg_temp.lacking(), null, 'who may not use the agent needs nothing');
insert into public.agent_audience (agent_id, user_id)
select agent.id, tests.user_id(account) from public.agents as agent, unnest(array['ada', 'eve']) as account where agent.slug = 'triager';
select is(pg_temp.lacking(), 'ada@example.test, eve@example.test', 'who is named lacks it, also with the default scopes');
select matches(
  (select problem from public.operator_configuration_problems where name = 'triager'), 'cannot be called by any user',
  'an account outside of the audience does not count as somebody who has it'
);
select tests.act_as_user('eve');
select is(tests.code_of('select * from public.operator_missing_scopes'), 'INSUFFICIENT_SCOPE', 'only operators read this');
select tests.act_as_nobody();
select * from finish();
rollback;
