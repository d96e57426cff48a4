begin;
set local search_path = public, extensions;
select plan(7);

select tests.create_user('owner'), tests.create_user('other');
insert into public.tools (name, slug, type, config) values ('diary', 'diary', 'mcp_server', '{"mcp_url": "https://diary.example"}');
create function pg_temp.begin_request(p_state text) returns timestamptz language sql as $$
  select private.begin_oauth(jsonb_build_object(
    'state_hash', p_state, 'user_id', tests.user_id('owner'), 'code_verifier', 'verifier of ' || p_state,
    'tool_id', (select id from public.tools where slug = 'diary'), 'server_url', 'https://diary.example',
    'authorization_server', '{}'::jsonb, 'client_id', 'us', 'redirect_url', 'https://here.example'));
$$;
create function pg_temp.verifiers() returns int language sql as $$
  select count(*)::int from vault.secrets where name like 'supaswarm/oauth/request/%';
$$;

select pg_temp.begin_request('a'), pg_temp.begin_request('b'), pg_temp.begin_request('c');
select is(private.take_oauth_request('a', tests.user_id('owner')) ->> 'code_verifier', 'verifier of a', 'the requesting user gets the verifier');
select is(private.take_oauth_request('a', tests.user_id('owner')), null, 'the request works only once');
select is(private.take_oauth_request('b', tests.user_id('other')), null, 'another user does not');
select is(private.take_oauth_request('b', tests.user_id('owner')), null, 'after that nobody can use it');
update private.oauth_requests set expires_at = clock_timestamp() where state_hash = 'c';
select is(private.take_oauth_request('c', tests.user_id('owner')), null, 'an expired request is refused');
select is(pg_temp.verifiers(), 0, 'no verifier remains in Vault');

select pg_temp.begin_request('state ' || n) from generate_series(1, 15) as n;
select is(pg_temp.verifiers(), 10, 'a user has at most ten pending requests');

select * from finish();
rollback;
