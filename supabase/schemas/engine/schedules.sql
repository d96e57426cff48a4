-- Schedules: jobs that start at times set by users. Their owners write the rows; triggers check them.

create table public.schedules (
  id uuid primary key default gen_random_uuid(),
  created_by uuid default auth.uid() references auth.users (id) on delete cascade,
  name text check (length(name) between 1 and 100),
  agent text not null,
  input jsonb not null,
  cron text not null,
  time_zone text not null default 'UTC',
  overlap text not null default 'skip' check (overlap in ('skip', 'queue')),
  is_active boolean not null default true,
  priority text not null default 'normal' check (priority in ('high', 'normal', 'low')),
  budget jsonb check (jsonb_typeof(budget) = 'object'),
  metadata jsonb not null default '{}' check (jsonb_typeof(metadata) = 'object'),

  next_run_at timestamptz,
  waiting_times timestamptz[] not null default '{}' check (cardinality(waiting_times) <= 10),
  last_run_at timestamptz,
  last_task_id uuid references public.tasks (id) on delete set null,
  run_count bigint not null default 0,
  skipped_count bigint not null default 0,
  last_error jsonb,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint schedules_active_has_next_run check (is_active = (next_run_at is not null)),
  constraint schedules_waiting_is_active check (is_active or waiting_times = '{}')
);
revoke all on public.schedules from anon, authenticated, service_role;
create index schedules_created_by_idx on public.schedules (created_by);
create index schedules_last_task_id_idx on public.schedules (last_task_id);
create index schedules_next_run_at_idx on public.schedules (next_run_at) where is_active;
create index schedules_waiting_idx on public.schedules (id) where waiting_times <> '{}';
comment on table public.schedules is
  'When to create jobs. Owners insert, update and delete their own rows; the platform writes the columns after metadata.';
comment on column public.schedules.created_by is 'The owner of the schedule and of its jobs; null for the service.';
comment on column public.schedules.agent is 'Slug of the agent.';
comment on column public.schedules.input is 'The agent''s input, as for create_task.';
comment on column public.schedules.cron is 'Five fields (minute, hour, day of the month, month, day of the week), or @hourly, @daily, @weekly, @monthly, @yearly.';
comment on column public.schedules.time_zone is 'Time zone of cron: UTC, or a name such as Europe/Berlin.';
comment on column public.schedules.overlap is 'What happens when a run is due while the previous job has not ended. skip: the run is skipped. queue: the run waits for the job to end; at most ten wait.';
comment on column public.schedules.metadata is 'Metadata of each job, in addition to {schedule: {id, name, scheduled_at}}.';
comment on column public.schedules.next_run_at is 'Null while the schedule is not active. After a downtime or a pause, missed runs are made up for by a single run.';
comment on column public.schedules.waiting_times is 'Due times of the runs that wait for the previous job to end.';
comment on column public.schedules.last_run_at is 'When the last job was created.';
comment on column public.schedules.skipped_count is 'Runs that were skipped because a job of the schedule had not ended.';
comment on column public.schedules.last_error is 'Why the last due run created no job, {code, message, hint, scheduled_at}; null when it did.';

create table private.schedule_clients (
  schedule_id uuid not null references public.schedules (id) on delete cascade,
  client_id text not null,
  scopes text[] not null,
  noted_at timestamptz not null default clock_timestamp(),
  primary key (schedule_id, client_id)
);
comment on table private.schedule_clients is
  'OAuth clients that wrote a schedule, with the scopes that they had. Each job of the schedule is limited to them, as in private.job_clients.';
alter table private.schedule_clients enable row level security;

create function private.assert_schedule_is_small(p_schedule public.schedules)
returns void
language plpgsql
set search_path = ''
as $$
begin
  if not private.is_within_limits(jsonb_build_array(p_schedule.input, p_schedule.budget, p_schedule.metadata))
    or length(p_schedule.agent) > 200 or length(p_schedule.cron) > 1000 or length(p_schedule.time_zone) > 100
  then
    perform private.raise_error('TASK_INPUT_INVALID',
      'Cannot save the schedule: its input, budget and metadata are larger than 1 MiB, 64 levels or 70,000 values, or have a number that programs cannot read, or a name is too long',
      'Write less, and store large values as files.');
  end if;
end;
$$;
comment on function private.assert_schedule_is_small(public.schedules) is
  'Raises TASK_INPUT_INVALID for values that no job could have. Called for inactive schedules too, because they are stored.';

