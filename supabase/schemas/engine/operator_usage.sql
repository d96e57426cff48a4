-- The usage of all accounts, for operators, by day, owner, agent, revision, model or tool. Model calls are summed from
-- their narrow rows, tool calls are read from tool_days, which has them summed.

create type public.operator_usage_line as (
  label text,
  name text,
  model_call_count bigint,
  input_tokens bigint,
  output_tokens bigint,
  cost_micro_usd bigint,
  unpriced_call_count bigint,
  tool_call_count bigint,
  tool_success_count bigint,
  tool_cancelled_count bigint,
  tool_p50_ms int,
  tool_p95_ms int,
  tool_p99_ms int,
  up_count bigint,
  down_count bigint,
  average_score numeric,
  job_count bigint,
  completed_count bigint,
  failed_count bigint
);
comment on type public.operator_usage_line is
  'A row of operator_usage_report(). A count is null where it is not known by that dimension.';

create function private.model_sums(p_by text, p_from date, p_to date)
returns table (
  label text, call_count bigint, input_tokens bigint, output_tokens bigint, cost_micro_usd bigint, unpriced_call_count bigint
)
language plpgsql
stable
set search_path = ''
as $$
declare
  v_day constant text := '(usage.created_at at time zone ''UTC'')::date';
  -- The label of calls that are still rows, and of those that retention has summed.
  v_label constant text := case p_by
    when 'day' then v_day
    when 'owner' then 'usage.user_id'
    when 'agent' then 'usage.agent_slug'
    when 'revision' then 'usage.agent_slug || ''@'' || usage.agent_revision'
    when 'model' then 'usage.model'
    when 'tool' then 'usage.mcp_name || ''.'' || usage.tool_name'
  end;
  v_earlier_label constant text := case p_by
    when 'day' then 'usage.day'
    when 'revision' then 'null::text'
    else v_label
  end;
  v_wanted constant text := case p_by when 'tool' then 'usage.mcp_name is not null' else 'true' end;
begin
  -- Planned again at each call, so that it groups by the one column that is asked for.
  for label, call_count, input_tokens, output_tokens, cost_micro_usd, unpriced_call_count in execute format(
    $sql$
      with part as (
        select %1$s as label, count(*) as call_count, sum(usage.input_tokens) as input_tokens,
          sum(usage.output_tokens) as output_tokens, sum(usage.cost_micro_usd) as cost_micro_usd,
          count(*) filter (where usage.cost_micro_usd is null) as unpriced_call_count
        from public.usage_events as usage
        where usage.created_at >= $1::timestamp at time zone 'UTC' and usage.created_at < $2::timestamp at time zone 'UTC'
          and %3$s
        group by 1
        union all
        select %2$s, sum(usage.call_count), sum(usage.input_tokens), sum(usage.output_tokens),
          sum(usage.cost_micro_usd), sum(usage.unpriced_call_count)
        from public.usage_days as usage
        where usage.day >= $1 and usage.day < $2 and %3$s
        group by 1
      )
      select coalesce(part.label::text, ''), sum(part.call_count)::bigint, sum(part.input_tokens)::bigint,
        sum(part.output_tokens)::bigint, sum(part.cost_micro_usd)::bigint, sum(part.unpriced_call_count)::bigint
      from part
      group by part.label
    $sql$,
    v_label, v_earlier_label, v_wanted
  )
  using p_from, p_to
  loop
    return next;
  end loop;
end;
$$;
comment on function private.model_sums(text, date, date) is
  'Model calls of all accounts from one UTC day until before another, by a dimension of operator_usage_report(). A revision is agent@3. The label is empty for the service, for calls without an agent, and for the unknown revisions of calls that retention has summed.';

