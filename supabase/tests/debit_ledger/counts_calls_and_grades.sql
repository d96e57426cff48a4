begin;
set local search_path = public, extensions;
select plan(8);

select tests.create_user('owner'), tests.create_user('stranger');
create function pg_temp.call(p_user text, p_token text, p_text text) returns void language sql as $$
  insert into public.mcp_executions (feedback_token, mcp_name, tool_name, user_id, request_data, execution_time_ms, status)
  values (md5(p_token)::uuid, 'notes', 'search', tests.user_id(p_user), to_jsonb(p_text), 1, 'success')
$$;
create function pg_temp.used(p_user text) returns bigint language sql as $$
  select private.sum_stored_debits(1000);
  select private.stored_use('ledger_bytes', tests.user_id(p_user))
$$;

select pg_temp.call('owner', 'a', repeat('x', 5000));
select is(pg_temp.used('owner'), 5802::bigint, 'a tool call counts with its arguments');
select is(pg_temp.used('stranger'), 0::bigint, 'for its caller only');
select private.record_feedback(tests.user_id('owner'), md5('a')::uuid, 'up', null, 'fine');
select is(pg_temp.used('owner'), 8302::bigint, 'a grade counts with the longest comment');
select private.record_usage(jsonb_build_object('user_id', caller, 'model', 'm', 'key_source', 'none'))
from unnest(array[tests.user_id('owner'), null]) as caller;
select is(pg_temp.used('owner'), 8702::bigint, 'a model call counts');
update private.quotas set amount = 8702 where name = 'ledger_bytes';
select is(
  tests.code_of(format('select private.record_feedback(%L, %L, null, 1, null)', tests.user_id('owner'), md5('a')::uuid)),
  'QUOTA_EXCEEDED', 'nothing is graded when the quota is used up');
select is(tests.code_of('select tests.create_task()'), 'QUOTA_EXCEEDED', 'and no job is created');
delete from public.mcp_executions;
select is(pg_temp.used('owner'), 400::bigint, 'deleted calls and their grades no longer count');
delete from public.usage_events;
select is(pg_temp.used('owner'), 0::bigint, 'nor do deleted model calls');

select * from finish();
rollback;
