-- Alerts: measures of the platform that raise an alert above a limit. Each change is a message to webhooks of the
-- service, and operators see what is raised.

create table public.alerts (
  id uuid primary key default gen_random_uuid(),
  name text not null unique check (length(name) between 1 and 100),
  measure text not null check (
    measure in ('failure_rate', 'cost_usd', 'oldest_waiting_seconds', 'failing_seconds', 'dead_letters', 'late_cron_seconds')
  ),
  above numeric not null,
  minutes int not null default 60,
  agent text,
  at_least int not null default 10,
  is_active boolean not null default true,
  value numeric,
  checked_at timestamptz,
  raised_at timestamptz,
  below_since timestamptz,
  cleared_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint alerts_state_check check (
    (is_active or coalesce(checked_at, raised_at) is null) and (below_since is null or raised_at is not null)
  )
);
revoke all on public.alerts from anon, authenticated, service_role;
comment on table public.alerts is
  'Limits of measures of the whole platform, checked once a minute. The service writes the rows, mostly by a push of alerts.yaml; the platform writes the columns from value to cleared_at. Operators read operator_alerts.';
comment on column public.alerts.measure is
  'failure_rate: failed jobs / (completed + failed), 0 to 1. cost_usd: the cost of model calls. oldest_waiting_seconds: the longest wait of a task that is due. failing_seconds: how long the step of a task has been failing and is tried again. dead_letters: dead letters that were not retried. late_cron_seconds: the delay of the most overdue schedule, or of this check itself.';
comment on column public.alerts.above is 'The alert is raised while the value is greater than this.';
comment on column public.alerts.minutes is 'The window of failure_rate, cost_usd and dead_letters: the last minutes before a check.';
comment on column public.alerts.agent is 'Slug of the agent whose jobs (failure_rate) or model calls (cost_usd) count; null: all.';
comment on column public.alerts.at_least is 'failure_rate has no value while fewer jobs than this ended in the window.';
comment on column public.alerts.value is 'The value of the last check; null when there was too little to measure.';
comment on column public.alerts.raised_at is 'When the alert was raised; null: it is not raised.';
comment on column public.alerts.below_since is 'The first check of a raised alert that was not above. The next one, if it is not above either, clears the alert.';
comment on column public.alerts.cleared_at is 'When the alert was last cleared; null while it is raised, and before.';
alter table public.alerts enable row level security;
grant select, insert, update, delete on public.alerts to service_role;

create function private.alert_problem(p_alert public.alerts)
returns private.row_problem
language plpgsql
stable
set search_path = ''
as $$
declare
  c_measures_of_agents constant text[] := array['failure_rate', 'cost_usd'];
  v_problem private.row_problem := private.choice_problem('measure', p_alert.measure, array[
    'failure_rate', 'cost_usd', 'oldest_waiting_seconds', 'failing_seconds', 'dead_letters', 'late_cron_seconds'
  ]);
begin
  return case
    when v_problem.field is not null then v_problem
    when p_alert.above is null or p_alert.above < 0 or p_alert.above = 'NaN' then
      row('above', private.shown_value(p_alert.above::text), 'Write a number that is not negative.')::private.row_problem
    when p_alert.measure = 'failure_rate' and p_alert.above >= 1 then
      row('above', private.shown_value(p_alert.above::text), 'Write a share of the jobs below 1, such as 0.2 for 20%.')::private.row_problem
    when p_alert.minutes is null or p_alert.minutes not between 1 and 10080 then
      row('minutes', private.shown_value(p_alert.minutes::text), 'Write 1 to 10080, which is a week.')::private.row_problem
    when p_alert.at_least is null or p_alert.at_least < 1 then
      row('at_least', private.shown_value(p_alert.at_least::text), 'Write a positive number of jobs.')::private.row_problem
    when p_alert.agent is not null and p_alert.measure <> all (c_measures_of_agents) then
      row('agent', private.shown_value(p_alert.agent),
        format('Remove it: %s is a measure of the whole platform.', p_alert.measure))::private.row_problem
  end;
end;
$$;
comment on function private.alert_problem(public.alerts) is 'The first problem of an alert''s fields; null if there is none.';

