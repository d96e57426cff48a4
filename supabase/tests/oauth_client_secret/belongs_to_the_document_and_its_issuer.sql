begin;
set local search_path = public, extensions;
select plan(15);

select tests.create_user(name) from unnest(array['holder', 'owner']) as name;
select public.grant_scopes(tests.user_id('holder'), '{swarm:operate, swarm:configure}');

create function pg_temp.server(p_issuer text, p_secret text) returns jsonb language sql as $$
  select jsonb_build_object('description', 'A diary.', 'config', jsonb_build_object('mcp_url', 'https://diary.example',
    'oauth', jsonb_build_object('client_id', 'us', 'issuer', p_issuer, 'client_secret', jsonb_build_object('secret', p_secret))))
$$;
create function pg_temp.save(p_issuer text, p_secret text, p_slug text default 'diary') returns text language sql as $$
  select tests.code_of(format('select public.operator_save_definition(%L, %L, %L, %L)', 'server', p_slug, pg_temp.server(p_issuer, p_secret),
    (select definition from public.operator_settings where kind = 'server' and slug = p_slug)))
$$;
create function pg_temp.diary() returns uuid language sql as $$ select id from public.tools where slug = 'diary' $$;
create function pg_temp.take() returns text language sql as $$
  select private.begin_oauth(jsonb_build_object('state_hash', 'a', 'user_id', tests.user_id('owner'), 'code_verifier', 'v',
    'tool_id', pg_temp.diary(), 'server_url', 'https://diary.example', 'authorization_server', '{"issuer": "https://login.example"}'::jsonb,
    'client_id', 'us', 'client_secret_name', 'DIARY_SECRET', 'redirect_url', 'https://here.example'));
  select private.take_oauth_request('a', tests.user_id('owner')) ->> 'client_secret';
$$;
create function pg_temp.code_of_taking() returns text language sql as $$ select tests.code_of('select pg_temp.take()') $$;
create function pg_temp.connect() returns void language sql as $$
  select private.record_oauth_connection(jsonb_build_object('user_id', tests.user_id('owner'), 'tool_id', pg_temp.diary(),
    'server_url', 'https://diary.example', 'authorization_server', '{"issuer": "https://login.example"}'::jsonb,
    'client_id', 'us', 'client_secret_name', 'DIARY_SECRET', 'redirect_url', 'https://here.example'),
    '{"access_token": "access", "refresh_token": "refresh", "expires_in": 60}')
$$;
create function pg_temp.renew() returns text language sql as $$
  update private.oauth_connections set refresh_started_at = null;
  select private.begin_token_refresh(credential_id, generation) ->> 'client_secret' from private.oauth_connections;
$$;
create function pg_temp.code_of_renewing() returns text language sql as $$ select tests.code_of('select pg_temp.renew()') $$;

-- A server that waits for its secret.
select tests.act_as_user('holder');
select is(pg_temp.save('https://login.example', 'DIARY_SECRET'), 'none', 'a server names the secret of its OAuth client before it is stored');
select results_eq(
  $$select sent_to from public.operator_secrets where name = 'DIARY_SECRET'$$, $$values ('{login.example}'::text[])$$,
  'which is sent to the authorization server'
);
select tests.act_as_nobody();
select vault.create_secret('of another program', 'DIARY_SECRET');
select pg_temp.connect();
select is(pg_temp.code_of_taking(), 'SECRET_NOT_FOUND', 'a connection does not get what another program stores');
select is(pg_temp.code_of_renewing(), 'SECRET_NOT_FOUND', 'nor does a renewal');
select matches((select problem from public.operator_configuration_problems where field = 'config.oauth.client_secret'), 'nobody has given', 'which is a problem of the configuration');
select is(private.end_oauth_connection('diary', tests.user_id('owner')) ->> 'client_secret', null, 'a connection is ended without it');
select private.bind_secret('DIARY_SECRET');
select is(pg_temp.take(), 'of another program', 'who may read Vault binds it');

-- A document that changes.
select pg_temp.connect();
select is(pg_temp.renew(), 'of another program', 'renewals of the connection get it');
select tests.act_as_user('holder');
select is(pg_temp.save('https://thief.test', 'DIARY_SECRET'), 'SECRET_INVALID', 'it is not sent to another authorization server');
select is(pg_temp.save('https://login.example', 'DIARY_SECRET', 'second'), 'none', 'a second server with this one may use it');
select pg_temp.save('https://login.example', 'OTHER_SECRET');
select tests.act_as_nobody();
select is(pg_temp.code_of_renewing(), 'AUTHORIZATION_REQUIRED', 'a connection does not use a secret that its document names no more');
select is(pg_temp.code_of_taking(), 'AUTHORIZATION_REQUIRED', 'nor does one that was begun before');
update public.tools set config = jsonb_set(pg_temp.server('https://moved.example', 'DIARY_SECRET') -> 'config', '{mcp_url}', '"https://diary.example"')
where slug = 'diary';
select is(pg_temp.code_of_renewing(), 'AUTHORIZATION_REQUIRED', 'nor one that its document sends elsewhere');
select is(private.end_oauth_connection('diary', tests.user_id('owner')) ->> 'client_secret', null, 'also not at its end');
select is((select count(*)::int from private.oauth_connections), 0, 'which comes in any case');

select * from finish();
rollback;
