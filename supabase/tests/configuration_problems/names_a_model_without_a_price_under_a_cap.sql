begin;
set local search_path = public, extensions;
select plan(5);

insert into public.llm_providers (name, display_name, default_model, requires_api_key) values ('house', 'House', 'h1', false);
select tests.create_agent('clerk');
update public.agents set provider_id = (select id from public.llm_providers where name = 'house'), model = null where slug = 'clerk';
create function pg_temp.found() returns setof text language sql as $$
  select format('%s %s: %s %s', kind, name, field, problem) from public.operator_configuration_problems
  where field in ('spending_cap_usd', 'max_cost_micro_usd') and problem like '%clerk%'
$$;

select is_empty('select pg_temp.found()', 'a model without a price is fine without a cap');

insert into public.model_policies (provider_id, spending_cap_micro_usd)
select id, 1000000 from public.llm_providers where name = 'house';
select results_eq('select pg_temp.found()',
  $$values ('policy house: spending_cap_usd refuses the calls of h1 of provider "house", which has no price (agent clerk)')$$,
  'a spending cap refuses its calls');

delete from public.model_policies;
insert into private.quotas (name, amount) values ('max_cost_micro_usd', 500000);
select results_eq('select pg_temp.found()',
  $$values ('quota everyone: max_cost_micro_usd refuses the calls of h1 of provider "house", which has no price (agent clerk)')$$,
  'so does a ceiling of the cost of jobs');

insert into public.model_prices (provider_id, model, input_micro_usd_per_mtok, cached_input_micro_usd_per_mtok, output_micro_usd_per_mtok, valid_from)
select id, 'h1', 1, 1, 1, '2026-01-01' from public.llm_providers where name = 'house';
select is_empty('select pg_temp.found()', 'with a price there is no problem');

delete from public.model_prices where model = 'h1';
update public.llm_providers set is_free = true where name = 'house';
select is_empty('select pg_temp.found()', 'nor for a free provider');

select * from finish();
rollback;
