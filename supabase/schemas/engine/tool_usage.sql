-- Tool calls by day. Cron adds ended calls to tool_days, so that operators' views do not read each of them.

create view public.tool_call_costs with (security_invoker = true) as
  select
    execution.id as execution_id,
    execution.created_at as called_at,
    execution.user_id,
    execution.agent_id,
    execution.task_id,
    execution.mcp_name,
    execution.tool_name,
    execution.tool_version,
    execution.status,
    execution.attempt,
    execution.execution_time_ms,
    inside.model_call_count,
    inside.cost_micro_usd,
    inside.unpriced_model_call_count,
    asking.cost_micro_usd as agent_cost_micro_usd
  from public.mcp_executions as execution
  cross join lateral (
    select
      count(*) as model_call_count,
      sum(usage.cost_micro_usd) as cost_micro_usd,
      count(*) filter (where usage.cost_micro_usd is null) as unpriced_model_call_count
    from public.usage_events as usage
    where usage.execution_id = execution.id
  ) as inside
  left join lateral (
    select sum(usage.cost_micro_usd)::bigint / turn.call_count as cost_micro_usd
    from (
      select step.task_id, step.seq, case
        when jsonb_typeof(step.output -> 'tool_calls') = 'array'
          then greatest(1, jsonb_array_length(step.output -> 'tool_calls'))
        else 1
      end as call_count
      from public.task_steps as step
      where step.task_id = execution.task_id and step.seq < execution.step_seq and step.kind = 'model'
      order by step.seq desc
      limit 1
    ) as turn
    -- Several rows, if the model call was cut off before.
    join public.usage_events as usage
      on usage.task_id = turn.task_id and usage.step_seq = turn.seq and usage.execution_id is null
    group by turn.call_count
  ) as asking on true;
revoke all on public.tool_call_costs from anon, authenticated, service_role;
comment on view public.tool_call_costs is
  'Tool calls with their cost: the model calls inside the tool (cost_micro_usd), and the turn in which the agent''s own model requested it, divided evenly among the calls of that turn (agent_cost_micro_usd). Null: no such model call, or none with a price. Users see their own, the service all.';

create table public.tool_days (
  day date not null,
  agent_slug text,
  mcp_name text not null,
  tool_name text not null,
  tool_version text,
  duration_ms int not null,
  call_count bigint not null default 0,
  success_count bigint not null default 0,
  error_count bigint not null default 0,
  timeout_count bigint not null default 0,
  cancelled_count bigint not null default 0,
  first_try_count bigint not null default 0,
  first_try_success_count bigint not null default 0,
  up_count bigint not null default 0,
  down_count bigint not null default 0,
  score_count bigint not null default 0,
  score_sum bigint not null default 0,
  model_call_count bigint not null default 0,
  cost_micro_usd bigint,
  unpriced_model_call_count bigint not null default 0,
  agent_cost_micro_usd bigint,
  constraint tool_days_once unique nulls not distinct (day, mcp_name, tool_name, tool_version, agent_slug, duration_ms)
);
revoke all on public.tool_days from anon, authenticated, service_role;
comment on table public.tool_days is
  'Tool calls of all users by UTC day, agent, tool, version and duration, from about ten minutes after their end. They remain when retention deletes the calls. Written by cron and by grades of summed calls.';
comment on column public.tool_days.agent_slug is 'The agent that made the calls; null for calls that no agent made.';
comment on column public.tool_days.duration_ms is 'The duration of these calls, rounded by private.rounded_ms(), so that percentiles can be computed.';
comment on column public.tool_days.cancelled_count is 'Calls that their caller cancelled, which success rates ignore.';
comment on column public.tool_days.first_try_count is 'First attempts that were not cancelled.';
comment on column public.tool_days.agent_cost_micro_usd is 'As in tool_call_costs, like the other costs.';
alter table public.tool_days enable row level security;
grant select on public.tool_days to service_role;

create table private.tool_days_mark (
  is_only boolean primary key default true check (is_only),
  summed_until timestamptz not null default '-infinity',
  next_until timestamptz,
  next_xid xid8
);
comment on table private.tool_days_mark is
  'One row: tool_days has the calls until summed_until. Those until next_until follow when all transactions before next_xid have ended, because such a transaction may still commit a call.';