create function private.assert_schedule_may_run(p_schedule public.schedules)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_agent public.agents;
begin
  perform private.assert_task_is_valid(p_schedule.input, p_schedule.priority, null);
  if p_schedule.input = '""' then
    perform private.raise_error('TASK_INPUT_INVALID', 'Cannot save the schedule: its input is empty',
      'Write the agent''s input as an object or as text.');
  end if;
  if p_schedule.budget is not null then
    perform private.assert_budget_is_valid(p_schedule.budget);
    perform private.assert_budget_within_ceilings(p_schedule.budget, p_schedule.created_by);
  end if;
  v_agent := private.active_agent(p_schedule.agent, p_schedule.created_by, 'save the schedule');
  if v_agent.input_schema is not null then
    perform private.assert_input_fits(v_agent, p_schedule.input);
  end if;
  perform private.assert_active_rows_within_quota(
    'public.schedules', 'active_schedules', p_schedule.created_by, p_schedule.id, 'activate the schedule');
end;
$$;
comment on function private.assert_schedule_may_run(public.schedules) is
  'Raises QUOTA_EXCEEDED and every error that creating the job now would raise. Called when an active schedule is written, so that the owner sees mistakes immediately and not when a run is due.';

create function private.check_schedule()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  perform private.assert_person_may('save the schedule', 'swarm:run');
  perform private.assert_schedule_is_small(new);
  if tg_op = 'INSERT' then
    perform private.assert_rows_within_bound('public.schedules', 'active_schedules', new.created_by, 'save the schedule');
  end if;
  perform private.assert_no_problem(
    private.choice_problem('overlap', new.overlap, array['skip', 'queue']), 'SCHEDULE_INVALID', 'save the schedule');
  new.cron := btrim(new.cron);
  -- A schedule that can no longer run can still be deactivated.
  if tg_op = 'INSERT' or (old.cron, old.time_zone) is distinct from (new.cron, new.time_zone)
    or (new.is_active and not old.is_active)
  then
    perform private.assert_time_zone(new.time_zone);
    new.next_run_at := private.next_cron_time(new.cron, new.time_zone, clock_timestamp());
  end if;
  if new.is_active then
    perform private.assert_schedule_may_run(new);
  else
    new.next_run_at := null;
    new.waiting_times := '{}';
  end if;
  new.updated_at := clock_timestamp();
  return new;
end;
$$;
comment on function private.check_schedule() is
  'Row trigger of schedules, before an owner''s write: checks the row and sets the next run. Raises SCHEDULE_CRON_INVALID, SCHEDULE_ZONE_INVALID, SCHEDULE_INVALID, AGENT_NOT_FOUND, AGENT_INACTIVE, TASK_INPUT_INVALID, TASK_BUDGET_INVALID, QUOTA_EXCEEDED, AGENT_NOT_ALLOWED, INSUFFICIENT_SCOPE. Definer: users may not read the data that the check needs.';

create trigger schedules_check_insert before insert on public.schedules
  for each row execute function private.check_schedule();
create trigger schedules_check_update
  before update of created_by, name, agent, input, cron, time_zone, overlap, is_active, priority, budget, metadata
  on public.schedules
  for each row execute function private.check_schedule();

create function private.record_schedule_client()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_client_id constant text := private.request_claims() ->> 'client_id';
begin
  if private.calling_actor() = 'client' then
    insert into private.schedule_clients (schedule_id, client_id, scopes)
    values (new.id, v_client_id, private.granted_scopes(new.created_by, v_client_id))
    on conflict do nothing;
  end if;
  return null;
end;
$$;
comment on function private.record_schedule_client() is
  'Row trigger of schedules: records the OAuth client that wrote the row, with its scopes. Definer: users may not write that table.';

create trigger schedules_note_client
  after insert or update of name, agent, input, cron, time_zone, overlap, is_active, priority, budget, metadata
  on public.schedules
  for each row execute function private.record_schedule_client();

create function private.check_person_may()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  perform private.assert_person_may(tg_argv[0], 'swarm:run');
  return coalesce(new, old);
end;
$$;
comment on function private.check_person_may() is
  'Row trigger (action) of schedules and webhooks; the action completes the sentence "Cannot …". Raises AGENT_NOT_ALLOWED, INSUFFICIENT_SCOPE. Definer: users may not execute the functions that it calls.';

create trigger schedules_check_deletion before delete on public.schedules
  for each row execute function private.check_person_may('delete the schedule');

alter table public.schedules enable row level security;
create policy "owners read their schedules" on public.schedules
  for select to authenticated using (
    created_by = (select auth.uid()) and (select private.has_scope('swarm:run'))
  );
comment on policy "owners read their schedules" on public.schedules is 'Owners read their schedules, with the next run and the result of the last one.';
create policy "owners add schedules" on public.schedules
  for insert to authenticated with check (
    created_by = (select auth.uid()) and (select private.has_scope('swarm:run'))
  );
