begin;
set local search_path = public, extensions;
select plan(7);

create temp table made on commit drop as select tests.create_task(p_owner => 'owner') as id;
select tests.claim((select id from made));
grant select on made to authenticated;
insert into public.model_prices (provider_id, model, input_micro_usd_per_mtok, cached_input_micro_usd_per_mtok, output_micro_usd_per_mtok)
values (tests.create_provider('test'), 'm', 1000000, 1000000, 1000000);
create function pg_temp.think(p_seq int, p_calls int) returns boolean language sql as $$
  select private.record_steps((select id from made), tests.epoch_of((select id from made)), 30, jsonb_build_array(jsonb_build_object(
    'seq', p_seq, 'kind', 'model', 'state', 'done',
    'output', jsonb_build_object('tool_calls', (select coalesce(jsonb_agg(n), '[]') from generate_series(1, p_calls) as n)),
    'usage', jsonb_build_object('provider_id', tests.create_provider('test'), 'model', 'm', 'key_source', 'none',
      'input_tokens', 90, 'output_tokens', 10))))
$$;
create function pg_temp.use(p_seq int, p_uses jsonb) returns int language sql as $$
  select private.record_execution(jsonb_build_object(
    'id', md5('call ' || p_seq)::uuid, 'feedback_token', gen_random_uuid(), 'mcp_name', 'notes', 'tool_name', 'search',
    'user_id', tests.user_id('owner'), 'agent_id', (select agent_id from public.tasks where id = (select id from made)),
    'task_id', (select id from made), 'step_seq', p_seq, 'attempt', 1, 'execution_time_ms', 1, 'status', 'success',
    'model_uses', p_uses))
$$;
select pg_temp.think(1, 2);
select pg_temp.use(2, '[{"provider": "test", "model": "m", "key_source": "organisation", "input_tokens": 7, "output_tokens": 0},
  {"provider": "nobody", "model": "m", "key_source": "organisation", "input_tokens": 5, "output_tokens": 0}]');
select pg_temp.use(3, '[]');
select pg_temp.think(4, 1);
select pg_temp.use(5, '[]');

select tests.act_as_user('owner');
select results_eq(
  $$select cost.model_call_count, cost.cost_micro_usd::int, cost.unpriced_model_call_count, cost.agent_cost_micro_usd::int
    from public.tool_call_costs as cost join public.mcp_executions as call on call.id = cost.execution_id order by call.step_seq$$,
  $$values (2::bigint, 7, 1::bigint, 50), (0::bigint, null, 0::bigint, 50), (0::bigint, null, 0::bigint, 100)$$,
  'two calls of a turn share its cost, whatever they contain'
);
select results_eq(
  'select cost_micro_usd::int, model_call_count::int, agent_cost_micro_usd::int from public.agent_tool_usage',
  'values (7, 2, 200)', 'costs are summed by agent and tool'
);
select results_eq(
  $$select sum(call_count)::int, sum(call_count_in_tools)::int, sum(cost_micro_usd)::int, sum(cost_in_tools_micro_usd)::int
    from public.agent_usage$$,
  'values (4, 2, 207, 7)', 'an agent''s total includes its tools'' usage and reports that part'
);
select results_eq(
  $$select task_id, step_seq, agent_slug from public.usage_events where execution_id is not null and cost_micro_usd = 7$$,
  $$select id, 2, 'worker-agent' from made$$, 'the usage of a tool is found by task, step and agent'
);
select tests.act_as_nobody();
select is((select array[input_tokens, output_tokens, cost_micro_usd] from private.job_totals), array[192, 20, 207]::bigint[], 'it counts against the job''s budget');
select private.yield_task(id, tests.epoch_of(id)) from made;
select is((select array[input_tokens, output_tokens, cost_micro_usd] from public.tasks), array[192, 20, 207]::bigint[], 'the task''s sums include it');

insert into public.usage_events (task_id, step_seq, model, key_source, input_tokens, output_tokens, cost_micro_usd, is_estimate)
select id, 4, 'm', 'none', 30, 0, 30, true from made;
select results_eq(
  $$select agent_cost_micro_usd::int from public.tool_call_costs as cost
    join public.mcp_executions as call on call.id = cost.execution_id where call.step_seq = 5$$,
  'values (130)', 'a call is listed once when the turn that requested it was cut off before, with the cost of both calls'
);

select * from finish();
rollback;
