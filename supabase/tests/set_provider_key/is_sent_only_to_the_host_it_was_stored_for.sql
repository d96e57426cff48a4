begin;
set local search_path = public, extensions;
select plan(5);

select tests.create_user('owner'), tests.create_provider('acme', true);
select vault.create_secret('organisation-key', 'ACME_KEY');
create function pg_temp.key() returns text language sql as $$
  select secret from private.resolve_provider_secret(tests.create_provider('acme'), tests.user_id('owner'))
$$;
create function pg_temp.code() returns text language sql as $$ select tests.code_of('select pg_temp.key()') $$;
create function pg_temp.move(p_url text) returns void language sql as $$
  update public.llm_providers set base_url = p_url where name = 'acme'
$$;

select pg_temp.move('https://acme.example/v1');
select tests.act_as_user('owner');
select public.set_provider_key('acme', 'own-key');
select tests.act_as_nobody();
select pg_temp.move('https://acme.example/v2');
select is(pg_temp.key(), 'own-key', 'another path of the host gets the key');
select pg_temp.move('https://thief.test/v1');
select is(pg_temp.code(), 'MODEL_KEY_MISSING', 'another host does not');
select pg_temp.move(null);
select is(pg_temp.code(), 'MODEL_KEY_MISSING', 'nor does the usual address');
select tests.act_as_user('owner');
select public.set_provider_key('acme', 'newer-key');
select tests.act_as_nobody();
select is(pg_temp.key(), 'newer-key', 'a key that is stored again belongs to the present host');
select tests.act_as_user('owner');
select public.set_provider_key('acme', null);
select tests.act_as_nobody();
select is(pg_temp.key(), 'organisation-key', 'without an own key, the organization''s is used');

select * from finish();
rollback;
