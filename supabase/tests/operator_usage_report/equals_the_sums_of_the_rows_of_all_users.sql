begin;
set local search_path = public, extensions;
select plan(13);
select tests.create_user(name) from unnest(array['operator', 'stranger']) as name;
select public.grant_scopes(tests.user_id('operator'), '{swarm:operate}');

create temp table made on commit drop as
  select name, tests.create_task(p_owner => name) as id from unnest(array['ada', 'ada', 'bob']) as name;
update public.tasks set status = 'failed', finished_at = now(), agent_revision = 2, error = '{"code": "X", "message": "y"}'
where id = (select id from made where name = 'bob');
update public.tasks set created_at = now() - interval '3 days', agent_revision = 1
where id = (select id from made where name = 'ada' order by id limit 1);
insert into public.usage_events (
  user_id, agent_slug, agent_revision, model, key_source, input_tokens, output_tokens, cost_micro_usd, created_at
)
select tests.user_id(case when n % 3 = 0 then 'bob' else 'ada' end), case when n % 5 > 0 then 'agent-' || n % 2 end,
  case when n % 5 > 0 then n % 4 end, 'm' || n % 3, 'none', n, 2 * n, case when n % 7 > 0 then n * 10 end,
  now() - n % 4 * interval '1 day'
from generate_series(1, 500) as n;
insert into public.usage_events (user_id, model, key_source, input_tokens, output_tokens, mcp_name, tool_name)
values (null, 'm1', 'none', 1, 1, 'notes', 'search');
insert into public.usage_days (
  day, user_id, agent_slug, model, key_source, call_count, task_count, input_tokens, cached_input_tokens, output_tokens,
  cost_micro_usd, unpriced_call_count
)
values ((now() at time zone 'UTC')::date - 40, tests.user_id('ada'), 'agent-1', 'm1', 'none', 5, 1, 100, 0, 50, 900, 1);
insert into public.mcp_executions (mcp_name, tool_name, user_id, execution_time_ms, status, error_message, created_at)
select 'notes', 'search-' || n % 2, tests.user_id(case when n % 3 = 0 then 'bob' else 'ada' end), n,
  case when n > 90 then 'error' else 'success' end, case when n > 90 then 'It broke' end, now() - n % 4 * interval '1 day'
from generate_series(1, 100) as n;
-- Cron has already summed half of the calls by day.
select private.add_tool_calls(now() - interval '1 day');

create temp table expected on commit drop as
  select user_id, agent_slug, agent_slug || '@' || agent_revision as revision, model, mcp_name || '.' || tool_name as tool,
    (created_at at time zone 'UTC')::date as day, 1 as call_count, input_tokens, output_tokens, cost_micro_usd
  from public.usage_events
  union all
  select user_id, agent_slug, null, model, null, day, call_count, input_tokens, output_tokens, cost_micro_usd
  from public.usage_days;
create temp table expected_call on commit drop as select mcp_name || '.' || tool_name as tool, status from public.mcp_executions;
grant select on expected, expected_call to authenticated;

select tests.act_as_user('operator');
select results_eq(
  format(
    $$select label, model_call_count, input_tokens, output_tokens, cost_micro_usd
      from public.operator_usage_report(%L, (now() at time zone 'UTC')::date - 60)
      where model_call_count > 0 order by label collate "C"$$,
    report.dimension
  ),
  format(
    $$select coalesce(%1$s::text, ''), sum(call_count)::bigint, sum(input_tokens)::bigint, sum(output_tokens)::bigint,
        sum(cost_micro_usd)::bigint
      from expected %2$s group by 1 order by coalesce(%1$s::text, '') collate "C"$$,
    report.label, case report.dimension when 'tool' then 'where tool is not null' end
  ),
  'the model calls by ' || report.dimension || ' equal the sums of the rows'
)
from (values
  ('day', 'day'), ('owner', 'user_id'), ('agent', 'agent_slug'), ('model', 'model'), ('tool', 'tool'), ('revision', 'revision')
) as report (dimension, label);
select results_eq(
  $$select label, tool_call_count, tool_success_count from public.operator_usage_report('tool')
    where tool_call_count > 0 order by label$$,
  'select tool, count(*), count(*) filter (where status = ''success'') from expected_call group by 1 order by 1',
  'the tool calls that are summed by day, and those that are not yet, equal the ledger'
);
select results_eq(
  $$select name, tool_call_count, job_count, failed_count from public.operator_usage_report('owner')
    where name is not null order by name$$,
  $$values ('ada@example.test', 67::bigint, 2::bigint, 0::bigint), ('bob@example.test', 33, 1, 1)$$,
  'owners have their email address, the number of their tool calls, and their jobs'
);
select results_eq(
  $$select sum(model_call_count), sum(job_count) from public.operator_usage_report(
      'day', (now() at time zone 'UTC')::date - 3, (now() at time zone 'UTC')::date)$$,
  'values (375::numeric, 1::numeric)', 'the report can be limited to days'
);
select is((select count(*) from public.operator_usage_report('model', p_limit => 1)), 1::bigint, 'the limit is respected');
select results_eq(
  $$select bad.arguments from (values
      ('null'), ('''job'''), ('''day'', p_limit => 0'), ('''day'', ''2026-01-02'', ''2026-01-01'''),
      ('''day'', ''2020-01-01'', ''2026-01-01''')
    ) as bad (arguments)
    where tests.code_of(format('select * from public.operator_usage_report(%s)', bad.arguments)) is distinct from 'QUERY_INVALID'$$,
  'select null::text where false', 'unknown reports are refused'
);
select tests.act_as_user('stranger');
select is(tests.code_of($$select * from public.operator_usage_report('day')$$), 'INSUFFICIENT_SCOPE', 'other users are refused');
select tests.act_as_anon();
select is(tests.code_of($$select * from public.operator_usage_report('day')$$), '42501', 'no other role may read it');
select tests.act_as_nobody();

select * from finish();
rollback;