comment on policy "owners add schedules" on public.schedules is 'Owners add schedules only for themselves; check_schedule() checks the row.';
create policy "owners change their schedules" on public.schedules
  for update to authenticated using (
    created_by = (select auth.uid()) and (select private.has_scope('swarm:run'))
  )
  with check (created_by = (select auth.uid()));
comment on policy "owners change their schedules" on public.schedules is 'Owners change only the columns that are granted.';
create policy "owners delete their schedules" on public.schedules
  for delete to authenticated using (
    created_by = (select auth.uid()) and (select private.has_scope('swarm:run'))
  );
comment on policy "owners delete their schedules" on public.schedules is 'Owners delete their schedules; the jobs that a schedule created remain.';
grant select, delete on public.schedules to authenticated;
grant insert (created_by, name, agent, input, cron, time_zone, overlap, is_active, priority, budget, metadata)
  on public.schedules to authenticated;
grant update (name, agent, input, cron, time_zone, overlap, is_active, priority, budget, metadata)
  on public.schedules to authenticated;
grant select, insert, update, delete on public.schedules to service_role;

-- Runs --------------------------------------------------------------------------------------------

create function private.create_scheduled_job(p_schedule public.schedules, p_scheduled_at timestamptz)
returns uuid
language plpgsql
set search_path = ''
as $$
declare
  v_client private.schedule_clients;
  v_task_id uuid;
begin
  for v_client in select * from private.schedule_clients where schedule_id = p_schedule.id loop
    perform private.assert_client_has_scope(p_schedule.created_by, v_client.client_id, 'run the schedule', 'swarm:run');
  end loop;
  select task_id into v_task_id from private.create_task(
    p_agent => p_schedule.agent,
    p_input => p_schedule.input,
    p_created_by => p_schedule.created_by,
    p_priority => p_schedule.priority,
    p_metadata => p_schedule.metadata || jsonb_build_object('schedule', jsonb_strip_nulls(jsonb_build_object(
      'id', p_schedule.id, 'name', p_schedule.name, 'scheduled_at', p_scheduled_at))),
    p_budget => p_schedule.budget
  );
  insert into private.job_clients (job_id, client_id, scopes)
  select v_task_id, client.client_id, client.scopes
  from private.schedule_clients as client
  where client.schedule_id = p_schedule.id;
  return v_task_id;
end;
$$;
comment on function private.create_scheduled_job(public.schedules, timestamptz) is
  'Creates the job of one run, limited to the scopes of the OAuth clients that wrote the schedule. Raises what create_task() raises, INSUFFICIENT_SCOPE.';

create function private.run_schedule(p_schedule public.schedules, p_scheduled_at timestamptz)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_task_id uuid;
  v_detail text;
  v_hint text;
begin
  v_task_id := private.create_scheduled_job(p_schedule, p_scheduled_at);
  update public.schedules
  set last_run_at = clock_timestamp(), last_task_id = v_task_id, run_count = run_count + 1, last_error = null
  where id = p_schedule.id;
exception when others then
  -- A schedule that cannot run must not stop the others. Its owner reads the reason in last_error.
  get stacked diagnostics v_detail = pg_exception_detail, v_hint = pg_exception_hint;
  update public.schedules
  set last_error = jsonb_build_object(
    'code', case when sqlstate like 'PT%' then v_detail else 'INTERNAL' end,
    'message', case when sqlstate like 'PT%' then sqlerrm else 'Cannot create the job: an internal error' end,
    'hint', case when sqlstate like 'PT%' then v_hint else 'Look into the log of the database.' end,
    'scheduled_at', p_scheduled_at)
  where id = p_schedule.id;
  if sqlstate not like 'PT%' then
    raise warning 'Cannot run schedule %: %', p_schedule.id, sqlerrm;
  end if;
end;
$$;
comment on function private.run_schedule(public.schedules, timestamptz) is
  'Creates the job of one run, or stores why it could not be created. Never raises. The caller has locked the schedule.';

create function private.has_unfinished_run(p_schedule public.schedules)
returns boolean
language plpgsql
stable
set search_path = ''
as $$
begin
  return exists (select from public.tasks where id = p_schedule.last_task_id and finished_at is null);
end;
$$;
comment on function private.has_unfinished_run(public.schedules) is 'True when the last job of a schedule has not ended.';

create function private.is_schedule_paused(p_schedule public.schedules)
returns boolean
language plpgsql
stable
set search_path = ''
as $$
begin
  return exists (
    select from private.pauses as pause
    where pause.kind = 'project'
      or (pause.kind = 'schedule' and (
        pause.name = p_schedule.id::text or (p_schedule.created_by is null and pause.name = p_schedule.name)
      ))
  );
