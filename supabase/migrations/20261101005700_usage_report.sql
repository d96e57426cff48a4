-- Usage reports of an account, by day, agent, model, tool or job, with percentiles over the whole period.

create type private.usage_request as (
  owner_id uuid,
  dimension text,
  from_at timestamptz,
  to_at timestamptz,
  row_limit int
);
comment on type private.usage_request is
  'A validated request for a usage report. owner_id is the caller, so the code that sets it must have checked the caller.';

create type private.usage_line as (
  label text,
  name text,
  model_call_count bigint,
  input_tokens bigint,
  output_tokens bigint,
  cost_micro_usd bigint,
  model_p50_ms int,
  model_p95_ms int,
  model_p99_ms int,
  tool_call_count bigint,
  tool_success_count bigint,
  tool_cancelled_count bigint,
  tool_p50_ms int,
  tool_p95_ms int,
  tool_p99_ms int,
  up_count bigint,
  down_count bigint,
  average_score numeric,
  task_count bigint,
  completed_count bigint,
  failed_count bigint
);
comment on type private.usage_line is 'A row of a usage report.';

create function private.usage_request_of(p_by text, p_from timestamptz, p_to timestamptz, p_limit int)
returns private.usage_request
language plpgsql
stable
set search_path = ''
as $$
declare
  v_attempt constant text := 'report the usage';
  v_request private.usage_request;
begin
  perform private.assert_has_scope(v_attempt, 'swarm:run');
  if auth.uid() is null then
    raise sqlstate 'PT403' using
      message = format('Cannot %s: the caller is not a user', v_attempt),
      detail = 'FORBIDDEN',
      hint = 'Call it with a user''s token; the service reads agent_usage and tool_usage.';
  end if;
  if p_by is null or p_by not in ('day', 'agent', 'model', 'tool', 'job') then
    perform private.raise_query_invalid(v_attempt, 'p_by is not a dimension of usage', 'Send day, agent, model, tool or job.');
  end if;
  if p_limit is null or p_limit not between 1 and 1000 then
    perform private.raise_query_invalid(v_attempt, 'p_limit is not from 1 to 1000', 'Send a limit from 1 to 1000.');
  end if;
  v_request.owner_id := auth.uid();
  v_request.dimension := p_by;
  -- Rows that this transaction wrote count too.
  v_request.to_at := coalesce(p_to, now() + interval '1 minute');
  v_request.from_at := coalesce(p_from, v_request.to_at - interval '30 days');
  v_request.row_limit := p_limit;
  if v_request.from_at >= v_request.to_at or v_request.to_at - v_request.from_at > interval '366 days' then
    perform private.raise_query_invalid(v_attempt, 'the time is empty or longer than 366 days', 'Send p_from before p_to, at most a year apart.');
  end if;
  return v_request;
end;
$$;
comment on function private.usage_request_of(text, timestamptz, timestamptz, int) is
  'Checks the caller and the arguments of a usage report. Raises INSUFFICIENT_SCOPE, FORBIDDEN, QUERY_INVALID.';

create function private.model_usage_lines(p_request private.usage_request)
returns setof private.usage_line
language sql
stable
set search_path = ''
as $$
  with called as (
    select
      case p_request.dimension
        when 'day' then to_char(usage.created_at at time zone 'UTC', 'YYYY-MM-DD')
        when 'agent' then coalesce(usage.agent_slug, '')
        when 'model' then usage.model
        when 'tool' then usage.mcp_name || '.' || usage.tool_name
        else task.master_task_id::text
      end as label,
      usage.input_tokens,
      usage.output_tokens,
      usage.cost_micro_usd,
      -- A call inside a tool has no step with its duration.
      case when usage.execution_id is null and step.kind = 'model' and not usage.is_estimate
        then (extract(epoch from step.ended_at - step.started_at) * 1000)::int
      end as took_ms
    from public.usage_events as usage
    left join public.tasks as task on task.id = usage.task_id
    left join public.task_steps as step on step.task_id = usage.task_id and step.seq = usage.step_seq
    where usage.user_id = p_request.owner_id
      and usage.created_at >= p_request.from_at
      and usage.created_at < p_request.to_at
      and (p_request.dimension <> 'tool' or usage.mcp_name is not null)
      and (p_request.dimension <> 'job' or usage.task_id is not null)
  )
  select
    label, null::text, count(*), sum(input_tokens)::bigint, sum(output_tokens)::bigint, sum(cost_micro_usd)::bigint,
    percentile_disc(0.5) within group (order by took_ms),
    percentile_disc(0.95) within group (order by took_ms),
    percentile_disc(0.99) within group (order by took_ms),
    0, 0, 0, null::int, null::int, null::int, 0, 0, null::numeric, 0, 0, 0
  from called
  group by label;
