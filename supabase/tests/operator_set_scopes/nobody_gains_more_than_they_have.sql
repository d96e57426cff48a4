begin;
set local search_path = public, extensions;
select plan(26);
select tests.create_user(name) from unnest(array['holder', 'second', 'looker', 'admin', 'person']) as name;
select public.grant_scopes(tests.user_id('holder'), '{swarm:operate, swarm:configure}');
select public.grant_scopes(tests.user_id('second'), '{swarm:operate, swarm:configure}');
select public.grant_scopes(tests.user_id('looker'), '{swarm:operate}');
select public.grant_scopes(tests.user_id('admin'), '{admin:*}');
insert into public.tools (name, slug, type, config) values ('wiki', 'wiki', 'mcp_server', '{"mcp_url": "https://wiki.test"}');
create function pg_temp.now_of(p_name text) returns text[] language sql security definer as $$
  select scopes from public.mcp_grants where user_id = tests.user_id(p_name) and client_id is null
$$;
create function pg_temp.code(p_name text, p_scopes text, p_client text default null) returns text language sql as $$
  select tests.code_of(format('select public.operator_set_scopes(p_account => %L, p_scopes => %L, p_reason => ''a test'', p_base => %L, p_client_id => %L)',
    p_name || '@example.test', p_scopes, case when p_client is null then pg_temp.now_of(p_name) end, p_client))
$$;

select tests.act_as_user('looker');
select is(pg_temp.code('person', '{sql:read}'), 'INSUFFICIENT_SCOPE', 'an operator without swarm:configure grants nothing');
select is(pg_temp.code('looker', '{swarm:operate,swarm:configure}'), 'INSUFFICIENT_SCOPE', 'nor swarm:configure to themselves');
select isnt_empty('select from public.operator_grants', 'but reads who has which scope');
select tests.act_as_nobody();

select tests.act_as_user('person');
select is(tests.code_of('select * from public.operator_grants'), 'INSUFFICIENT_SCOPE', 'a user does not read the scopes of others');
select is(pg_temp.code('person', '{admin:*}'), 'INSUFFICIENT_SCOPE', 'and grants nothing');
select tests.act_as_nobody();

select tests.act_as_user('holder');
select is(pg_temp.code('holder', '{admin:*,swarm:configure,swarm:operate}'), 'SCOPES_INVALID', 'a holder does not grant themselves admin:*');
select is(pg_temp.code('holder', '{sql:read,swarm:configure,swarm:operate}'), 'SCOPES_INVALID', 'nor change their own scopes in any other way');
select is(pg_temp.code('holder', '{swarm:configure,swarm:operate}', 'editor'), 'SCOPES_INVALID', 'nor those of their own client');
select is(pg_temp.code('person', '{admin:*}'), 'SCOPES_INVALID', 'a holder does not grant admin:*, which they lack, to a second account');
select is(pg_temp.code('person', '{sql:write}'), 'SCOPES_INVALID', 'nor another scope that they lack');
select is(pg_temp.code('admin', '{sql:read}'), 'SCOPES_INVALID', 'nor withdraw admin:* from somebody who has it');
select is(pg_temp.code('person', '{mcp:wikki}'), 'SCOPES_INVALID', 'nor that of a server that does not exist');
select is(pg_temp.code('person', '{mcp:wiki,chat:read,chat:write,conv:write,quoth:read,ruleset:read,ruleset:write,sql:read,swarm:run}', 'some-client'),
  'none', 'a holder gives access to a server, which they could register as well');
select is(pg_temp.code('person', '{swarm:runn}'), 'SCOPES_INVALID', 'an unknown scope is refused');
select is(pg_temp.code('nobody', '{sql:read}'), 'USER_NOT_FOUND', 'an unknown account is refused');
select is(
  tests.code_of('select public.operator_set_scopes(p_account => null, p_scopes => ''{swarm:operate}'', p_reason => ''a test'', p_base => (select scopes from public.mcp_grants where user_id is null))'),
  'SCOPES_INVALID', 'the default never has the scopes of operators'
);
select is(
  tests.code_of($$select public.operator_set_scopes(p_account => 'person@example.test', p_scopes => '{sql:read}', p_reason => '')$$),
  'REASON_INVALID', 'a change needs a reason'
);
select is(
  tests.code_of($$select public.operator_set_scopes(p_account => 'second@example.test', p_scopes => '{}', p_reason => 'x', p_base => '{sql:read}')$$),
  'DEFINITION_CHANGED', 'a change of scopes that somebody else has changed is refused'
);
select is(
  public.operator_set_scopes(p_account => 'person@example.test', p_scopes => '{swarm:operate, swarm:configure, sql:read,
    chat:read, chat:write, conv:write, ruleset:read, ruleset:write, quoth:read, swarm:run}', p_reason => 'They deploy too'),
  '{chat:read,chat:write,conv:write,quoth:read,ruleset:read,ruleset:write,sql:read,swarm:configure,swarm:operate,swarm:run}',
  'a holder grants what they have to somebody else'
);
select results_eq(
  $$select act, operator_email, owner_email, reason, details -> 'before', details -> 'after' ? 'swarm:configure'
    from public.operator_acts where details ->> 'client' is null$$,
  $$values ('scopes.changed', 'holder@example.test', 'person@example.test', 'They deploy too', null::jsonb, true)$$,
  'which is recorded once, with the reason; what was refused is not'
);
select tests.act_as_nobody();

select tests.act_as_user('second');
select is(
  public.operator_set_scopes(p_account => 'holder@example.test', p_scopes => null, p_reason => 'They left', p_base => pg_temp.now_of('holder')),
  null, 'a holder withdraws the scopes of another holder'
);
select tests.act_as_nobody();
select tests.act_as_user('holder');
select is(pg_temp.code('second', '{sql:read}'), 'INSUFFICIENT_SCOPE', 'who from then on changes nothing');
select tests.act_as_nobody();

select tests.act_as_user('admin');
select is(pg_temp.code('person', '{sql:write}'), 'none', 'admin:* grants every scope');
select is(pg_temp.code('admin', '{admin:*,sql:write}'), 'SCOPES_INVALID', 'but not to its own holder');
select set_config('request.jwt.claims', jsonb_build_object(
  'sub', tests.user_id('admin'), 'role', 'authenticated', 'client_id', 'editor')::text, true);
select is(pg_temp.code('person', '{sql:read}', 'editor'), 'INSUFFICIENT_SCOPE', 'a client without a grant of its own does not act for a holder');
select tests.act_as_nobody();
select public.grant_scopes(tests.user_id('admin'), '{admin:*}', 'editor');
select tests.act_as_user('admin');
select set_config('request.jwt.claims', jsonb_build_object(
  'sub', tests.user_id('admin'), 'role', 'authenticated', 'client_id', 'editor')::text, true);
select is(
  tests.code_of($$select public.operator_set_scopes(p_account => 'person@example.test', p_scopes => '{}', p_reason => 'x', p_base => '{sql:write}')$$),
  'FORBIDDEN', 'nor does a client with every scope'
);
select tests.act_as_nobody();

select * from finish();
rollback;
