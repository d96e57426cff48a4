begin;
set local search_path = public, extensions;
select plan(4);

select tests.create_user('owner');
select tests.act_as_user('owner');
select private.log_auth_event('SIGNED_IN', '{"provider": "google"}');
select results_eq(
  'select user_id, event, metadata from auth_events',
  $$select tests.user_id('owner'), 'SIGNED_IN', '{"provider": "google"}'::jsonb$$, 'the event belongs to the caller');
select is(
  tests.code_of($$select private.log_auth_event('SIGNED_IN', '{"token": "x"}')$$), '23514',
  'no other field is stored, whoever writes');
select is(tests.code_of($$select private.log_auth_event('HACKED', '{}')$$), '23514', 'no other event is accepted');
select is(
  (select array[calls_per_minute, burst_calls] from mcp_policies where mcp_name = 'catalog' and tool_name = 'log_auth_event'),
  array[30, 10], 'its limit comes from a policy');

select * from finish();
rollback;
