begin;
set local search_path = public, extensions;
select plan(10);

create temp table made on commit drop as select tests.create_task() as id;
grant select on made to authenticated;
select tests.create_task(p_owner => 'stranger');
insert into public.task_steps (task_id, seq, kind, state, output, epoch, started_at, ended_at)
select id, n, 'model', 'done', '{"text": "x", "tool_calls": [], "finish_reason": "stop"}', 0,
  now() - interval '1 hour', now() - interval '1 hour' + n * interval '1 second'
from made, generate_series(1, 4) as n;
insert into public.usage_events (user_id, task_id, step_seq, agent_slug, model, key_source, input_tokens, output_tokens, cost_micro_usd)
select tests.user_id('owner'), id, n, 'writer', 'm1', 'none', 10, 1, 100
from made, generate_series(1, 4) as n;
insert into public.mcp_executions (id, mcp_name, tool_name, user_id, task_id, execution_time_ms, status, error_message)
select md5('call ' || n)::uuid, 'notes', 'search', tests.user_id('owner'), id, n,
  case when n > 90 then 'error' else 'success' end, case when n > 90 then 'It broke' end
from made, generate_series(1, 100) as n;
insert into public.mcp_failures (execution_id, error_type, error_code)
values (md5('call 100')::uuid, 'outcome_unknown', 'TOOL_CANCELLED');
insert into public.mcp_feedback (execution_id, feedback_token, user_id, rating, rating_score)
values (md5('call 1')::uuid, gen_random_uuid(), tests.user_id('owner'), 'up', 5),
  (md5('call 2')::uuid, gen_random_uuid(), tests.user_id('owner'), 'down', 2);
insert into public.usage_events (user_id, execution_id, mcp_name, tool_name, model, key_source, input_tokens, output_tokens, cost_micro_usd)
values (tests.user_id('owner'), md5('call 1')::uuid, 'notes', 'search', 'm2', 'none', 5, 5, null);
insert into public.usage_events (user_id, model, key_source, input_tokens, output_tokens, cost_micro_usd, created_at)
values (tests.user_id('owner'), 'm3', 'none', 7, 7, 7, now() - interval '40 days');
insert into public.usage_events (user_id, model, key_source, input_tokens, output_tokens, cost_micro_usd)
values (tests.user_id('stranger'), 'm4', 'none', 7, 7, 7);

select tests.act_as_user('owner');
select results_eq(
  $$select label, model_call_count, input_tokens, cost_micro_usd, model_p50_ms, model_p95_ms from public.usage_report('model')$$,
  $$values ('m1', 4::bigint, 40::bigint, 400::bigint, 2000, 4000), ('m2', 1, 5, null, null, null)$$,
  'models are sorted by cost; calls inside tools have no time of their own'
);
select results_eq(
  $$select label, model_call_count, tool_call_count, tool_success_count, tool_cancelled_count, tool_p50_ms, tool_p95_ms,
      tool_p99_ms, up_count, down_count, average_score from public.usage_report('tool')$$,
  $$values ('notes.search', 1::bigint, 100::bigint, 90::bigint, 1::bigint, 50, 95, 99, 1::bigint, 1::bigint, 3.50)$$,
  'tools have success, percentiles and grades for the whole period'
);
select results_eq(
  $$select label, name, model_call_count, cost_micro_usd, model_p95_ms, tool_call_count, tool_p95_ms, task_count,
      completed_count from public.usage_report('job', p_limit => 1)$$,
  $$select id::text, agent_slug, 4::bigint, 400::bigint, 4000, 100::bigint, 95, 1::bigint, 0::bigint from public.tasks$$,
  'jobs are listed with their agent and percentiles'
);
select results_eq(
  $$select label, model_call_count, tool_call_count, task_count from public.usage_report('day')$$,
  $$values (to_char(now() at time zone 'UTC', 'YYYY-MM-DD'), 5::bigint, 100::bigint, 1::bigint)$$,
  'days are in UTC'
);
select results_eq(
  $$select label, model_call_count from public.usage_report('agent') where model_call_count > 0$$,
  $$values ('writer', 4::bigint), ('', 1)$$,
  'agents are listed; the label is empty where no agent called'
);
select results_eq(
  $$select label from public.usage_report('model', now() - interval '60 days', now() - interval '30 days')$$,
  $$values ('m3')$$, 'the report can be limited to a period'
);
select is((select count(*) from public.usage_report('model', p_limit => 1)), 1::bigint, 'the limit is respected');
select results_eq(
  $$select bad.arguments from (values
      ('null'), ('''owner'''), ('''day'', p_limit => 0'), ('''day'', now(), now() - interval ''1 day'''),
      ('''day'', now() - interval ''2 years''')
    ) as bad (arguments)
    where tests.code_of(format('select * from public.usage_report(%s)', bad.arguments)) <> 'QUERY_INVALID'$$,
  'select null::text where false',
  'unknown reports are refused'
);
select tests.act_as_user('stranger');
select is((select array_agg(label) from public.usage_report('model')), array['m4'], 'other users see their own usage');
select tests.act_as_anon();
select is(tests.code_of($$select * from public.usage_report('day')$$), '42501', 'no other role may read it');
select tests.act_as_nobody();

select * from finish();
rollback;
