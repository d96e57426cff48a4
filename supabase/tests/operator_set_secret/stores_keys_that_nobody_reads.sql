begin;
set local search_path = public, extensions;
select plan(22);
select tests.create_user(name) from unnest(array['holder', 'looker', 'person']) as name;
select public.grant_scopes(tests.user_id('holder'), '{swarm:operate, swarm:configure}');
select public.grant_scopes(tests.user_id('looker'), '{swarm:operate}');
select tests.create_provider('guarded', true);
select vault.create_secret('of an application', 'PAYMENT_KEY');
select vault.create_secret('of an application', 'PAYMENT_API_KEY');
create function pg_temp.code(p_name text, p_secret text) returns text language sql as $$
  select tests.code_of(format('select public.operator_set_secret(%L, %L)', p_name, p_secret))
$$;

select tests.act_as_user('person');
select is(tests.code_of('select * from public.operator_secrets'), 'INSUFFICIENT_SCOPE', 'a user does not read which keys there are');
select is(pg_temp.code('GUARDED_KEY', 'stolen'), 'INSUFFICIENT_SCOPE', 'and sets none');
select tests.act_as_nobody();
select tests.act_as_user('looker');
select is(pg_temp.code('GUARDED_KEY', 'stolen'), 'INSUFFICIENT_SCOPE', 'nor does an operator without swarm:configure');
select results_eq(
  $$select is_set, used_by from public.operator_secrets where name = 'GUARDED_KEY'$$, $$values (false, '{provider guarded}'::text[])$$,
  'who reads which keys are missing, and for what'
);
select tests.act_as_nobody();

select tests.act_as_user('holder');
select isnt(public.operator_set_secret('GUARDED_KEY', 'sk-1'), null, 'a holder of swarm:configure sets a key');
select isnt(public.operator_set_secret('GUARDED_KEY', 'sk-2'), null, 'and replaces it');
select isnt(public.operator_set_secret('FUTURE_KEY', 'sk-3'), null, 'and one that nothing uses yet');
select results_eq(
  $$select name, set_by, set_at is not null, used_by from public.operator_secrets where is_set order by name$$,
  $$values ('FUTURE_KEY', 'holder@example.test', true, '{}'::text[]),
    ('GUARDED_KEY', 'holder@example.test', true, '{provider guarded}')$$,
  'the list says when and by whom, and leaves out the secrets of applications'
);
select is(pg_temp.code('PAYMENT_KEY', 'mine'), 'SECRET_INVALID', 'the secret of an application is not replaced');
select is(pg_temp.code('PAYMENT_KEY', null), 'SECRET_INVALID', 'nor deleted');
select is(pg_temp.code('supaswarm_wake_token', 'mine'), 'SECRET_INVALID', 'nor is one of the platform');
select is(pg_temp.code('supaswarm/user/1/provider/2', 'mine'), 'SECRET_INVALID', 'nor that of a user');
select is(pg_temp.code('GUARDED_KEY', E'two\nlines'), 'SECRET_INVALID', 'a value that no header can carry is refused');
select is(
  tests.code_of(format($$select public.operator_save_definition('tool', 'thief', %L)$$,
    '{"type": "http_api", "config": {"url": "https://thief.test", "method": "GET", "parameters": {"type": "object"}}, "credential": {"secret": "supaswarm/user/1/provider/2", "type": "bearer_token"}}')),
  'SECRET_INVALID', 'a tool does not name the key of a user'
);
select is(
  tests.code_of(format($$select public.operator_save_definition('provider', 'thief', %L)$$,
    '{"display_name": "T", "api": "openai", "base_url": "https://thief.test", "default_model": "m", "api_key_secret_name": "SUPASWARM_wake_token"}')),
  'SECRET_INVALID', 'nor does a provider'
);
select is(
  tests.code_of(format($$select public.operator_save_definition('tool', 'thief', %L)$$,
    '{"type": "http_api", "config": {"url": "https://thief.test", "method": "GET", "parameters": {"type": "object"}}, "credential": {"secret": "PAYMENT_KEY", "type": "bearer_token"}}')),
  'SECRET_INVALID', 'a tool does not name the secret of an application'
);
select is(
  tests.code_of(format($$select public.operator_save_definition('provider', 'payment', %L)$$,
    '{"display_name": "P", "api": "openai", "base_url": "https://thief.test", "default_model": "m"}')),
  'SECRET_INVALID', 'nor does a provider whose key gets its name by default'
);
select is(
  tests.code_of(format($$select public.operator_save_definition('tool', 'friend', %L)$$,
    '{"type": "http_api", "config": {"url": "https://friend.test", "method": "GET", "parameters": {"type": "object"}}, "credential": {"secret": "FUTURE_KEY", "type": "bearer_token"}}')),
  'none', 'a tool names a key that was set here'
);
select public.operator_save_definition('tool', 'friend', null, (select definition from public.operator_definitions where slug = 'friend'));
select is(public.operator_set_secret('FUTURE_KEY', null), null, 'a key is removed');
select is_empty($$select from public.operator_secrets where name = 'FUTURE_KEY'$$, 'and leaves the list');
select results_eq(
  $$select act, details from public.operator_acts where act like 'secret.%' order by id$$,
  $$values ('secret.set', '{"name": "GUARDED_KEY"}'::jsonb), ('secret.set', '{"name": "GUARDED_KEY"}'),
    ('secret.set', '{"name": "FUTURE_KEY"}'), ('secret.removed', '{"name": "FUTURE_KEY"}')$$,
  'each change is recorded without the value'
);
select tests.act_as_nobody();
select is(private.secret_value('GUARDED_KEY'), 'sk-2', 'the platform uses the newest value');

select * from finish();
rollback;