$$;
comment on function private.model_usage_lines(private.usage_request) is
  'Model calls of an account, in the columns of a report; those of tools and tasks are empty.';

create function private.tool_usage_lines(p_request private.usage_request)
returns setof private.usage_line
language sql
stable
set search_path = ''
as $$
  with called as (
    select
      case p_request.dimension
        when 'day' then to_char(execution.created_at at time zone 'UTC', 'YYYY-MM-DD')
        when 'agent' then coalesce(agent.slug, '')
        when 'model' then execution.llm_model
        when 'tool' then execution.mcp_name || '.' || execution.tool_name
        else task.master_task_id::text
      end as label,
      execution.status,
      execution.status <> 'success' and exists (
        select from public.mcp_failures as failure
        where failure.execution_id = execution.id and failure.error_code = 'TOOL_CANCELLED'
      ) as is_cancelled,
      execution.execution_time_ms,
      feedback.rating,
      feedback.rating_score
    from public.mcp_executions as execution
    left join public.agents as agent on agent.id = execution.agent_id
    left join public.tasks as task on task.id = execution.task_id
    left join public.mcp_feedback as feedback on feedback.execution_id = execution.id
    where execution.user_id = p_request.owner_id
      and execution.created_at >= p_request.from_at
      and execution.created_at < p_request.to_at
      and (p_request.dimension <> 'model' or execution.llm_model is not null)
      and (p_request.dimension <> 'job' or execution.task_id is not null)
  )
  select
    label, null::text, 0, 0, 0, null::bigint, null::int, null::int, null::int,
    count(*), count(*) filter (where status = 'success'), count(*) filter (where is_cancelled),
    percentile_disc(0.5) within group (order by execution_time_ms),
    percentile_disc(0.95) within group (order by execution_time_ms),
    percentile_disc(0.99) within group (order by execution_time_ms),
    count(*) filter (where rating = 'up'), count(*) filter (where rating = 'down'),
    avg(rating_score)::numeric(3, 2), 0, 0, 0
  from called
  group by label;
$$;
comment on function private.tool_usage_lines(private.usage_request) is
  'Tool calls of an account, in the columns of a report; those of models and tasks are empty.';

create function private.task_usage_lines(p_request private.usage_request)
returns setof private.usage_line
language sql
stable
set search_path = ''
as $$
  select
    own.label, null::text, 0, 0, 0, null::bigint, null::int, null::int, null::int,
    0, 0, 0, null::int, null::int, null::int, 0, 0, null::numeric,
    count(*), count(*) filter (where own.status = 'completed'), count(*) filter (where own.status = 'failed')
  from (
    select task.status, case p_request.dimension
        when 'day' then to_char(task.created_at at time zone 'UTC', 'YYYY-MM-DD')
        when 'agent' then coalesce(task.agent_slug, '')
        else task.master_task_id::text
      end as label
    from public.tasks as task
    where task.created_by = p_request.owner_id
      and task.created_at >= p_request.from_at
      and task.created_at < p_request.to_at
      and p_request.dimension in ('day', 'agent', 'job')
  ) as own
  group by own.label;
$$;
comment on function private.task_usage_lines(private.usage_request) is
  'Tasks of an account and how they ended, in the columns of a report; those of models and tools are empty.';

