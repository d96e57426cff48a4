begin;
set local search_path = public, extensions;
select plan(4);
select tests.create_user('holder');
select public.grant_scopes(tests.user_id('holder'), '{swarm:operate, swarm:configure}');

create function pg_temp.key() returns text language sql as $$
  select secret from private.resolve_provider_secret((select id from public.llm_providers where name = 'acme'), null)
$$;
create function pg_temp.hint() returns text language plpgsql as $$
declare v_hint text;
begin
  perform pg_temp.key();
  return null;
exception when others then
  get stacked diagnostics v_hint = pg_exception_hint;
  return v_hint;
end
$$;

select tests.act_as_user('holder');
select public.operator_save_definition('provider', 'acme', '{"display_name": "Acme", "api": "openai", "base_url": "https://acme.example/v1", "default_model": "m", "api_key_secret_name": "ACME_KEY"}');
select tests.act_as_nobody();
select is(tests.code_of('select pg_temp.key()'), 'MODEL_KEY_MISSING', 'a provider that was saved over the API has no key yet');
create temp table hinted on commit drop as select substring(pg_temp.hint() from '(select vault.*?\))\. ') as statement;
select matches(statement, 'ACME_KEY', 'the hint has a statement') from hinted;
do $do$ begin execute (select statement from hinted); end $do$;
select is(pg_temp.key(), '…', 'after which the provider has the key');
select is_empty($$select from public.operator_configuration_problems where name = 'acme' and field = 'api_key_secret_name'$$, 'and nothing is left to do');

select * from finish();
rollback;
