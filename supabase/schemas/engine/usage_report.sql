-- Usage reports of an account, by day, agent, model, tool or job, with percentiles over the whole period.

create type private.usage_request as (
  owner_id uuid,
  dimension text,
  from_at timestamptz,
  to_at timestamptz,
  row_limit int,
  job_ids uuid[]
);
comment on type private.usage_request is
  'A validated request for a usage report. owner_id is the caller, so the code that sets it must have checked the caller. job_ids are the jobs of a report by job; null: no limit.';

create type public.usage_line as (
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
comment on type public.usage_line is 'A row of usage_report().';

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
    perform private.raise_error('FORBIDDEN', format('Cannot %s: the caller is not a user', v_attempt),
      'Call it with a user''s token; the service reads agent_usage and tool_usage.');
  end if;
  if p_by is null or p_by not in ('day', 'agent', 'model', 'tool', 'job') then
    perform private.raise_query_invalid(v_attempt, 'p_by is not a dimension of usage', 'Send day, agent, model, tool or job.');
  end if;
  perform private.assert_page_limit(v_attempt, p_limit);
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

create function private.jobs_by_cost(p_request private.usage_request)
returns uuid[]
language sql
stable
set search_path = ''
as $$
  with used as (
    select usage.task_id, usage.cost_micro_usd, 1 as call_count
    from public.usage_events as usage
    where usage.user_id = p_request.owner_id
      and usage.created_at >= p_request.from_at and usage.created_at < p_request.to_at
    union all
    select execution.task_id, null, 1
    from public.mcp_executions as execution
    where execution.user_id = p_request.owner_id
      and execution.created_at >= p_request.from_at and execution.created_at < p_request.to_at
    union all
    select task.id, null, 0
    from public.tasks as task
    where task.created_by = p_request.owner_id
      and task.created_at >= p_request.from_at and task.created_at < p_request.to_at
  )
  select array(
    select task.master_task_id
    from used
    join public.tasks as task on task.id = used.task_id
    group by task.master_task_id
    order by sum(used.cost_micro_usd) desc nulls last, sum(used.call_count) desc, task.master_task_id
    limit p_request.row_limit
  );
$$;
comment on function private.jobs_by_cost(private.usage_request) is
  'The jobs of a report by job, so that it computes percentiles only for the jobs that it shows.';

create function private.model_usage(p_request private.usage_request)
returns table (
  label text, call_count bigint, input_tokens bigint, output_tokens bigint, cost_micro_usd bigint, percentiles_ms int[]
)
language plpgsql
stable
set search_path = ''
-- Each dimension has its own plan, with only the joins that it needs.
set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
begin
  return query
    select used.label, sum(used.call_count)::bigint, sum(used.input_tokens)::bigint, sum(used.output_tokens)::bigint,
      sum(used.cost_micro_usd)::bigint,
      percentile_disc(array[0.5, 0.95, 0.99]) within group (order by used.duration_ms)
    from (
      select
        case p_request.dimension
          when 'day' then to_char(usage.created_at at time zone 'UTC', 'YYYY-MM-DD')
          when 'agent' then coalesce(usage.agent_slug, '')
          when 'model' then usage.model
          when 'tool' then usage.mcp_name || '.' || usage.tool_name
          else task.master_task_id::text
        end as label,
        1 as call_count, usage.input_tokens, usage.output_tokens, usage.cost_micro_usd,
        -- A call inside a tool has no step with its duration.
        case when usage.execution_id is null and step.kind = 'model' and not usage.is_estimate
          then (extract(epoch from step.ended_at - step.started_at) * 1000)::int
        end as duration_ms
      from public.usage_events as usage
      left join public.tasks as task on task.id = usage.task_id
      left join public.task_steps as step on step.task_id = usage.task_id and step.seq = usage.step_seq
      where usage.user_id = p_request.owner_id
        and usage.created_at >= p_request.from_at
        and usage.created_at < p_request.to_at
        and (p_request.dimension <> 'tool' or usage.mcp_name is not null)
        and (p_request.job_ids is null or task.master_task_id = any (p_request.job_ids))
      union all
      -- Without durations, because retention has deleted the calls.
      select
        case p_request.dimension
          when 'day' then to_char(earlier.day, 'YYYY-MM-DD')
          when 'agent' then coalesce(earlier.agent_slug, '')
          when 'model' then earlier.model
          when 'tool' then earlier.mcp_name || '.' || earlier.tool_name
        end,
        earlier.call_count, earlier.input_tokens, earlier.output_tokens, earlier.cost_micro_usd, null
      from public.usage_days as earlier
      where earlier.user_id = p_request.owner_id
        and earlier.day::timestamp at time zone 'UTC' >= p_request.from_at
        and earlier.day::timestamp at time zone 'UTC' < p_request.to_at
        and p_request.dimension <> 'job'
        and (p_request.dimension <> 'tool' or earlier.mcp_name is not null)
    ) as used
    group by used.label;
end;
$$;
comment on function private.model_usage(private.usage_request) is
  'Model calls of an account, with the 50th, 95th and 99th percentile of their durations.';

create function private.tool_usage(p_request private.usage_request)
returns table (
  label text, call_count bigint, success_count bigint, cancelled_count bigint, percentiles_ms int[],
  up_count bigint, down_count bigint, average_score numeric
)
language plpgsql
stable
set search_path = ''
set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
begin
  return query
    select
      case p_request.dimension
        when 'day' then to_char(execution.created_at at time zone 'UTC', 'YYYY-MM-DD')
        when 'agent' then coalesce(agent.slug, '')
        when 'model' then execution.llm_model
        when 'tool' then execution.mcp_name || '.' || execution.tool_name
        else task.master_task_id::text
      end as label,
      count(*), count(*) filter (where execution.status = 'success'),
      count(*) filter (where execution.status <> 'success' and exists (
        select from public.mcp_failures as failure
        where failure.execution_id = execution.id and failure.error_code = 'TOOL_CANCELLED'
      )),
      percentile_disc(array[0.5, 0.95, 0.99]) within group (order by execution.execution_time_ms),
      count(*) filter (where feedback.rating = 'up'), count(*) filter (where feedback.rating = 'down'),
      avg(feedback.rating_score)::numeric(3, 2)
    from public.mcp_executions as execution
    left join public.agents as agent on agent.id = execution.agent_id
    left join public.tasks as task on task.id = execution.task_id
    left join public.mcp_feedback as feedback on feedback.execution_id = execution.id
    where execution.user_id = p_request.owner_id
      and execution.created_at >= p_request.from_at
      and execution.created_at < p_request.to_at
      and (p_request.dimension <> 'model' or execution.llm_model is not null)
      and (p_request.job_ids is null or task.master_task_id = any (p_request.job_ids))
    group by label;
end;
$$;
comment on function private.tool_usage(private.usage_request) is
  'Tool calls of an account with their grades, and the 50th, 95th and 99th percentile of their durations.';

create function private.task_usage(p_request private.usage_request)
returns table (label text, task_count bigint, completed_count bigint, failed_count bigint)
language plpgsql
stable
set search_path = ''
set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
begin
  return query
    select
      case p_request.dimension
        when 'day' then to_char(task.created_at at time zone 'UTC', 'YYYY-MM-DD')
        when 'agent' then coalesce(task.agent_slug, '')
        else task.master_task_id::text
      end as label,
      count(*), count(*) filter (where task.status = 'completed'), count(*) filter (where task.status = 'failed')
    from public.tasks as task
    where task.created_by = p_request.owner_id
      and task.created_at >= p_request.from_at
      and task.created_at < p_request.to_at
      and p_request.dimension in ('day', 'agent', 'job')
      and (p_request.job_ids is null or task.master_task_id = any (p_request.job_ids))
    group by label;
end;
$$;
comment on function private.task_usage(private.usage_request) is 'Tasks of an account, and how they ended.';

create function private.usage_report(p_by text, p_from timestamptz, p_to timestamptz, p_limit int)
returns setof public.usage_line
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  v_request private.usage_request := private.usage_request_of(p_by, p_from, p_to, p_limit);
begin
  if p_by = 'job' then
    v_request.job_ids := private.jobs_by_cost(v_request);
  end if;
  return query
    select label,
      case p_by
        when 'agent' then (select agent.name from public.agents as agent where agent.slug = label)
        when 'job' then (select job.agent_slug from public.tasks as job where job.id = label::uuid)
      end,
      coalesce(model.call_count, 0), coalesce(model.input_tokens, 0), coalesce(model.output_tokens, 0), model.cost_micro_usd,
      model.percentiles_ms[1], model.percentiles_ms[2], model.percentiles_ms[3],
      coalesce(tool.call_count, 0), coalesce(tool.success_count, 0), coalesce(tool.cancelled_count, 0),
      tool.percentiles_ms[1], tool.percentiles_ms[2], tool.percentiles_ms[3],
      coalesce(tool.up_count, 0), coalesce(tool.down_count, 0), tool.average_score,
      coalesce(task.task_count, 0), coalesce(task.completed_count, 0), coalesce(task.failed_count, 0)
    from private.model_usage(v_request) as model
    full join private.tool_usage(v_request) as tool using (label)
    full join private.task_usage(v_request) as task using (label)
    order by
      case when p_by = 'day' then label end desc,
      model.cost_micro_usd desc nulls last,
      coalesce(model.call_count, 0) + coalesce(tool.call_count, 0) desc,
      label
    limit v_request.row_limit;
end;
$$;
comment on function private.usage_report(text, timestamptz, timestamptz, int) is
  'The caller''s usage. Definer: checking the caller once is faster than a policy check for each step; usage_request_of() limits the report to the caller.';

create function public.usage_report(
  p_by text,
  p_from timestamptz default null,
  p_to timestamptz default null,
  p_limit int default 200
)
returns setof public.usage_line
language sql
stable
set search_path = ''
as $$
  select * from private.usage_report(p_by, p_from, p_to, p_limit);
$$;
comment on function public.usage_report(text, timestamptz, timestamptz, int) is
  'The caller''s usage between two times (default: the last 30 days), by day, agent, model, tool or job: model calls with tokens and cost, tool calls with success and grades, tasks and how they ended, and percentiles of call durations. By tool, the model calls are those inside the tool; by model, the tool calls are those that used it inside. Days are UTC days, newest first; all other reports are ordered by cost. Raises QUERY_INVALID, INSUFFICIENT_SCOPE, FORBIDDEN.';
revoke all on function public.usage_report(text, timestamptz, timestamptz, int) from public, anon, authenticated, service_role;
grant execute on function
  private.usage_report(text, timestamptz, timestamptz, int),
  public.usage_report(text, timestamptz, timestamptz, int)
  to authenticated;