end;
$$;
comment on function private.is_schedule_paused(public.schedules) is
  'True while a schedule, or the project, is paused: its next run stays due, so that a single run follows the pause.';

create function private.take_due_run(p_schedule public.schedules)
returns void
language plpgsql
set search_path = ''
as $$
declare
  c_max_waiting constant int := 10;
  v_is_behind constant boolean :=
    p_schedule.waiting_times <> '{}' or private.has_unfinished_run(p_schedule);
  v_next timestamptz;
begin
  begin
    v_next := private.next_cron_time(p_schedule.cron, p_schedule.time_zone, clock_timestamp());
  exception when others then
    -- For example, the time zone database has changed.
    update public.schedules
    set is_active = false, next_run_at = null, waiting_times = '{}', last_error = jsonb_build_object(
      'code', 'SCHEDULE_CRON_INVALID',
      'message', 'The schedule was deactivated: ' || sqlerrm,
      'hint', 'Correct cron or time_zone, and set is_active again.',
      'scheduled_at', p_schedule.next_run_at)
    where id = p_schedule.id;
    return;
  end;
  -- One next run, however many were missed.
  update public.schedules
  set next_run_at = v_next,
      waiting_times = case
        when v_is_behind and overlap = 'queue' and cardinality(waiting_times) < c_max_waiting
          then waiting_times || next_run_at
        else waiting_times
      end,
      skipped_count = skipped_count + case
        when v_is_behind and (overlap = 'skip' or cardinality(waiting_times) >= c_max_waiting) then 1 else 0
      end
  where id = p_schedule.id;
  if not v_is_behind then
    perform private.run_schedule(p_schedule, p_schedule.next_run_at);
  end if;
end;
$$;
comment on function private.take_due_run(public.schedules) is
  'Handles a due schedule: creates the job, queues the run or skips it. The caller has locked the schedule.';

create function private.run_due_schedules(p_limit int default 1000, p_max_duration interval default '5 seconds')
returns int
language plpgsql
set search_path = ''
-- Usually nothing is due. An index answers that fast, even before the table has statistics.
set enable_seqscan = off
set jit = off
as $$
declare
  v_until constant timestamptz := clock_timestamp() + p_max_duration;
  v_schedule public.schedules;
  v_count int := 0;
begin
  for v_schedule in
    select schedule.*
    from (
      select waiting.id,
        row_number() over (partition by waiting.created_by order by waiting.waiting_times[1]) as place_of_owner
      from public.schedules as waiting
      left join public.tasks as previous on previous.id = waiting.last_task_id
      where waiting.waiting_times <> '{}' and (previous.id is null or previous.finished_at is not null)
        and not private.is_schedule_paused(waiting)
    ) as turn
    join public.schedules as schedule on schedule.id = turn.id
    where schedule.waiting_times <> '{}'
    order by turn.place_of_owner, schedule.waiting_times[1]
    limit p_limit
    for no key update of schedule skip locked
  loop
    begin
      update public.schedules set waiting_times = waiting_times[2:] where id = v_schedule.id;
      perform private.run_schedule(v_schedule, v_schedule.waiting_times[1]);
    exception when others then
      perform private.record_maintenance_failure('run_due_schedules', v_schedule.id::text, sqlstate, sqlerrm);
    end;
    v_count := v_count + 1;
    exit when clock_timestamp() > v_until;
  end loop;
  for v_schedule in
    select schedule.*
    from (
      select due.id,
        row_number() over (partition by due.created_by order by due.next_run_at) as place_of_owner
      from public.schedules as due
      where due.is_active and due.next_run_at <= clock_timestamp() and not private.is_schedule_paused(due)
    ) as turn
    join public.schedules as schedule on schedule.id = turn.id
    where schedule.is_active and schedule.next_run_at <= clock_timestamp()
    order by turn.place_of_owner, schedule.next_run_at
    limit p_limit
    for no key update of schedule skip locked
  loop
    begin
      perform private.take_due_run(v_schedule);
    exception when others then
      perform private.record_maintenance_failure('run_due_schedules', v_schedule.id::text, sqlstate, sqlerrm);
    end;
    v_count := v_count + 1;
    exit when clock_timestamp() > v_until;
  end loop;
  return v_count;
end;
$$;
comment on function private.run_due_schedules(int, interval) is
  'Runs the schedules that are due, in turn among their owners and the most overdue first, and returns how many it handled. Bounded in number and time: many schedules that are due at the same time take several batches. Called by cron; concurrent calls skip each other''s locked rows.';

select cron.schedule('supaswarm-schedules', '15 seconds', 'select private.run_due_schedules()');
