-- Internal state: settings, workers, job totals, dead letters and the gates that limit wakes.

create table private.settings (
  key text primary key,
  value text not null,
  updated_at timestamptz not null default now()
);
comment on table private.settings is 'Settings of this installation that are not secret, such as project_url.';

create function private.check_setting()
returns trigger
language plpgsql
set search_path = ''
as $$
declare
  v_wanted text := case
    when new.key = 'project_url' then '^https?://[^/ ]+'
    when new.key = 'transcripts_kept_since' then '^\d{4}-'
    when new.key = 'cron_loaded_for' then '^\d+\.\d+'
    when new.key in (
      'keep_jobs_days', 'keep_events_days', 'keep_executions_days', 'keep_usage_days', 'keep_auth_events_days', 'keep_tool_days') then '^\d{1,5}$'
    when new.key in ('realtime_messages_per_second', 'watch_seconds') then '^\d{1,9}$'
  end;
begin
  if v_wanted is null then
    perform private.raise_error('CONFIG_INVALID',
      format('Cannot write the setting %L: no setting has that name', new.key),
      'The settings are project_url, keep_jobs_days, keep_events_days, keep_executions_days, keep_usage_days, keep_auth_events_days, keep_tool_days, realtime_messages_per_second and watch_seconds.');
  end if;
  if new.value !~ v_wanted then
    perform private.raise_error('CONFIG_INVALID',
      format('Cannot write the setting %L: its value is %L', new.key, left(new.value, 100)),
      case when new.key = 'project_url' then 'Give an http or https address.' else 'Give a whole number.' end);
  end if;
  return new;
end;
$$;
comment on function private.check_setting() is
  'Row trigger: refuses unknown settings and values that the setting''s readers cannot use. Raises CONFIG_INVALID.';
create trigger settings_check before insert or update on private.settings
  for each row execute function private.check_setting();

create table private.workers (
  id text primary key,
  started_at timestamptz not null default clock_timestamp(),
  seen_at timestamptz not null default clock_timestamp(),
  stopped_at timestamptz
);
comment on table private.workers is 'Workers with their last heartbeat, for operators to read. Nothing relies on a worker being alive.';

create table private.worker_processes (
  id uuid primary key,
  has_room boolean not null,
  seen_at timestamptz not null default clock_timestamp()
);
comment on table private.worker_processes is
  'Processes that run tasks beside the edge functions. While one was seen within 12 seconds and has room, a new task wakes it alone, and no edge function.';
comment on column private.worker_processes.has_room is 'Whether it would claim more tasks.';

create table private.job_totals (
  master_task_id uuid primary key references public.tasks (id) on delete cascade,
  task_count int not null default 0,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  cost_micro_usd bigint,
  data_flows text[] not null default '{}'
);
comment on table private.job_totals is 'What a whole job has spent. The caps of its budget are checked against these totals.';
comment on column private.job_totals.data_flows is 'The data flows of all tools that the job has called; see tools.data_flows.';

create table private.dead_letters (
  id bigint generated always as identity primary key,
  task_id uuid not null references public.tasks (id) on delete cascade,
  reason text not null check (reason in ('attempts_exhausted', 'deliveries_exhausted')),
  error jsonb not null,
  created_at timestamptz not null default now(),
  retried_at timestamptz
);
create index dead_letters_task_id_idx on private.dead_letters (task_id);
create index dead_letters_created_at_idx on private.dead_letters (created_at);
comment on table private.dead_letters is 'One row for each time a task failed because it ran out of attempts or deliveries.';
comment on column private.dead_letters.retried_at is 'When the task was retried.';

create table private.wake_gate (
  name text primary key,
  last_wake_at timestamptz not null default '-infinity'
);
comment on table private.wake_gate is
  'Debounces wakes: at most one passes a gate every 150 ms. A gate has the name of an edge function, for requests to it, or of a channel, for notifications. A claim that leaves a worker without work opens the channel''s gate early.';

alter table private.settings enable row level security;
alter table private.workers enable row level security;
alter table private.worker_processes enable row level security;
alter table private.job_totals enable row level security;
alter table private.dead_letters enable row level security;
alter table private.wake_gate enable row level security;
grant select on private.settings, private.workers, private.worker_processes, private.job_totals, private.dead_letters to service_role;