alter table private.tool_days_mark enable row level security;
grant select on private.tool_days_mark to service_role;
insert into private.tool_days_mark default values;

create function private.rounded_ms(p_ms int)
returns int
language sql
immutable
set search_path = ''
as $$
  select round(exp(round(ln(greatest(rounded_ms.p_ms, 1)) * 10) / 10))::int * sign(rounded_ms.p_ms)::int;
$$;
comment on function private.rounded_ms(int) is
  'A duration as a power of e^0.1, which is at most 5 percent more or less; up to 13 ms it is exact.';

create function private.tool_calls_by_day(p_after timestamptz, p_until timestamptz)
returns setof public.tool_days
language plpgsql
stable
set search_path = ''
as $$
begin
  return query
    select
      date_trunc('day', call.called_at, 'UTC')::date, agent.slug, call.mcp_name, call.tool_name, call.tool_version,
      private.rounded_ms(call.execution_time_ms),
      count(*),
      count(*) filter (where call.status = 'success'),
      count(*) filter (where call.status = 'error'),
      count(*) filter (where call.status = 'timeout'),
      count(*) filter (where ended.is_cancelled),
      count(*) filter (where call.attempt = 1 and not ended.is_cancelled),
      count(*) filter (where call.attempt = 1 and call.status = 'success' and not ended.is_cancelled),
      count(*) filter (where feedback.rating = 'up'),
      count(*) filter (where feedback.rating = 'down'),
      count(feedback.rating_score),
      coalesce(sum(feedback.rating_score), 0),
      sum(call.model_call_count)::bigint,
      sum(call.cost_micro_usd)::bigint,
      sum(call.unpriced_model_call_count)::bigint,
      sum(call.agent_cost_micro_usd)::bigint
    from public.tool_call_costs as call
    cross join lateral (
      select exists (
        select from public.mcp_failures as failure
        where failure.execution_id = call.execution_id and failure.error_code = 'TOOL_CANCELLED'
      ) as is_cancelled
    ) as ended
    left join public.agents as agent on agent.id = call.agent_id
    left join public.mcp_feedback as feedback on feedback.execution_id = call.execution_id
    where call.called_at > p_after and call.called_at <= p_until
    group by 1, 2, 3, 4, 5, 6;
end;
$$;
comment on function private.tool_calls_by_day(timestamptz, timestamptz) is
  'Sums of the tool calls that the caller may read and that ended after one time and until another.';

create function private.add_tool_calls(p_until timestamptz)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_mark private.tool_days_mark;
begin
  -- A grade of an earlier call holds this row, see count_grade().
  select * into v_mark from private.tool_days_mark for update;
  if p_until <= v_mark.summed_until then
    return;
  end if;
  insert into public.tool_days as summed
  select * from private.tool_calls_by_day(v_mark.summed_until, p_until)
  on conflict on constraint tool_days_once do update
  set call_count = summed.call_count + excluded.call_count,
      success_count = summed.success_count + excluded.success_count,
      error_count = summed.error_count + excluded.error_count,
      timeout_count = summed.timeout_count + excluded.timeout_count,
      cancelled_count = summed.cancelled_count + excluded.cancelled_count,
      first_try_count = summed.first_try_count + excluded.first_try_count,
      first_try_success_count = summed.first_try_success_count + excluded.first_try_success_count,
      up_count = summed.up_count + excluded.up_count,
      down_count = summed.down_count + excluded.down_count,
      score_count = summed.score_count + excluded.score_count,
      score_sum = summed.score_sum + excluded.score_sum,
      model_call_count = summed.model_call_count + excluded.model_call_count,
      cost_micro_usd = coalesce(summed.cost_micro_usd + excluded.cost_micro_usd, summed.cost_micro_usd, excluded.cost_micro_usd),
      unpriced_model_call_count = summed.unpriced_model_call_count + excluded.unpriced_model_call_count,
      agent_cost_micro_usd = coalesce(
        summed.agent_cost_micro_usd + excluded.agent_cost_micro_usd, summed.agent_cost_micro_usd, excluded.agent_cost_micro_usd);
  update private.tool_days_mark
  set summed_until = p_until,
      next_until = case when next_until > p_until then next_until end,
      next_xid = case when next_until > p_until then next_xid end;
