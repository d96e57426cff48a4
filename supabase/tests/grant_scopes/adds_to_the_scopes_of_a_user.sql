begin;
set local search_path = public, extensions;
select plan(8);

select tests.create_user('owner'), tests.create_user('other');

select ok(not private.granted_scopes(tests.user_id('owner'), null) && array['sql:write', 'admin:*'], 'nobody can write by default');
select ok(private.granted_scopes(tests.user_id('owner'), null) @> array['sql:read', 'quoth:read', 'swarm:run'], 'everyone can read and run by default');
select is_empty($$
  select scope from unnest(private.granted_scopes(tests.user_id('owner'), null)) as scope where scope like 'mcp:%'
$$, 'nobody can use the servers of others by default');

select public.grant_scopes(tests.user_id('owner'), '{mcp:web}');
select ok(private.granted_scopes(tests.user_id('owner'), null) @> array['mcp:web', 'sql:read', 'quoth:read', 'swarm:run'], 'the default scopes are kept');
select public.grant_scopes(tests.user_id('owner'), '{sql:write, mcp:web}');
select ok(private.granted_scopes(tests.user_id('owner'), null) @> array['mcp:web', 'sql:write', 'sql:read'], 'scopes granted earlier are kept');
select ok(not private.granted_scopes(tests.user_id('other'), null) && array['mcp:web', 'sql:write'], 'another user gets none of them');

update public.mcp_grants set scopes = '{sql:read}' where user_id = tests.user_id('owner');
select is(public.grant_scopes(tests.user_id('owner'), '{mcp:web}', 'editor'), '{mcp:web,sql:read}', 'a client starts with its user''s scopes');
select is(private.granted_scopes(tests.user_id('owner'), null), '{sql:read}', 'the user''s scopes are unchanged');

select * from finish();
rollback;
