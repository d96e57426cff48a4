begin;
set local search_path = public, extensions;
select plan(6);

select tests.create_user('owner'), tests.create_user('other'), tests.create_agent('payer'), tests.create_agent('reader');
insert into public.tools (name, slug, type, config) values ('bank', 'bank', 'mcp_server', '{"mcp_url": "https://tools.example"}'), ('mail', 'mail', 'mcp_server', '{"mcp_url": "https://tools.example"}');
insert into public.agent_approvals (agent_id, tool_id, tool_name, user_id, ask)
select (select id from public.agents where slug = 'payer'), (select id from public.tools where slug = rule.tool), rule.name, rule.user_id, rule.ask
from (values
  ('bank', '*', null, 'always'), ('bank', 'read_balance', null, 'never'),
  ('bank', '*', tests.user_id('owner'), 'never'), (null, 'web_search', null, 'always')
) as rule (tool, name, user_id, ask);
create function pg_temp.rules(p_tool text, p_name text, p_user text, p_agent text default 'payer') returns text language sql as $$
  select coalesce(string_agg(rule ->> 'ask', ',' order by rule ->> 'ask'), '')
  from jsonb_array_elements(private.approval_rules(
    (select id from public.agents where slug = p_agent), (select id from public.tools where slug = p_tool), p_name, tests.user_id(p_user))) as rule;
$$;

select is(pg_temp.rules('bank', 'pay', 'other'), 'always', 'a rule for all tools of a server holds for each');
select is(pg_temp.rules('bank', 'read_balance', 'other'), 'never', 'a rule with the name of the tool replaces it');
select is(pg_temp.rules('bank', 'pay', 'owner'), 'always,never', 'the rule of the owner stands beside the one for everyone');
select is(pg_temp.rules('mail', 'send', 'owner'), '', 'another server has none');
select is(pg_temp.rules('bank', 'pay', 'owner', 'reader'), '', 'nor has another agent');
select is(pg_temp.rules(null, 'web_search', 'other'), 'always', 'tools of the provider have rules too');

select * from finish();
rollback;
