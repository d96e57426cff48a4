begin;
set local search_path = public, extensions;
select plan(14);
select tests.create_agent('worker-agent');
insert into public.llm_providers (name, display_name, default_model, requires_api_key, is_active)
values ('alpha', 'Alpha', 'alpha-1', false, true), ('beta', 'Beta', 'beta-1', false, true), ('gone', 'Gone', 'gone-1', false, false);
insert into public.model_prices (provider_id, model, input_micro_usd_per_mtok, cached_input_micro_usd_per_mtok, output_micro_usd_per_mtok)
select id, 'shared', 1, 1, 1 from public.llm_providers where name in ('alpha', 'beta')
union all select id, 'alpha-2', 1, 1, 1 from public.llm_providers where name = 'alpha';

create function pg_temp.resolve(p_changes jsonb) returns jsonb language sql
  as $$ select private.resolved_agent_changes(agent, p_changes, 'try it') from public.agents as agent where slug = 'worker-agent' $$;
create function pg_temp.model_of(p_changes jsonb) returns text language sql
  as $$ select format('%s of %s', changes ->> 'model', changes ->> 'provider') from pg_temp.resolve(p_changes) as changes $$;

select is(pg_temp.model_of('{"model": "alpha-2"}'), 'alpha-2 of alpha', 'a model that one provider lists is that provider''s');
select is(pg_temp.model_of('{"model": "beta-1"}'), 'beta-1 of beta', 'a default model is listed too');
select is(pg_temp.model_of('{"model": "unlisted:7b"}'), 'unlisted:7b of test', 'a model that nobody lists is the agent''s provider''s');
select is(pg_temp.model_of('{"provider": "beta", "model": "alpha-2"}'), 'alpha-2 of beta', 'a named provider decides');
select is(pg_temp.model_of('{"provider": "alpha"}'), 'alpha-1 of alpha', 'a provider alone has its default model');
select throws_ok($$select pg_temp.resolve('{"model": "shared"}')$$,
  'PT422', 'Cannot try it: several providers have the model "shared"', 'of several providers, one has to be named');
update public.agents set provider_id = (select id from public.llm_providers where name = 'beta') where slug = 'worker-agent';
select is(pg_temp.model_of('{"model": "shared"}'), 'shared of beta', 'unless one of them is the agent''s');
select throws_ok($$select pg_temp.resolve('{"provider": "gone"}')$$,
  'PT422', 'Cannot try it: the provider "gone" is not active', 'an inactive provider is refused');
select throws_ok($$select pg_temp.resolve('{"provider": "betta"}')$$,
  'PT404', 'Cannot try it: there is no provider "betta"', 'a wrong provider is not found');
select throws_ok($$select pg_temp.resolve('{"modle": "x"}')$$,
  'PT422', 'Cannot try it: an agent has no "modle" that a job can change', 'an unknown change is refused');
select throws_ok($$select pg_temp.resolve('{"model": 3}')$$, 'PT422', 'Cannot try it: model is not a usable text', 'as is a number');
select throws_ok($$select pg_temp.resolve('{"prompt": ""}')$$, 'PT422', 'Cannot try it: prompt is not a usable text', 'and an empty text');
update public.agents set provider_id = null where slug = 'worker-agent';
select throws_ok($$select pg_temp.resolve('{"model": "nobodys"}')$$,
  'PT422', 'Cannot try it: no provider lists the model "nobodys"', 'an agent without a provider needs one');

select is(tests.code_of($$select pg_temp.resolve('[]')$$), 'AGENT_CHANGES_INVALID', 'changes are an object');

select finish();
rollback;