create function private.usage_report(p_by text, p_from timestamptz, p_to timestamptz, p_limit int)
returns setof private.usage_line
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  v_request constant private.usage_request := private.usage_request_of(p_by, p_from, p_to, p_limit);
begin
  return query
    with line as (
      select * from private.model_usage_lines(v_request)
      union all
      select * from private.tool_usage_lines(v_request)
      union all
      select * from private.task_usage_lines(v_request)
    ),
    whole as (
      select
        line.label,
        sum(line.model_call_count)::bigint as model_call_count,
        sum(line.input_tokens)::bigint as input_tokens,
        sum(line.output_tokens)::bigint as output_tokens,
        sum(line.cost_micro_usd)::bigint as cost_micro_usd,
        max(line.model_p50_ms) as model_p50_ms,
        max(line.model_p95_ms) as model_p95_ms,
        max(line.model_p99_ms) as model_p99_ms,
        sum(line.tool_call_count)::bigint as tool_call_count,
        sum(line.tool_success_count)::bigint as tool_success_count,
        sum(line.tool_cancelled_count)::bigint as tool_cancelled_count,
        max(line.tool_p50_ms) as tool_p50_ms,
        max(line.tool_p95_ms) as tool_p95_ms,
        max(line.tool_p99_ms) as tool_p99_ms,
        sum(line.up_count)::bigint as up_count,
        sum(line.down_count)::bigint as down_count,
        max(line.average_score) as average_score,
        sum(line.task_count)::bigint as task_count,
        sum(line.completed_count)::bigint as completed_count,
        sum(line.failed_count)::bigint as failed_count
      from line
      group by line.label
    )
    select whole.label,
      case p_by
        when 'agent' then (select agent.name from public.agents as agent where agent.slug = whole.label)
        when 'job' then (select task.agent_slug from public.tasks as task where task.id = whole.label::uuid)
      end,
      whole.model_call_count, whole.input_tokens, whole.output_tokens, whole.cost_micro_usd,
      whole.model_p50_ms, whole.model_p95_ms, whole.model_p99_ms,
      whole.tool_call_count, whole.tool_success_count, whole.tool_cancelled_count,
      whole.tool_p50_ms, whole.tool_p95_ms, whole.tool_p99_ms,
      whole.up_count, whole.down_count, whole.average_score,
      whole.task_count, whole.completed_count, whole.failed_count
    from whole
    order by
      case when p_by = 'day' then whole.label end desc,
      whole.cost_micro_usd desc nulls last,
      whole.model_call_count + whole.tool_call_count desc,
      whole.label
    limit v_request.row_limit;
end;
$$;
comment on function private.usage_report(text, timestamptz, timestamptz, int) is
  'The caller''s usage. Definer: checking the caller once is faster than a policy check for each step; usage_request_of() limits the report to the caller.';
grant execute on function private.usage_report(text, timestamptz, timestamptz, int) to authenticated;

create function public.usage_report(
  p_by text,
  p_from timestamptz default null,
  p_to timestamptz default null,
  p_limit int default 200
)
returns table (
  label text,
  name text,
  model_call_count bigint,
  input_tokens bigint,
  output_tokens bigint,
  cost_micro_usd bigint,
  model_p50_ms int,
  model_p95_ms int,
  model_p99_ms int,
  tool_call_count bigint,
  tool_success_count bigint,
  tool_cancelled_count bigint,
  tool_p50_ms int,
  tool_p95_ms int,
  tool_p99_ms int,
  up_count bigint,
  down_count bigint,
  average_score numeric,
  task_count bigint,
  completed_count bigint,
  failed_count bigint
)
language sql
stable
set search_path = ''
as $$
  select * from private.usage_report(p_by, p_from, p_to, p_limit);
$$;
comment on function public.usage_report(text, timestamptz, timestamptz, int) is
  'The caller''s usage between two times (default: the last 30 days), by day, agent, model, tool or job: model calls with tokens and cost, tool calls with success and grades, tasks and how they ended, and percentiles of call durations. By tool, the model calls are those inside the tool; by model, the tool calls are those that used it inside. Days are UTC days, newest first; all other reports are ordered by cost. Raises QUERY_INVALID, INSUFFICIENT_SCOPE, FORBIDDEN.';
grant execute on function public.usage_report(text, timestamptz, timestamptz, int) to authenticated;
