begin;
set local search_path = public, extensions;
select plan(6);

select tests.create_user('owner');

select throws_like($$ select public.grant_scopes(tests.user_id('owner'), '{swarm:opperate}') $$,
  '%swarm:opperate%', 'a scope that does not exist is refused');
select is_empty($$ select from public.mcp_grants where user_id = tests.user_id('owner') $$, 'nothing is granted');
select lives_ok($$ select public.grant_scopes(tests.user_id('owner'), '{mcp:later, swarm:operate}') $$,
  'a server may be registered later');
select throws_ok($$ select public.grant_scopes(null, '{swarm:operate}') $$, 'PT403',
  'Cannot grant scopes: swarm:operate is only for named accounts', 'nobody makes everyone an operator');
select throws_ok($$ select public.grant_scopes(null, '{admin:*}') $$, 'PT403',
  'Cannot grant scopes: admin:* is only for named accounts', 'nor an administrator');
select lives_ok($$ select public.grant_scopes(null, '{sql:write}') $$, 'other scopes may be for everyone');

select * from finish();
rollback;
