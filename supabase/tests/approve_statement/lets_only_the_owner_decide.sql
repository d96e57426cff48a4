begin;
set local search_path = public, extensions;
select plan(8);

select tests.create_user('owner');
select tests.create_user('stranger');
create temp table made on commit drop as
  select (private.offer_sql_confirmation(jsonb_build_object(
    'token_hash', md5('token'), 'user_id', tests.user_id('owner'), 'client_id', '',
    'tree_hash', '00', 'params_hash', '00', 'statement_class', 'ddl', 'statement', 'create table t ()',
    'tables', '["t"]'::jsonb, 'max_rows', 1, 'needs_approval', true)) ->> 'id')::uuid as id;
grant select on made to authenticated;

select tests.act_as_user('stranger');
select is(tests.code_of($$select public.approve_statement((select id from made), true)$$), 'CONFIRMATION_NOT_FOUND', 'a stranger finds nothing to approve');
select is_empty('select id from public.sql_confirmations', 'a stranger reads no pending statement');
select tests.act_as_user('owner');
select is((select statement from public.sql_confirmations), 'create table t ()', 'the owner reads the pending statement');
select is(tests.code_of($$select private.spend_sql_confirmation(md5('token'), '', '00', '00', 'key')$$), 'APPROVAL_REQUIRED', 'the token by itself does not allow the statement to run');
select is(tests.code_of($$select public.approve_statement((select id from made), null)$$), 'REVIEW_ANSWER_INVALID', 'null is neither an approval nor a rejection');
select is(public.approve_statement((select id from made), true), 'approved', 'the owner approves');
select is(public.approve_statement((select id from made), false), 'rejected', 'the owner may change an approval to a rejection');
select is(tests.code_of($$select public.approve_statement((select id from made), true)$$), 'CONFIRMATION_NOT_FOUND', 'a rejection is final');
select tests.act_as_nobody();

select * from finish();
rollback;
