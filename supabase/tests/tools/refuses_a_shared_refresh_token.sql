begin;
set local search_path = public, extensions;
select plan(3);

create function pg_temp.add(p_secret_name text) returns text language sql as $$
  select tests.code_of(format(
    'insert into public.tools (name, slug, type, config, credential_type, credential_secret_name) '
    'values (%L, %L, ''http_api'', ''{"method": "GET", "url": "https://api.example.test", "parameters": {}}'', ''oauth_refresh_token'', %L)',
    'mail', 'mail', p_secret_name));
$$;

select is(pg_temp.add('MAIL_REFRESH_TOKEN'), '23514', 'a tool''s own credential cannot be a refresh token');
select is(pg_temp.add(null), 'none', 'users connect their own accounts');
select is(
  tests.code_of($$update public.tools set credential_secret_name = 'MAIL_REFRESH_TOKEN' where slug = 'mail'$$),
  '23514', 'it cannot become one later'
);

select * from finish();
rollback;
