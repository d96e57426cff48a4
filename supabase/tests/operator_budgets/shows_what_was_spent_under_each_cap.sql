begin;
set local search_path = public, extensions;
select plan(4);
select tests.create_user(name) from unnest(array['operator', 'ada', 'stranger']) as name;
select public.grant_scopes(tests.user_id('operator'), '{swarm:operate}');
insert into public.llm_providers (name, display_name, default_model, base_url, requires_api_key)
values ('capped', 'Capped', 'm', 'https://capped.test', false);
insert into public.model_policies (user_id, provider_id, model, spending_cap_micro_usd, cap_period)
select owner, provider.id, policy.model, cap, period
from public.llm_providers as provider, (values
  (null::uuid, null::text, 1000::bigint, 'month'), (tests.user_id('ada'), 'm', 500, 'day'), (null, 'unlimited', null, 'day'),
  (null, 'unused', 10, 'day')
) as policy (owner, model, cap, period)
where provider.name = 'capped';
insert into private.model_spending (policy_id, period_start, spent_micro_usd)
select id, private.cap_period_start(cap_period) - case when model = 'm' then interval '1 day' else interval '0' end, 300
from public.model_policies where spending_cap_micro_usd in (1000, 500);
insert into private.model_reservations (policy_id, period_start, amount_micro_usd, is_settled, expires_at)
select policy.id, private.cap_period_start(policy.cap_period), amount, is_settled, now() + expiry
from public.model_policies as policy, (values
  (10, true, interval '-1 hour'), (7, false, interval '1 hour'), (100, false, interval '-1 hour')
) as one (amount, is_settled, expiry)
where policy.spending_cap_micro_usd in (1000, 500);

select tests.act_as_user('operator');
select results_eq(
  $$select model, owner_email, cap_micro_usd, cap_period, spent_micro_usd, reserved_micro_usd from public.operator_budgets
    where provider = 'capped' order by cap_micro_usd desc$$,
  $$values (null, null, 1000::bigint, 'month', 310::bigint, 7::bigint), ('m', 'ada@example.test', 500, 'day', 10, 7),
      ('unused', null, 10, 'day', null, 0)$$,
  'what was spent in the current period, and what running calls reserve, is beside each cap'
);
select results_eq(
  $$select slug, facts -> 'spent_usd' from public.operator_settings where kind = 'policy' and slug like 'capped%' and facts ? 'spent_usd' order by slug$$,
  $$values ('capped', '0.00031'::jsonb), ('capped/m for ada@example.test', '0.00001')$$,
  'the settings say the same'
);
select tests.act_as_user('stranger');
select is(tests.code_of('select * from public.operator_budgets'), 'INSUFFICIENT_SCOPE', 'other users are refused');
select tests.act_as_anon();
select is(tests.code_of('select * from public.operator_budgets'), '42501', 'no other role may read it');
select tests.act_as_nobody();

select * from finish();
rollback;