create function private.queue_alert_messages(p_alert public.alerts, p_type text)
returns void
language plpgsql
set search_path = ''
as $$
begin
  -- A receiver that was down gets what it missed of this alert before the new state.
  update public.webhook_messages as missed
  set run_after = null
  from public.webhooks as webhook
  where webhook.id = missed.webhook_id and webhook.created_by is null
    and missed.status = 'pending' and missed.run_after is not null and missed.type like 'alert.%'
    and missed.payload #>> '{data,alert}' = p_alert.name;
  insert into public.webhook_messages (webhook_id, type, payload)
  select webhook.id, p_type, jsonb_build_object(
    'type', p_type,
    'timestamp', clock_timestamp(),
    'data', jsonb_build_object(
      'alert', p_alert.name,
      'measure', p_alert.measure,
      'value', p_alert.value,
      'above', p_alert.above,
      'agent', p_alert.agent
    )
  )
  from public.webhooks as webhook
  where webhook.created_by is null and webhook.is_active and p_type = any (webhook.events);
end;
$$;
comment on function private.queue_alert_messages(public.alerts, text) is
  'Writes a message of the type alert.raised or alert.cleared for each webhook of the service that wants it.';

create function private.check_alert()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  perform private.assert_no_problem(
    private.alert_problem(new), 'ALERT_INVALID', format('save the alert "%s"', new.name));
  if new.agent is not null then
    perform private.id_of('agent', new.agent, format('save the alert "%s"', new.name));
  end if;
  new.updated_at := clock_timestamp();
  return new;
end;
$$;
comment on function private.check_alert() is
  'Row trigger of alerts, before a write of the service. Raises ALERT_INVALID, AGENT_NOT_FOUND. Definer: the service may not execute what it calls.';
create trigger alerts_check before insert or update of name, measure, above, minutes, agent, at_least on public.alerts
  for each row execute function private.check_alert();

create function private.stop_alert()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  if old.raised_at is not null then
    perform private.queue_alert_messages(old, 'alert.cleared');
  end if;
  if tg_op = 'DELETE' then
    return old;
  end if;
  new.value := null;
  new.checked_at := null;
  new.raised_at := null;
  new.below_since := null;
  new.cleared_at := null;
  return new;
end;
$$;
comment on function private.stop_alert() is
  'Row trigger of alerts, before one is deactivated or deleted: clears it. Definer: the service may not write messages.';
create trigger alerts_stop before update of is_active on public.alerts
  for each row when (old.is_active and not new.is_active) execute function private.stop_alert();
create trigger alerts_delete before delete on public.alerts
  for each row execute function private.stop_alert();

-- Measuring ---------------------------------------------------------------------------------------

create function private.failure_rate_since(p_since timestamptz, p_agent text, p_at_least int)
returns numeric
language sql
stable
set search_path = ''
as $$
  -- Two parts, because the index of the jobs that ended leaves out those that are kept.
  select case when count(*) >= p_at_least
    then round(count(*) filter (where job.status = 'failed')::numeric / count(*), 4) end
  from (
    select status, agent_slug from public.tasks
    where parent_id is null and finished_at >= p_since and not is_kept
    union all
    select status, agent_slug from public.tasks
    where parent_id is null and finished_at >= p_since and is_kept
  ) as job
  where job.status in ('completed', 'failed') and (p_agent is null or job.agent_slug = p_agent);
$$;
comment on function private.failure_rate_since(timestamptz, text, int) is
  'The share of jobs [of an agent] that failed among those that completed or failed since a time; null for fewer than p_at_least.';

create function private.cost_usd_since(p_since timestamptz, p_agent text)
returns numeric
language sql
stable
set search_path = ''
as $$
  select round(coalesce(sum(usage.cost_micro_usd), 0) / 1000000, 6)
  from public.usage_events as usage
  where usage.created_at >= p_since and (p_agent is null or usage.agent_slug = p_agent);
$$;
comment on function private.cost_usd_since(timestamptz, text) is 'The cost of model calls [of an agent] since a time.';

create function private.alert_value(p_alert public.alerts)
returns numeric
language plpgsql
stable
set search_path = ''
as $$
declare
  c_check_seconds constant int := 60;
  v_now constant timestamptz := clock_timestamp();
  v_since constant timestamptz := v_now - make_interval(mins => p_alert.minutes);
