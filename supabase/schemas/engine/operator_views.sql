-- Views for operators, readable over the REST API with the secret key and by a dashboard.

create view public.queue_health with (security_invoker = true) as
  select
    line.priority,
    count(*) filter (where task.status = 'pending' and not due.is_later) as waiting_count,
    coalesce(extract(epoch from clock_timestamp() - min(due.since)
      filter (where task.status = 'pending' and not due.is_later)), 0)::numeric(12, 3) as oldest_wait_seconds,
    count(*) filter (where task.status = 'pending' and due.is_later) as delayed_count,
    count(*) filter (where task.status = 'running') as running_count,
    count(*) filter (where task.lease_expires_at <= clock_timestamp()) as expired_lease_count,
    count(*) filter (where task.status = 'pending_subtask') as waiting_for_subtasks_count,
    count(*) filter (where task.status = 'needs_human_review') as waiting_for_review_count,
    (
      select count(*) from private.workers as worker
      where worker.stopped_at is null and worker.seen_at > clock_timestamp() - interval '1 minute'
    ) as live_worker_count
  from (values ('high'), ('normal'), ('low')) as line (priority)
  left join public.tasks as task
    on task.priority = line.priority
    and task.status in ('pending', 'running', 'pending_subtask', 'needs_human_review')
  left join lateral (
    select coalesce(task.run_after, task.updated_at) as since,
      coalesce(task.run_after > clock_timestamp(), false) as is_later
  ) as due on true
  group by line.priority;
revoke all on public.queue_health from anon, authenticated, service_role;
comment on view public.queue_health is
  'One row per priority: how many tasks wait and for how long, how many run, and on how many workers. For the service.';

create view public.stuck_tasks with (security_invoker = true) as
  with suspect as (
    select task.*,
      progress.at as progressed_at,
      case
        when task.status = 'running' and task.lease_expires_at <= clock_timestamp() - interval '1 minute'
          then 'lease_expired'
        when progress.at <= clock_timestamp() - interval '15 minutes'
          then 'no_progress'
        when task.status = 'pending'
          and coalesce(task.run_after, task.updated_at) <= clock_timestamp() - interval '5 minutes'
          and not private.is_project_paused()
          then 'not_claimed'
        when task.status = 'pending' and task.yields > 3 then 'no_progress'
        when task.status = 'pending_subtask' and not exists (
          select from public.tasks as child where child.parent_id = task.id and child.finished_at is null
        )
          then 'nothing_to_wait_for'
        when task.status = 'needs_human_review' and task.updated_at <= clock_timestamp() - interval '1 day'
          then 'review_unanswered'
      end as reason
    from public.tasks as task
    -- Use the last event, because a heartbeat also updates the task; claims and steps emit events.
    left join lateral (
      select coalesce(
        (select event.at from private.task_events as event where event.task_id = task.id order by event.id desc limit 1),
        task.started_at
      ) as at
      where task.status = 'running'
    ) as progress on true
    where task.status in ('pending', 'running', 'pending_subtask', 'needs_human_review')
  )
  select id as task_id, master_task_id, created_by, agent_slug, status, reason,
    case reason
      when 'lease_expired' then lease_expires_at
      when 'no_progress' then coalesce(progressed_at, updated_at)
      else coalesce(run_after, updated_at)
    end as since,
    worker_id, attempts, deliveries
  from suspect
  where reason is not null;
revoke all on public.stuck_tasks from anon, authenticated, service_role;
comment on view public.stuck_tasks is
  'Tasks that have waited longer than they should, and why. The reconciler repairs lease_expired and nothing_to_wait_for; rows that remain indicate a fault. For the service.';

create view public.maintenance_failures with (security_invoker = true) as
  select failure.routine, failure.failure_count, failure.last_row_id, failure.last_error_code, failure.last_error_message,
    failure.first_failed_at, failure.last_failed_at
  from private.maintenance_failures as failure
  order by failure.last_failed_at desc;
revoke all on public.maintenance_failures from anon, authenticated, service_role;
comment on view public.maintenance_failures is
  'Repairs and other routines of cron that failed in the last seven days, how often, and the last error. last_row_id is what could not be handled; the rows beside it were. For the service.';

