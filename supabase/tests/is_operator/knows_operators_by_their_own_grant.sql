begin;
set local search_path = public, extensions;
select plan(12);
select tests.create_user(name) from unnest(array['operator', 'owner']) as name;
create function pg_temp.act(p_user text, p_claims jsonb default '{}') returns void language sql as $$
  select tests.act_as_nobody();
  select tests.act_as_user(p_user);
  select set_config('request.jwt.claims', (current_setting('request.jwt.claims')::jsonb || p_claims)::text, true);
$$;

select is_empty(
  $$select from public.mcp_grants where user_id is null and scopes && array['swarm:operate', 'admin:*']$$,
  'the default grant does not include the scope'
);
select public.grant_scopes(tests.user_id('operator'), '{swarm:operate}');
select pg_temp.act('operator');
select ok(private.is_operator(), 'a user whose grant has swarm:operate is an operator');
select pg_temp.act('owner');
select ok(not private.is_operator(), 'any other user is not');
select pg_temp.act('operator', '{"client_id": "editor"}');
select ok(not private.is_operator(), 'an OAuth client of an operator is not');

select tests.act_as_nobody();
insert into public.mcp_grants (user_id, client_id, scopes) values
  (tests.user_id('operator'), 'editor', '{swarm:operate}'), (tests.user_id('owner'), 'editor', '{swarm:operate}'),
  (null, 'dashboard', '{swarm:operate}');
select pg_temp.act('operator', '{"client_id": "editor"}');
select ok(private.is_operator(), 'unless the operator''s grant for that client has the scope');
select pg_temp.act('owner', '{"client_id": "editor"}');
select ok(not private.is_operator(), 'the client''s grant does not make another user an operator');
select pg_temp.act('operator', '{"client_id": "dashboard"}');
select ok(not private.is_operator(), 'a grant for every user of a client does not either');
select pg_temp.act('operator', '{"supaswarm_actor": "agent"}');
select ok(not private.is_operator(), 'an agent is never an operator, regardless of its task''s owner');

select tests.act_as_nobody();
update public.mcp_grants set scopes = scopes || '{swarm:operate}' where user_id is null and client_id is null;
select pg_temp.act('owner');
select ok(not private.is_operator(), 'the default grant makes nobody an operator, whatever scopes it lists');
select tests.act_as_nobody();
update public.mcp_grants set scopes = array_remove(scopes, 'swarm:operate')
where user_id = tests.user_id('operator') and client_id is null;
select pg_temp.act('operator');
select ok(not private.is_operator(), 'a revoked grant no longer counts');
select is(tests.code_of('select * from public.operator_queue_health'), 'INSUFFICIENT_SCOPE', 'the operator views refuse as well');
select tests.act_as_nobody();
select tests.act_as_service();
select ok(private.is_operator(), 'the service may do everything operators may');
select tests.act_as_nobody();
select * from finish();
rollback;
