begin;
set local search_path = public, extensions;
select plan(5);

select tests.create_user('owner');
insert into public.agents (name, slug, system_prompt, provider_id, audience)
select 'x', 'payroll', 'x', id, 'named' from public.llm_providers where name = 'demo';

select matches(private.nearest_agents('plannr', tests.user_id('owner')), '^"planner"', 'a missing letter is tolerated');
select matches(private.nearest_agents('Reader', tests.user_id('owner')), '^"reader"', 'case is ignored');
select is(private.nearest_agents('payrol', tests.user_id('owner')), null, 'agents that the user may not use are not offered');
select is(private.nearest_agents('zzz', tests.user_id('owner')), null, 'a distant name matches nothing');
select throws_matching(
  $$select private.active_agent('plannr', null)$$, 'no agent that you may use has the slug ''plannr''', 'the refusal keeps its error'
);

select * from finish();
rollback;
