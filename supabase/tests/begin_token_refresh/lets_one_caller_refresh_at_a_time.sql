begin;
set local search_path = public, extensions;
select plan(9);

select tests.create_user('owner');
insert into public.tools (name, slug, type, config) values ('diary', 'diary', 'mcp_server', '{"mcp_url": "https://diary.example"}');
select private.record_oauth_connection(
  jsonb_build_object('user_id', tests.user_id('owner'), 'tool_id', (select id from public.tools where slug = 'diary'),
    'server_url', 'https://diary.example', 'authorization_server', '{}'::jsonb, 'client_id', 'us', 'redirect_url', 'https://here.example'),
  '{"access_token": "access 1", "refresh_token": "refresh 1", "expires_in": 60}');
create temp table own on commit drop as
select credential_id as id, generation from private.oauth_connections;
create function pg_temp.turn(p_offset int default 0) returns jsonb language sql as $$
  select private.begin_token_refresh(id, generation + p_offset) from own;
$$;

select is(pg_temp.turn() ->> 'refresh_token', 'refresh 1', 'the first caller refreshes');
select is(pg_temp.turn() ->> 'kind', 'busy', 'the next caller waits');
update private.oauth_connections set refresh_started_at = clock_timestamp() - interval '31 seconds';
select is(pg_temp.turn() ->> 'kind', 'begun', 'a caller that died does not block the next one');
select ok((select private.end_token_refresh(id, generation, '{"access_token": "access 2", "refresh_token": "refresh 2"}') from own), 'the new tokens are stored');
select ok(not (select private.end_token_refresh(id, generation, '{"access_token": "late", "refresh_token": "late"}') from own), 'a late result is refused');
select is(pg_temp.turn() ->> 'access_token', 'access 2', 'a caller with the older token gets the newer one');
select is(pg_temp.turn(1) ->> 'refresh_token', 'refresh 2', 'the rotated refresh token is used next');
select private.fail_token_refresh(id, generation + 1, true) from own;
select is(pg_temp.turn(2) ->> 'kind', 'ended', 'after a refusal the user has to connect again');
select is((select count(*)::int from vault.secrets where name like 'supaswarm/user/%'), 0, 'no token stays in Vault');

select * from finish();
rollback;
