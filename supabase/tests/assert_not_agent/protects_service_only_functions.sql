begin;
set local search_path = public, extensions;
select plan(4);
select tests.create_user('owner');
create temp table attempts (statement text) on commit drop;
insert into attempts values
  ($$ select public.grant_scopes(null, '{admin:*}') $$),
  ($$ select public.record_mcp_tool_success(gen_random_uuid()) $$),
  ($$ select public.record_mcp_tool_execution(gen_random_uuid(), 'tool', '{}') $$);
grant select on attempts to service_role;

select tests.act_as_service();
select set_config('request.headers', '{"x-supaswarm-actor": "agent"}', true);
select is(tests.code_of(statement), 'AGENT_NOT_ALLOWED', statement) from attempts;
select set_config('request.headers', '{}', true);
select ok('sql:write' = any (public.grant_scopes(tests.user_id('owner'), '{sql:write}')), 'the service can still grant scopes');
select tests.act_as_nobody();
select * from finish();
rollback;
