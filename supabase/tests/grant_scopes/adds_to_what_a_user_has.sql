begin;
set local search_path = public, extensions;
select plan(8);

select tests.create_user('owner'), tests.create_user('other');

select ok(not private.granted_scopes(tests.user_id('owner'), null) && array['sql:write', 'admin:*'], 'nobody writes by default');
select ok(private.granted_scopes(tests.user_id('owner'), null) @> array['sql:read', 'quoth:read', 'swarm:run'], 'everybody reads and runs');
select is_empty($$
  select scope from unnest(private.granted_scopes(tests.user_id('owner'), null)) as scope where scope like 'mcp:%'
$$, 'and uses no server of others');

select public.grant_scopes(tests.user_id('owner'), '{mcp:web}');
select ok(private.granted_scopes(tests.user_id('owner'), null) @> array['mcp:web', 'sql:read', 'quoth:read', 'swarm:run'], 'the default ones stay');
select public.grant_scopes(tests.user_id('owner'), '{sql:write, mcp:web}');
select ok(private.granted_scopes(tests.user_id('owner'), null) @> array['mcp:web', 'sql:write', 'sql:read'], 'and those that were given before');
select ok(not private.granted_scopes(tests.user_id('other'), null) && array['mcp:web', 'sql:write'], 'another user gets nothing of it');

update public.mcp_grants set scopes = '{sql:read}' where user_id = tests.user_id('owner');
select is(public.grant_scopes(tests.user_id('owner'), '{mcp:web}', 'editor'), '{mcp:web,sql:read}', 'a client begins with what its user has');
select is(private.granted_scopes(tests.user_id('owner'), null), '{sql:read}', 'which leaves the user as it was');

select * from finish();
rollback;
