begin;
set local search_path = public, extensions;
select plan(4);
select tests.create_user('holder');
select public.grant_scopes(tests.user_id('holder'), '{swarm:operate, swarm:configure}');
insert into public.projects (slug, github_repo) values ('manual', 'example/manual');
create function pg_temp.token() returns text language sql as $$
  select private.github_token(id) from public.projects where slug = 'manual'
$$;

select is(pg_temp.token(), null, 'without a token, a repository is read without one');
select tests.act_as_user('holder');
select public.operator_set_secret('GITHUB_TOKEN', 'of the holder');
select tests.act_as_nobody();
select is(pg_temp.token(), 'of the holder', 'a token that was stored is used');
select tests.act_as_user('holder');
select public.operator_set_secret('GITHUB_TOKEN', null);
select tests.act_as_nobody();
select vault.create_secret('of another program', 'GITHUB_TOKEN');
select is(tests.code_of('select pg_temp.token()'), 'SECRET_NOT_FOUND', 'after its removal, another program''s is not');
select private.bind_secret('GITHUB_TOKEN');
select is(pg_temp.token(), 'of another program', 'until who may read Vault gives it');

select * from finish();
rollback;