create view public.agent_usage with (security_invoker = true) as
  with part as (
    select
      date_trunc('day', usage.created_at, 'UTC')::date as day,
      usage.agent_slug,
      usage.provider_id,
      usage.model,
      usage.key_source,
      count(*) as call_count,
      count(distinct usage.task_id) as task_count,
      sum(usage.input_tokens) as input_tokens,
      sum(usage.cached_input_tokens) as cached_input_tokens,
      sum(usage.output_tokens) as output_tokens,
      sum(usage.cost_micro_usd) as cost_micro_usd,
      count(*) filter (where usage.cost_micro_usd is null) as unpriced_call_count,
      count(*) filter (where usage.execution_id is not null) as call_count_in_tools,
      sum(usage.cost_micro_usd) filter (where usage.execution_id is not null) as cost_in_tools_micro_usd
    from public.usage_events as usage
    group by 1, 2, 3, 4, 5
    union all
    select day, agent_slug, provider_id, model, key_source, sum(call_count), sum(task_count), sum(input_tokens),
      sum(cached_input_tokens), sum(output_tokens), sum(cost_micro_usd), sum(unpriced_call_count),
      coalesce(sum(call_count) filter (where mcp_name is not null), 0),
      sum(cost_micro_usd) filter (where mcp_name is not null)
    from public.usage_days
    group by 1, 2, 3, 4, 5
  )
  select
    part.day,
    part.agent_slug,
    provider.name as provider,
    part.model,
    part.key_source,
    sum(part.call_count)::bigint as call_count,
    sum(part.task_count)::bigint as task_count,
    sum(part.input_tokens)::bigint as input_tokens,
    sum(part.cached_input_tokens)::bigint as cached_input_tokens,
    sum(part.output_tokens)::bigint as output_tokens,
    sum(part.cost_micro_usd)::bigint as cost_micro_usd,
    sum(part.unpriced_call_count)::bigint as unpriced_call_count,
    sum(part.call_count_in_tools)::bigint as call_count_in_tools,
    sum(part.cost_in_tools_micro_usd)::bigint as cost_in_tools_micro_usd
  from part
  left join public.llm_providers as provider on provider.id = part.provider_id
  group by 1, 2, 3, 4, 5;
revoke all on public.agent_usage from anon, authenticated, service_role;
comment on view public.agent_usage is
  'Model calls, tokens and cost by UTC day, agent, model and key source: the agent''s own calls and the calls inside the tools that it called, with the latter also shown separately. Users see their own, the service all.';

create view public.job_usage with (security_invoker = true) as
  select
    task.master_task_id,
    task.created_by,
    count(*) as task_count,
    sum(task.input_tokens + coalesce(added.input_tokens, 0))::bigint as input_tokens,
    sum(task.output_tokens + coalesce(added.output_tokens, 0))::bigint as output_tokens,
    -- Per task, so that neither part hides the other when it is null.
    sum(coalesce(task.cost_micro_usd + added.cost_micro_usd, task.cost_micro_usd, added.cost_micro_usd))::bigint
      as cost_micro_usd
  from public.tasks as task
  -- Not job_totals, which users may not read.
  left join lateral (
    select sum(used.input_tokens) as input_tokens, sum(used.output_tokens) as output_tokens,
      sum(used.cost_micro_usd) as cost_micro_usd
    from public.usage_events as used
    where task.status = 'running' and used.task_id = task.id and used.id > task.summed_usage_id
  ) as added on true
  group by task.master_task_id, task.created_by;
revoke all on public.job_usage from anon, authenticated, service_role;
comment on view public.job_usage is
  'Tasks, tokens and cost of each job, which its budget limits: the model calls of its agents and those inside their tools. The cost is null when no model with a price was called. Users see their own, the service all.';

grant select on public.queue_health, public.stuck_tasks, public.maintenance_failures, public.agent_usage, public.job_usage
  to service_role;
grant select on public.agent_usage, public.job_usage to authenticated;
