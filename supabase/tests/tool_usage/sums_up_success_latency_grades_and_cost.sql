begin;
set local search_path = public, extensions;
select plan(6);

select tests.create_user(name) from unnest(array['owner', 'stranger']) as name;
insert into public.mcp_executions (id, mcp_name, tool_name, agent_id, user_id, execution_time_ms, status, error_message, attempt, created_at)
select md5('call ' || n)::uuid, 'notes', 'search', case when n <= 50 then tests.create_agent('searcher') end,
  tests.user_id(case when n <= 100 then 'owner' else 'stranger' end), n,
  case when n % 10 = 0 then 'error' when n % 25 = 1 then 'timeout' else 'success' end,
  case when n % 10 = 0 or n % 25 = 1 then 'It broke' end, 1, '2026-01-02 23:59:59Z'
from generate_series(1, 110) as n;
insert into public.mcp_feedback (execution_id, feedback_token, user_id, rating, rating_score)
values (md5('call 1')::uuid, gen_random_uuid(), tests.user_id('owner'), 'up', 5),
  (md5('call 2')::uuid, gen_random_uuid(), tests.user_id('owner'), 'down', 2);
insert into public.usage_events (user_id, execution_id, model, key_source, input_tokens, output_tokens, cost_micro_usd)
values (tests.user_id('owner'), md5('call 1')::uuid, 'm', 'none', 1, 1, 30),
  (tests.user_id('owner'), md5('call 1')::uuid, 'm', 'none', 1, 1, 12),
  (tests.user_id('owner'), md5('call 60')::uuid, 'm', 'none', 1, 1, null);

select tests.act_as_user('owner');
select results_eq(
  $$select day::text, call_count, success_count, error_count, timeout_count, success_rate, p50_ms, p95_ms, p99_ms,
    up_count, down_count, average_score, model_call_count, cost_micro_usd, unpriced_model_call_count
    from public.tool_usage where mcp_name = 'notes'$$,
  $$values ('2026-01-02', 100::bigint, 86::bigint, 10::bigint, 4::bigint, 0.86::numeric, 49, 99, 99,
    1::bigint, 1::bigint, 3.50::numeric, 3::bigint, 42::bigint, 1::bigint)$$,
  'a user''s calls are counted once, whatever refers to them'
);
select results_eq(
  $$select agent_slug, call_count, success_count, p50_ms, cost_micro_usd, unpriced_model_call_count
    from public.agent_tool_usage where mcp_name = 'notes' order by agent_slug$$,
  $$values ('searcher', 50::bigint, 43::bigint, 25, 42::bigint, 0::bigint), (null, 50::bigint, 43::bigint, 74, null::bigint, 1::bigint)$$,
  'rows are grouped by agent, and calls without an agent are included; an unknown cost is null'
);
select tests.act_as_user('stranger');
select is((select call_count::int from public.tool_usage where mcp_name = 'notes'), 10, 'other users see their own calls');
select is((select cost_micro_usd from public.tool_usage where mcp_name = 'notes'), null, 'without a model call the cost is null');
select tests.act_as_nobody();
insert into public.mcp_failures (execution_id, error_type, error_code)
values (md5('call 110')::uuid, 'outcome_unknown', 'TOOL_CANCELLED'), (md5('call 101')::uuid, 'timeout', 'TOOL_TIMEOUT');
select tests.act_as_user('stranger');
select results_eq(
  $$select success_count, error_count, success_rate from public.tool_usage where mcp_name = 'notes'$$,
  $$values (8::bigint, 1::bigint, 0.8889::numeric)$$, 'cancelled calls do not lower the success rate');
select tests.act_as_service();
select is((select sum(call_count)::int from public.tool_usage where mcp_name = 'notes'), 110, 'the service sees all calls');
select tests.act_as_nobody();

select * from finish();
rollback;