create function private.tool_sums(p_by text, p_from date, p_to date)
returns table (
  label text, call_count bigint, success_count bigint, cancelled_count bigint, p50_ms int, p95_ms int, p99_ms int,
  up_count bigint, down_count bigint, average_score numeric
)
language plpgsql
stable
set search_path = ''
as $$
#variable_conflict use_column
begin
  if p_by = 'owner' then
    -- tool_days has no owners. This reads only an index, which has no results of calls.
    return query
      select coalesce(call.user_id::text, ''), count(*), null::bigint, null::bigint, null::int, null::int, null::int,
        null::bigint, null::bigint, null::numeric
      from public.mcp_executions as call
      where call.created_at >= p_from::timestamp at time zone 'UTC' and call.created_at < p_to::timestamp at time zone 'UTC'
      group by call.user_id;
    return;
  end if;
  return query
    with part as (
      select
        case p_by when 'day' then day::text when 'agent' then coalesce(agent_slug, '') else mcp_name || '.' || tool_name end as label,
        summed.*
      from (
        select * from public.tool_days
        union all
        select * from private.tool_calls_by_day((select mark.summed_until from private.tool_days_mark as mark), 'infinity')
      ) as summed
      where summed.day >= p_from and summed.day < p_to and p_by in ('day', 'agent', 'tool')
    ),
    counted as (
      select part.*,
        sum(part.call_count) over (partition by label) as all_count,
        sum(part.call_count) over (partition by label order by duration_ms) as reached_count
      from part
    )
    select label, sum(call_count)::bigint, sum(success_count)::bigint, sum(cancelled_count)::bigint,
      min(duration_ms) filter (where reached_count >= 0.5 * all_count),
      min(duration_ms) filter (where reached_count >= 0.95 * all_count),
      min(duration_ms) filter (where reached_count >= 0.99 * all_count),
      sum(up_count)::bigint, sum(down_count)::bigint, (sum(score_sum) / nullif(sum(score_count), 0))::numeric(3, 2)
    from counted
    group by label;
end;
$$;
comment on function private.tool_sums(text, date, date) is
  'Tool calls of all accounts from one UTC day until before another, by day, agent or tool with grades and percentiles within 5 percent; by owner only the number of calls, while retention keeps them; no rows by revision and model.';

create function private.job_sums(p_by text, p_from date, p_to date)
returns table (label text, job_count bigint, completed_count bigint, failed_count bigint)
language plpgsql
stable
set search_path = ''
as $$
declare
  v_label constant text := case p_by
    when 'day' then '(job.created_at at time zone ''UTC'')::date'
    when 'owner' then 'job.created_by'
    when 'agent' then 'job.agent_slug'
    when 'revision' then 'job.agent_slug || ''@'' || job.agent_revision'
  end;
begin
  if v_label is null then
    return;
  end if;
  for label, job_count, completed_count, failed_count in execute format(
    $sql$
      select coalesce((%1$s)::text, ''), count(*), count(*) filter (where job.status = 'completed'),
        count(*) filter (where job.status = 'failed')
      from public.tasks as job
      where job.parent_id is null
        and job.created_at >= $1::timestamp at time zone 'UTC' and job.created_at < $2::timestamp at time zone 'UTC'
      group by %1$s
    $sql$,
    v_label
  )
  using p_from, p_to
  loop
    return next;
  end loop;
end;
$$;
comment on function private.job_sums(text, date, date) is
  'Jobs of all accounts that were created from one UTC day until before another, by day, owner, agent or revision; no rows by model and tool.';

create function private.operator_usage_report(p_by text, p_from date, p_to date, p_limit int)
returns setof public.operator_usage_line
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  v_attempt constant text := 'report the usage of all users';
  v_to constant date := coalesce(p_to, (clock_timestamp() at time zone 'UTC')::date + 1);
  v_from constant date := coalesce(p_from, v_to - 30);