end;
$$;
comment on function private.add_tool_calls(timestamptz) is
  'Adds the calls that ended until a time to tool_days. A call with an earlier time that appears later is not added.';

create function private.sum_tool_calls(p_limit int)
returns int
language plpgsql
set search_path = ''
as $$
declare
  -- An isolate ends earlier, so that all models which the call used are recorded.
  c_settled_after constant interval := '10 minutes'::interval;
  v_settled constant timestamptz := clock_timestamp() - c_settled_after;
  v_mark private.tool_days_mark;
  v_until timestamptz;
  v_count int;
begin
  select * into v_mark from private.tool_days_mark for update;
  if v_mark.next_xid <= pg_snapshot_xmin(pg_current_snapshot()) then
    select count(*), max(call.created_at) into v_count, v_until
    from (
      select execution.created_at
      from public.mcp_executions as execution
      where execution.created_at > v_mark.summed_until and execution.created_at <= v_mark.next_until
      order by execution.created_at
      limit p_limit
    ) as call;
    perform private.add_tool_calls(case when v_count < p_limit then v_mark.next_until else v_until end);
    return v_count;
  end if;
  -- An id from before the database was restored elsewhere is larger than all current ones.
  if (v_mark.next_xid <= pg_current_xact_id()) is not true then
    update private.tool_days_mark
    set next_until = v_settled, next_xid = pg_current_xact_id()
    where exists (
      select from public.mcp_executions as execution
      where execution.created_at > v_mark.summed_until and execution.created_at <= v_settled
    );
  end if;
  return 0;
end;
$$;
comment on function private.sum_tool_calls(int) is
  'Adds about p_limit tool calls that ended ten minutes ago or earlier to tool_days, and returns how many. Called by cron, through reconcile(): one call notes until when, the next one that finds no older transaction open adds them.';

create function private.count_grade(p_old public.mcp_feedback, p_new public.mcp_feedback)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_summed_until timestamptz;
begin
  -- Until the grade is committed, its call is not added without it.
  select mark.summed_until into v_summed_until from private.tool_days_mark as mark for share;
  insert into public.tool_days as summed (
    day, agent_slug, mcp_name, tool_name, tool_version, duration_ms, up_count, down_count, score_count, score_sum
  )
  select
    date_trunc('day', call.created_at, 'UTC')::date, agent.slug, call.mcp_name, call.tool_name, call.tool_version,
    private.rounded_ms(call.execution_time_ms),
    coalesce((p_new.rating = 'up')::int, 0) - coalesce((p_old.rating = 'up')::int, 0),
    coalesce((p_new.rating = 'down')::int, 0) - coalesce((p_old.rating = 'down')::int, 0),
    num_nonnulls(p_new.rating_score) - num_nonnulls(p_old.rating_score),
    coalesce(p_new.rating_score, 0) - coalesce(p_old.rating_score, 0)
  from public.mcp_executions as call
  left join public.agents as agent on agent.id = call.agent_id
  where call.id = p_new.execution_id and call.created_at <= v_summed_until
  on conflict on constraint tool_days_once do update
  set up_count = summed.up_count + excluded.up_count,
      down_count = summed.down_count + excluded.down_count,
      score_count = summed.score_count + excluded.score_count,
      score_sum = summed.score_sum + excluded.score_sum;
end;
$$;
comment on function private.count_grade(public.mcp_feedback, public.mcp_feedback) is
  'Adds the difference between an earlier grade, or null, and a new one to tool_days when the graded call has been added already.';

create function private.readable_tool_days()
returns setof public.tool_days
language plpgsql
stable
set search_path = ''
as $$
begin
  if not has_table_privilege('public.tool_days', 'select') then
    return query select * from private.tool_calls_by_day('-infinity', 'infinity');
    return;
  end if;
  return query
    select * from public.tool_days
    union all
    select * from private.tool_calls_by_day((select mark.summed_until from private.tool_days_mark as mark), 'infinity');