begin
  return case p_alert.measure
    when 'failure_rate' then
      private.failure_rate_since(p_since => v_since, p_agent => p_alert.agent, p_at_least => p_alert.at_least)
    when 'cost_usd' then private.cost_usd_since(v_since, p_alert.agent)
    when 'oldest_waiting_seconds' then (
      select coalesce(round(extract(epoch from v_now - min(coalesce(task.run_after, task.updated_at)))), 0)
      from public.tasks as task
      where task.status = 'pending' and (task.run_after is null or task.run_after <= v_now)
    )
    when 'failing_seconds' then (
      select coalesce(round(extract(epoch from v_now - min(task.failing_since))), 0)
      from public.tasks as task
      where task.status = any ('{pending,running}')
    )
    when 'dead_letters' then (
      select count(*) from private.dead_letters as letter
      where letter.created_at >= v_since and letter.retried_at is null
    )
    when 'late_cron_seconds' then (
      select round(greatest(0, extract(epoch from v_now - min(schedule.next_run_at)),
        extract(epoch from v_now - p_alert.checked_at) - c_check_seconds))
      from public.schedules as schedule
      where schedule.is_active
    )
  end;
end;
$$;
comment on function private.alert_value(public.alerts) is
  'The current value of an alert''s measure; null when there is too little to measure. Reads by index, and only what is open or in the window.';

create function private.measure_alert(p_alert_id uuid)
returns boolean
language plpgsql
set search_path = ''
as $$
declare
  v_now constant timestamptz := clock_timestamp();
  v_alert public.alerts;
  v_was_raised boolean;
begin
  select * into v_alert from public.alerts where id = p_alert_id and is_active for no key update skip locked;
  if not found then
    return false;
  end if;
  v_was_raised := v_alert.raised_at is not null;
  v_alert.value := private.alert_value(v_alert);
  if v_alert.value > v_alert.above then
    v_alert.raised_at := coalesce(v_alert.raised_at, v_now);
    v_alert.below_since := null;
    v_alert.cleared_at := null;
  elsif v_alert.below_since is not null then
    v_alert.raised_at := null;
    v_alert.below_since := null;
    v_alert.cleared_at := v_now;
  elsif v_was_raised then
    v_alert.below_since := v_now;
  end if;
  update public.alerts
  set value = v_alert.value, checked_at = v_now, raised_at = v_alert.raised_at, below_since = v_alert.below_since,
    cleared_at = v_alert.cleared_at
  where id = p_alert_id;
  if v_was_raised = (v_alert.raised_at is not null) then
    return false;
  end if;
  perform private.queue_alert_messages(v_alert, case when v_was_raised then 'alert.cleared' else 'alert.raised' end);
  return true;
end;
$$;
comment on function private.measure_alert(uuid) is
  'Measures an alert, raises it above its limit, and clears it at the second check in a row that is not above, so that a value at the limit does not send a message a minute. True when it was raised or cleared.';

create function private.check_alerts()
returns int
language sql
set search_path = ''
as $$
  select private.run_for_each('measure_alert', array(
    select id
    from public.alerts
    -- A tick comes every 15 seconds, and rarely to the second.
    where is_active and (checked_at is null or checked_at <= clock_timestamp() - interval '55 seconds')
    order by checked_at nulls first
  ));
$$;
comment on function private.check_alerts() is
  'Measures the active alerts that were not checked for a minute, and returns how many were raised or cleared. Called by cron, through tick().';

-- Reading -----------------------------------------------------------------------------------------

create function private.operator_alerts()
returns table (
  name text, measure text, above numeric, minutes int, agent text, at_least int, is_active boolean, value numeric,
  checked_at timestamptz, raised_at timestamptz, below_since timestamptz, cleared_at timestamptz
)
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  perform private.assert_operator('list the alerts');
  return query
    select alert.name, alert.measure, alert.above, alert.minutes, alert.agent, alert.at_least, alert.is_active,
      alert.value, alert.checked_at, alert.raised_at, alert.below_since, alert.cleared_at
    from public.alerts as alert
    order by alert.raised_at, alert.name;
end;
$$;
comment on function private.operator_alerts() is
  'All alerts, for operators. Definer: users may not read alerts; assert_operator() checks the caller.';
create view public.operator_alerts with (security_invoker = true) as
  select * from private.operator_alerts();
revoke all on public.operator_alerts from anon, authenticated, service_role;
comment on view public.operator_alerts is
  'The alerts, with the value of the last check, since when each is raised, and when it recovered; raised ones come first. For operators and the service; INSUFFICIENT_SCOPE for all others.';
grant execute on function private.operator_alerts() to authenticated, service_role;
grant select on public.operator_alerts to authenticated, service_role;
