-- The nightly export of grades and failures: one file for each UTC day and kind.

create table private.exports (
  kind text primary key check (kind in ('feedback', 'failures')),
  exported_until date not null
);
comment on table private.exports is
  'Progress of the export. A day is done once its file is in Storage, so a run that dies is repeated from there.';
comment on column private.exports.exported_until is 'UTC. Every day before it is in Storage. Retention keeps the rows of later days.';
alter table private.exports enable row level security;

insert into private.exports (kind, exported_until)
select kind, (clock_timestamp() at time zone 'utc')::date from unnest(array['feedback', 'failures']) as kind;

create function private.exported_until(p_kind text)
returns timestamptz
language sql
stable
set search_path = ''
as $$
  select export.exported_until::timestamp at time zone 'utc'
  from private.exports as export
  where export.kind = exported_until.p_kind;
$$;
comment on function private.exported_until(text) is 'Rows of this kind from before this time are in Storage.';

create function private.last_day_to_export()
returns date
language sql
set search_path = ''
as $$
  -- After a quarter of an hour, no transaction of the day is still running.
  select ((clock_timestamp() - interval '15 minutes') at time zone 'utc')::date - 1;
$$;
comment on function private.last_day_to_export() is 'The last UTC day whose rows are complete.';

create function private.days_to_export(p_from date default null, p_with_today boolean default false)
returns jsonb
language sql
set search_path = ''
as $$
  select coalesce(jsonb_agg(jsonb_build_object('kind', due.kind, 'day', due.day) order by due.day, due.kind), '[]')
  from (
    select export.kind, day.value::date as day
    from private.exports as export
    cross join lateral generate_series(
      coalesce(days_to_export.p_from, export.exported_until)::timestamp,
      case when days_to_export.p_with_today
        then (clock_timestamp() at time zone 'utc')::date
        else private.last_day_to_export()
      end::timestamp,
      interval '1 day'
    ) as day (value)
    order by day, export.kind
    limit 124
  ) as due;
$$;
comment on function private.days_to_export(date, boolean) is
  'The days to export, [{kind, day}], oldest first, at most 62: those that are due, or all since p_from. With today, whose file is incomplete.';

create function private.mark_exported(p_kind text, p_day date)
returns void
language sql
set search_path = ''
as $$
  update private.exports as export
  set exported_until = mark_exported.p_day + 1
  where export.kind = mark_exported.p_kind
    and export.exported_until = mark_exported.p_day
    and mark_exported.p_day <= private.last_day_to_export();
$$;
comment on function private.mark_exported(text, date) is
  'Records that a day''s file is in Storage. Does nothing for a day that is not over or not the next one.';

create function private.reviewable_text(p_text text)
returns text
language sql
immutable
set search_path = ''
as $$
  select private.storable_parameters(to_jsonb(reviewable_text.p_text), 4000) #>> '{}';
$$;
comment on function private.reviewable_text(text) is
  'Free text in the form that an export may contain; null when it seems to contain a key or token.';

create view private.reviewed_calls with (security_invoker = true) as
  select
    feedback.id as feedback_id,
    feedback.created_at as graded_at,
    feedback.updated_at as grade_changed_at,
    feedback.rating,
    feedback.rating_score,
    private.reviewable_text(feedback.comment) as comment,
    failure.id as failure_id,
    failure.created_at as failed_at,
    failure.error_type,
    failure.error_code,
    private.reviewable_text(execution.error_message) as error_message,
    execution.id as execution_id,
    execution.created_at as called_at,
    execution.mcp_name,
    execution.tool_name,
    execution.tool_version,
    private.storable_parameters(execution.request_data, 4000) as arguments,
    execution.status,
    execution.attempt,
    execution.execution_time_ms,
    execution.llm_provider,
    execution.llm_model,
    agent.slug as agent,
    execution.task_id,
    execution.user_id
  from public.mcp_executions as execution
  left join public.mcp_failures as failure on failure.execution_id = execution.id
  left join public.mcp_feedback as feedback on feedback.execution_id = execution.id
  left join public.agents as agent on agent.id = execution.agent_id;
comment on view private.reviewed_calls is
  'Tool calls with the fields that a reviewer needs, without secrets and without results, which may contain personal data.';

create function private.export_page(
  p_kind text, p_day date, p_after_at text, p_after_id uuid, p_limit int
)
returns table (at text, id uuid, entry jsonb)
language plpgsql
stable
set search_path = ''
set timezone = 'UTC'
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_from timestamptz := export_page.p_day::timestamp at time zone 'utc';
  v_until timestamptz := (export_page.p_day + 1)::timestamp at time zone 'utc';
  v_after_at timestamptz := coalesce(export_page.p_after_at::timestamptz, '-infinity');
  v_after_id uuid := coalesce(export_page.p_after_id, '00000000-0000-0000-0000-000000000000'::uuid);
begin
  case export_page.p_kind
    when 'feedback' then
      return query
      select call.grade_changed_at::text, call.feedback_id, to_jsonb(call.*)
      from (
        select feedback.id as feedback_id
        from public.mcp_feedback as feedback
        where feedback.updated_at >= v_from and feedback.updated_at < v_until
          and (feedback.updated_at, feedback.id) > (v_after_at, v_after_id)
        order by feedback.updated_at, feedback.id
        limit export_page.p_limit
      ) as page
      join private.reviewed_calls as call on call.feedback_id = page.feedback_id
      order by call.grade_changed_at, call.feedback_id;
    when 'failures' then
      return query
      select call.failed_at::text, call.failure_id, to_jsonb(call.*)
      from (
        select failure.id as failure_id
        from public.mcp_failures as failure
        where failure.created_at >= v_from and failure.created_at < v_until
          and (failure.created_at, failure.id) > (v_after_at, v_after_id)
        order by failure.created_at, failure.id
        limit export_page.p_limit
      ) as page
      join private.reviewed_calls as call on call.failure_id = page.failure_id
      order by call.failed_at, call.failure_id;
  end case;
end;
$$;
comment on function private.export_page(text, date, text, uuid, int) is
  'A page of the rows of a UTC day, after the given row: grades by their last change, failures by their time. An entry has the columns of reviewed_calls. The position is text, because clients round times to milliseconds. Planner settings are fixed, so that a page has the same plan with and without statistics: first the rows by index, then their related rows.';

create function private.wake_export()
returns void
language sql
set search_path = ''
as $$
  select private.wake_function('supaswarm-export')
  where private.days_to_export() <> '[]';
$$;
comment on function private.wake_export() is
  'Wakes the export when a day is due. Called by cron every hour, so that a failed night is repeated.';
