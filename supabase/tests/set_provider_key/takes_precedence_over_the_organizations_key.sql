begin;
set local search_path = public, extensions;
select plan(6);

select tests.create_user('owner'), tests.create_provider('acme', true);
create temp table acme on commit drop as select tests.create_provider('acme') as id;

select is(tests.code_of($$select private.resolve_provider_secret((select id from acme), tests.user_id('owner'))$$), 'MODEL_KEY_MISSING', 'the key is missing');
select vault.create_secret('organisation-key', 'ACME_KEY');
select is((select secret from private.resolve_provider_secret((select id from acme), tests.user_id('owner'))), 'organisation-key', 'the organization''s key is used');

select tests.act_as_user('owner');
select lives_ok($$select public.set_provider_key('acme', 'own-key')$$, 'a user sets their own key');
select is(tests.code_of('select vault_secret_name from public.user_provider_keys'), '42501', 'a user cannot read the name of the secret');
select tests.act_as_nobody();
select is((select secret || '/' || key_source from private.resolve_provider_secret((select id from acme), tests.user_id('owner'))), 'own-key/user', 'the user''s own key is used');

insert into public.model_policies (provider_id, allow_own_key) select id, false from acme;
select is((select key_source from private.resolve_provider_secret((select id from acme), tests.user_id('owner'))), 'organisation', 'unless a policy forbids it');

select * from finish();
rollback;