end;
$$;
comment on function private.readable_tool_days() is
  'Sums of the tool calls that the caller may read: a user''s own as long as they are kept, and for the service tool_days with the calls that are not in it yet.';
grant execute on function
  private.rounded_ms(int), private.tool_calls_by_day(timestamptz, timestamptz), private.readable_tool_days()
  to authenticated, service_role;

create view public.tool_usage with (security_invoker = true) as
  with counted as (
    select
      part.*,
      sum(part.call_count) over (partition by day, mcp_name, tool_name, tool_version) as all_count,
      sum(part.call_count) over (partition by day, mcp_name, tool_name, tool_version order by duration_ms) as reached_count
    from private.readable_tool_days() as part
  )
  select
    day,
    mcp_name,
    tool_name,
    tool_version,
    sum(call_count)::bigint as call_count,
    sum(success_count)::bigint as success_count,
    sum(error_count)::bigint as error_count,
    sum(timeout_count)::bigint as timeout_count,
    (sum(success_count) / nullif(sum(call_count) - sum(cancelled_count), 0))::numeric(5, 4) as success_rate,
    min(duration_ms) filter (where reached_count >= 0.5 * all_count) as p50_ms,
    min(duration_ms) filter (where reached_count >= 0.95 * all_count) as p95_ms,
    min(duration_ms) filter (where reached_count >= 0.99 * all_count) as p99_ms,
    sum(up_count)::bigint as up_count,
    sum(down_count)::bigint as down_count,
    (sum(score_sum) / nullif(sum(score_count), 0))::numeric(3, 2) as average_score,
    sum(model_call_count)::bigint as model_call_count,
    sum(cost_micro_usd)::bigint as cost_micro_usd,
    sum(unpriced_model_call_count)::bigint as unpriced_model_call_count,
    sum(agent_cost_micro_usd)::bigint as agent_cost_micro_usd
  from counted
  group by day, mcp_name, tool_name, tool_version;
revoke all on public.tool_usage from anon, authenticated, service_role;
comment on view public.tool_usage is
  'Tool calls by UTC day, tool and version: how many succeeded, how long they took (percentiles within 5 percent), their grades, and their cost, as in tool_call_costs. success_rate ignores calls that their caller cancelled. Users see their own calls while retention keeps them; the service sees all, also the deleted ones.';

create view public.agent_tool_usage with (security_invoker = true) as
  with counted as (
    select
      part.*,
      sum(part.call_count) over (partition by day, agent_slug, mcp_name, tool_name) as all_count,
      sum(part.call_count) over (partition by day, agent_slug, mcp_name, tool_name order by duration_ms) as reached_count
    from private.readable_tool_days() as part
  )
  select
    day,
    agent_slug,
    mcp_name,
    tool_name,
    sum(call_count)::bigint as call_count,
    sum(success_count)::bigint as success_count,
    (sum(success_count) / nullif(sum(call_count) - sum(cancelled_count), 0))::numeric(5, 4) as success_rate,
    (sum(first_try_success_count) / nullif(sum(first_try_count), 0))::numeric(5, 4) as first_try_success_rate,
    min(duration_ms) filter (where reached_count >= 0.5 * all_count) as p50_ms,
    min(duration_ms) filter (where reached_count >= 0.95 * all_count) as p95_ms,
    min(duration_ms) filter (where reached_count >= 0.99 * all_count) as p99_ms,
    sum(up_count)::bigint as up_count,
    sum(down_count)::bigint as down_count,
    sum(model_call_count)::bigint as model_call_count,
    sum(cost_micro_usd)::bigint as cost_micro_usd,
    sum(unpriced_model_call_count)::bigint as unpriced_model_call_count,
    sum(agent_cost_micro_usd)::bigint as agent_cost_micro_usd
  from counted
  group by day, agent_slug, mcp_name, tool_name;
revoke all on public.agent_tool_usage from anon, authenticated, service_role;
comment on view public.agent_tool_usage is
  'Tool calls by UTC day and agent, with success and cost, as in tool_usage; agent_slug is null for calls that no agent made. agent_usage has all model calls of an agent. Users see their own, the service all.';

grant select on public.tool_call_costs, public.tool_usage, public.agent_tool_usage to authenticated, service_role;
