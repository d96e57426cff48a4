begin;
set local search_path = public, extensions;
select plan(6);

select tests.create_user('owner'), tests.create_user('other'), tests.create_agent('payer');
insert into public.tools (name, slug, type, config) values ('bank', 'bank', 'mcp_server', '{"mcp_url": "https://tools.example"}');
create function pg_temp.set(p_tool_name text, p_ask text default 'always') returns text language sql as $$
  select tests.code_of(format('select public.set_approval(%L, %L, %L, null, %L)', 'payer', 'bank', p_ask, p_tool_name));
$$;
insert into public.agent_approvals (agent_id, tool_id, tool_name, user_id, ask)
select agent.id, tool.id, 'tool_' || n, tests.user_id('owner'), 'always'
from public.agents as agent, public.tools as tool, generate_series(1, 1000) as n
where agent.slug = 'payer' and tool.slug = 'bank';

select tests.act_as_user('owner');
select is(pg_temp.set('one_more'), 'QUOTA_EXCEEDED', 'a user cannot fill the table');
select is((select count(*) from public.agent_approvals)::int, 1000, 'the refused rule is not stored');
select public.set_approval('payer', 'bank', 'never', null, 'tool_1');
select is((select ask from public.agent_approvals where tool_name = 'tool_1'), 'never', 'a rule still changes');
select public.set_approval('payer', 'bank', null, null, 'tool_1');
select is(pg_temp.set(repeat('x', 201)), 'APPROVAL_RULE_INVALID', 'a name is short');
select public.set_approval('payer', 'bank', 'always', null, 'one_more');
select is((select count(*) from public.agent_approvals)::int, 1000, 'a deleted rule leaves room for another');
select tests.act_as_user('other');
select public.set_approval('payer', 'bank', 'always');
select is((select count(*) from public.agent_approvals)::int, 1, 'users have limits of their own');
select tests.act_as_nobody();

select * from finish();
rollback;