begin
  perform private.assert_operator(v_attempt);
  if p_by is null or p_by not in ('day', 'owner', 'agent', 'revision', 'model', 'tool') then
    perform private.raise_query_invalid(v_attempt, 'p_by is not a dimension of usage',
      'Send day, owner, agent, revision, model or tool.');
  end if;
  perform private.assert_page_limit(v_attempt, p_limit);
  if v_from >= v_to or v_to - v_from > 366 then
    perform private.raise_query_invalid(v_attempt, 'the time is empty or longer than 366 days',
      'Send days: p_from before p_to, at most a year apart.');
  end if;
  return query
    select label,
      case p_by
        when 'owner' then private.email_of(nullif(label, '')::uuid)
        when 'agent' then (select agent.name from public.agents as agent where agent.slug = label)
      end,
      coalesce(model.call_count, 0), coalesce(model.input_tokens, 0), coalesce(model.output_tokens, 0),
      model.cost_micro_usd, coalesce(model.unpriced_call_count, 0),
      case when p_by not in ('revision', 'model') then coalesce(tool.call_count, 0) end,
      case when p_by in ('day', 'agent', 'tool') then coalesce(tool.success_count, 0) end,
      case when p_by in ('day', 'agent', 'tool') then coalesce(tool.cancelled_count, 0) end,
      tool.p50_ms, tool.p95_ms, tool.p99_ms,
      case when p_by in ('day', 'agent', 'tool') then coalesce(tool.up_count, 0) end,
      case when p_by in ('day', 'agent', 'tool') then coalesce(tool.down_count, 0) end,
      tool.average_score,
      case when p_by not in ('model', 'tool') then coalesce(job.job_count, 0) end,
      case when p_by not in ('model', 'tool') then coalesce(job.completed_count, 0) end,
      case when p_by not in ('model', 'tool') then coalesce(job.failed_count, 0) end
    from private.model_sums(p_by => p_by, p_from => v_from, p_to => v_to) as model
    full join private.tool_sums(p_by => p_by, p_from => v_from, p_to => v_to) as tool using (label)
    full join private.job_sums(p_by => p_by, p_from => v_from, p_to => v_to) as job using (label)
    order by
      case when p_by = 'day' then label end desc,
      model.cost_micro_usd desc nulls last,
      coalesce(model.call_count, 0) + coalesce(tool.call_count, 0) desc,
      label
    limit p_limit;
end;
$$;
comment on function private.operator_usage_report(text, date, date, int) is
  'The usage of all accounts. Definer: it reads the calls and jobs of all owners; assert_operator() checks the caller.';

create function public.operator_usage_report(
  p_by text, p_from date default null, p_to date default null, p_limit int default 200
)
returns setof public.operator_usage_line
language sql
stable
set search_path = ''
as $$
  select * from private.operator_usage_report(p_by => p_by, p_from => p_from, p_to => p_to, p_limit => p_limit);
$$;
comment on function public.operator_usage_report(text, date, date, int) is
  'The usage of all users from one UTC day until before another (default: the last 30 days), by day, owner, agent, revision, model or tool. By revision and model it has no tool calls, by owner only their number; by model and tool it has no jobs. Days are newest first, all other lines ordered by cost. For operators and the service. Raises INSUFFICIENT_SCOPE, AGENT_NOT_ALLOWED, QUERY_INVALID.';
revoke all on function public.operator_usage_report(text, date, date, int) from public, anon, authenticated, service_role;
grant execute on function
  private.operator_usage_report(text, date, date, int), public.operator_usage_report(text, date, date, int)
  to authenticated, service_role;

-- Budgets -----------------------------------------------------------------------------------------

create function private.operator_budgets()
returns table (
  provider text, model text, user_id uuid, owner_email text, cap_micro_usd bigint, cap_period text,
  spent_micro_usd bigint, reserved_micro_usd bigint
)
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  perform private.assert_operator('list the spending caps');
  return query
    select provider.name, policy.model, policy.user_id, private.email_of(policy.user_id), policy.spending_cap_micro_usd,
      policy.cap_period,
      current.spent_micro_usd, current.reserved_micro_usd
    from public.model_policies as policy
    join public.llm_providers as provider on provider.id = policy.provider_id
    cross join lateral private.current_spending(policy) as current
    where policy.spending_cap_micro_usd is not null
    order by provider.name, policy.model nulls first, policy.user_id nulls first;
end;
$$;
comment on function private.operator_budgets() is
  'The spending caps of model_policies and what was spent, for operators. Definer: it reads the spending of all users; assert_operator() checks the caller.';
create view public.operator_budgets with (security_invoker = true) as
  select * from private.operator_budgets();
revoke all on public.operator_budgets from anon, authenticated, service_role;
comment on view public.operator_budgets is
  'The spending caps of model_policies, with what was spent in the current day or month (null: no call under the cap yet) and what running calls have reserved. For operators and the service; INSUFFICIENT_SCOPE for all others.';
grant execute on function private.operator_budgets() to authenticated, service_role;
grant select on public.operator_budgets to authenticated, service_role;
