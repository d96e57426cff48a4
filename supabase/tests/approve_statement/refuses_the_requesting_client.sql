begin;
set local search_path = public, extensions;
select plan(6);

select tests.create_user('owner');
select public.grant_scopes(tests.user_id('owner'), '{sql:read,sql:write}');
create temp table made on commit drop as
  select name, (private.offer_sql_confirmation(jsonb_build_object(
    'token_hash', md5(name), 'user_id', tests.user_id('owner'), 'client_id', 'assistant',
    'tree_hash', '00', 'params_hash', '00', 'statement_class', 'ddl', 'statement', 'drop table t',
    'tables', '["t"]'::jsonb, 'max_rows', 1, 'needs_approval', true)) ->> 'id')::uuid as id
  from unnest(array['first', 'second', 'third']) as name;
grant select on made to authenticated;
create function pg_temp.decide(p_client text, p_name text, p_approved boolean) returns text language sql as $$
  select tests.act_as_user('owner');
  select set_config('request.jwt.claims',
    (current_setting('request.jwt.claims')::jsonb || jsonb_build_object('client_id', p_client))::text, true);
  select tests.code_of(format('select public.approve_statement(%L, %L)', (select id from made where name = p_name), p_approved));
$$;

select is(pg_temp.decide('assistant', 'first', true), 'FORBIDDEN', 'a client cannot approve its own request');
select tests.act_as_nobody();
select is((select is_approved from public.sql_confirmations where token_hash = decode(md5('first'), 'hex')), null, 'the request stays undecided');
select is(pg_temp.decide('assistant', 'second', false), 'none', 'the client may withdraw its request');
select is(pg_temp.decide('console', 'third', true), 'none', 'another client of the owner may approve');
select is(pg_temp.decide('', 'first', true), 'none', 'the owner may approve');
select is(pg_temp.decide('console', 'second', true), 'CONFIRMATION_NOT_FOUND', 'a rejection is final');
select tests.act_as_nobody();

select * from finish();
rollback;
