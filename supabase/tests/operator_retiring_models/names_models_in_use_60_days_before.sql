begin;
set local search_path = public, extensions;
select plan(5);

create function pg_temp.listed() returns table (model text, used_by text[]) language sql as $$
  select model, used_by from public.operator_retiring_models where provider = 'test';
$$;
insert into public.model_prices
  (provider_id, model, input_micro_usd_per_mtok, cached_input_micro_usd_per_mtok, output_micro_usd_per_mtok, retires_on)
select tests.create_provider('test'), model, 1, 1, 1, retires_on
from (values ('soon', current_date + 60), ('later', current_date + 61), ('past', current_date - 1), ('unused', current_date))
  as price (model, retires_on);
update public.llm_providers set default_model = 'later' where name = 'test';
insert into public.agents (name, slug, description, system_prompt, provider_id, model, is_active)
select slug, slug, slug, slug, tests.create_provider('test'), model, is_active
from (values ('first', 'soon', true), ('second', null, true), ('third', 'past', true), ('stopped', 'soon', false))
  as agent (slug, model, is_active);
insert into public.agent_fallbacks (agent_id, priority, provider_id, model)
select id, 1, provider_id, 'soon' from public.agents where slug = 'second';

select results_eq(
  'select * from pg_temp.listed()',
  $$values ('past', '{agent third}'::text[]), ('soon', '{agent first,fallback of agent second}')$$,
  'models in use are listed from 60 days before their retirement, and after it'
);
update public.llm_providers set default_model = 'soon' where name = 'test';
select is(
  (select used_by from pg_temp.listed() where model = 'soon'),
  '{agent first,agent second,fallback of agent second,provider test}'::text[],
  'a default counts for the provider and for each agent without a model of its own'
);
update public.mcp_tool_models set default_provider = 'test', default_model = 'unused', supported_providers = '{test}'
where mcp_name = 'supabase' and tool_name = 'generate_sql';
select is(
  (select used_by from pg_temp.listed() where model = 'unused'), '{tool supabase/generate_sql}'::text[],
  'the default of a tool is in use'
);
update public.llm_providers set is_active = false where name = 'test';
select is_empty('select * from pg_temp.listed()', 'the models of an inactive provider are not listed');
select tests.act_as_user('stranger');
select is(
  tests.code_of('select * from public.operator_retiring_models'), 'INSUFFICIENT_SCOPE',
  'only operators see the list'
);
select tests.act_as_nobody();

select * from finish();
rollback;
