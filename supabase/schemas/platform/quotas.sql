-- Quotas: how much of the shared resources one user may use. Tasks of the service, which have no owner,
-- have no quota.

create function private.quota_names()
returns text[]
language sql
immutable
set search_path = ''
as $$
  select array[
    'running_tasks', 'waiting_tasks', 'task_creations_per_minute', 'stored_bytes',
    'trace_bytes', 'ledger_bytes', 'conversation_bytes', 'ruleset_bytes',
    'tool_list_refreshes_per_minute', 'active_schedules', 'active_webhooks',
    'max_input_tokens', 'max_output_tokens', 'max_cost_micro_usd', 'max_steps', 'max_depth',
    'max_tasks', 'max_wall_seconds'
  ];
$$;
comment on function private.quota_names() is 'The names of all quotas.';

create table private.quotas (
  name text not null check (name = any (private.quota_names())),
  user_id uuid references auth.users (id) on delete cascade,
  amount bigint check (amount >= 0),
  unique nulls not distinct (name, user_id)
);
create index quotas_user_id_idx on private.quotas (user_id);
comment on table private.quotas is
  'How much a user may use. A user''s own row overrides the row for all users. Written by the operator.';
comment on column private.quotas.name is
  'running_tasks and waiting_tasks count tasks and subtasks. stored_bytes counts files and saved data of tasks. trace_bytes counts inputs, steps and events of jobs, ledger_bytes tool calls, their grades and model calls, conversation_bytes and ruleset_bytes what their names say. active_schedules and active_webhooks count rows. A name that starts with max_ is the ceiling of that budget cap, for each job.';
comment on column private.quotas.user_id is 'Null: applies to every user without their own row of this name.';
comment on column private.quotas.amount is 'Null: no limit.';
alter table private.quotas enable row level security;
grant select on private.quotas to service_role;

insert into private.quotas (name, amount) values
  -- One user cannot take all slots of the workers.
  ('running_tasks', 6),
  ('waiting_tasks', 10000),
  ('task_creations_per_minute', 600),
  ('stored_bytes', 1073741824),
  ('trace_bytes', 1073741824),
  ('ledger_bytes', 268435456),
  ('conversation_bytes', 67108864),
  ('ruleset_bytes', 16777216),
  ('tool_list_refreshes_per_minute', 30),
  ('active_schedules', 100),
  ('active_webhooks', 20);

create function private.quota(p_name text, p_user_id uuid)
returns bigint
language plpgsql
stable
set search_path = ''
as $$
begin
  if p_user_id is null then
    return null;
  end if;
  return (
    select stated.amount
    from private.quotas as stated
    where stated.name = p_name and (stated.user_id = p_user_id or stated.user_id is null)
    order by stated.user_id nulls last
    limit 1
  );
end;
$$;
comment on function private.quota(text, uuid) is
  'How much a user may use of a quota; null when there is no limit, as for the service (a null user).';

create function private.raise_quota_exceeded(
  p_action text, p_name text, p_amount bigint, p_retry_after_seconds int, p_advice text
)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  perform private.raise_error('QUOTA_EXCEEDED',
    format('Cannot %s: the quota %s of %s is used up', p_action, p_name, p_amount),
    -- to_swarm_error.ts reads the seconds from here.
    format('Try again in %s seconds%s. An operator can raise the quota in private.quotas.',
      p_retry_after_seconds, p_advice));
end;
$$;
comment on function private.raise_quota_exceeded(text, text, bigint, int, text) is
  'Raises QUOTA_EXCEEDED with the quota''s name, its size, and when to try again.';

-- Quotas per minute -----------------------------------------------------------------------------

create table private.quota_minutes (
  user_id uuid not null references auth.users (id) on delete cascade,
  name text not null,
  began_at timestamptz not null,
  used_count bigint not null,
  primary key (user_id, name)
);
comment on table private.quota_minutes is
  'How much a user has used of a quota per minute since the user''s current minute began.';
alter table private.quota_minutes enable row level security;

create function private.take_from_minute(p_name text, p_user_id uuid, p_action text)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_amount constant bigint := private.quota(p_name, p_user_id);
  v_now constant timestamptz := clock_timestamp();
begin
  if v_amount is null then
    return;
  end if;
  insert into private.quota_minutes as minute (user_id, name, began_at, used_count)
  select p_user_id, p_name, v_now, 1
  where v_amount > 0
  on conflict (user_id, name) do update
  set began_at = case when minute.began_at <= v_now - interval '1 minute' then v_now else minute.began_at end,
      used_count = case when minute.began_at <= v_now - interval '1 minute' then 1 else minute.used_count + 1 end
  where minute.used_count < v_amount or minute.began_at <= v_now - interval '1 minute';
  if not found then
    perform private.raise_quota_exceeded(p_action, p_name, v_amount, coalesce((
      select greatest(1, ceil(extract(epoch from minute.began_at + interval '1 minute' - v_now)))::int
      from private.quota_minutes as minute
      where minute.user_id = p_user_id and minute.name = p_name
    ), 60), '');
  end if;
end;
$$;
comment on function private.take_from_minute(text, uuid, text) is
  'Counts one use of a quota per minute. p_action completes the sentence "Cannot …". Raises QUOTA_EXCEEDED.';

-- Tasks -----------------------------------------------------------------------------------------

-- Delayed tasks are not in the lines, so they are counted with this index. A workflow that has begun waits for
-- something else than its turn.
create index tasks_delayed_of_owner_idx on public.tasks (created_by)
  where status = 'pending' and run_after is not null and created_by is not null and (runner = '' or epoch = 0);

create function private.waiting_count(p_user_id uuid, p_max bigint)
returns bigint
language plpgsql
set search_path = ''
set enable_seqscan = off
set jit = off
as $$
begin
  return (
    select count(*)
    from (
      select
      from (select '' as name union all select name from private.runners) as runner
      cross join lateral (
        select from public.tasks as task
        where task.status = 'pending' and task.run_after is null
          and task.runner = runner.name and task.owner_key = p_user_id
        limit p_max
      ) as task
      limit p_max
    ) as queued
  ) + (
    select count(*)
    from (
      select from public.tasks as task
      where task.status = 'pending' and task.run_after is not null and task.created_by = p_user_id
        and (task.runner = '' or task.epoch = 0)
      limit p_max
    ) as delayed
  );
end;
$$;
comment on function private.waiting_count(uuid, bigint) is
  'How many tasks of a user wait to run; not workflows that wait for a time, a signal or a person. Counts queued and delayed tasks separately, each up to p_max.';

create function private.assert_may_wait(p_user_id uuid, p_count int, p_action text)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_amount constant bigint := private.quota('waiting_tasks', p_user_id);
begin
  if v_amount is not null and private.waiting_count(p_user_id, v_amount) + p_count > v_amount then
    perform private.raise_quota_exceeded(p_action, 'waiting_tasks', v_amount, 60,
      ', when some of the waiting tasks have started, or cancel jobs that are not needed');
  end if;
end;
$$;
comment on function private.assert_may_wait(uuid, int, text) is
  'Raises QUOTA_EXCEEDED when p_count more tasks of the user would exceed the quota waiting_tasks.';

create function private.take_task_creation(p_user_id uuid, p_action text)
returns void
language plpgsql
set search_path = ''
as $$
begin
  -- This also serializes the user's requests, so that the count below is exact.
  perform private.take_from_minute('task_creations_per_minute', p_user_id, p_action);
  perform private.assert_may_wait(p_user_id, 1, p_action);
  perform private.assert_room_left('trace_bytes', p_user_id, p_action);
  perform private.assert_room_left('ledger_bytes', p_user_id, p_action);
end;
$$;
comment on function private.take_task_creation(uuid, text) is
  'Counts the creation of a master task by a user, or the continuation of one that ended. Raises QUOTA_EXCEEDED.';

-- Active rows -----------------------------------------------------------------------------------

create function private.assert_active_rows_within_quota(p_table regclass, p_quota text, p_owner uuid, p_id uuid, p_attempt text)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_amount constant bigint := private.quota(p_quota, p_owner);
  v_count bigint;
begin
  if v_amount is null then
    return;
  end if;
  -- Serialize the checks of one owner, so that the count is exact.
  perform pg_advisory_xact_lock(hashtextextended('supaswarm:' || p_quota || ':' || p_owner, 0));
  execute format('select count(*) from %s where created_by = $1 and is_active and id <> $2', p_table)
    into v_count using p_owner, p_id;
  if v_count >= v_amount then
    perform private.raise_quota_exceeded(p_attempt, p_quota, v_amount, 60, ', when another has been deactivated or deleted');
  end if;
end;
$$;
comment on function private.assert_active_rows_within_quota(regclass, text, uuid, uuid, text) is
  'Raises QUOTA_EXCEEDED when an owner (null: the service, which has no quota) may have no further active row of a table with the columns id, created_by and is_active.';

create function private.assert_rows_within_bound(p_table regclass, p_quota text, p_owner uuid, p_attempt text)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_bound constant bigint := 10 * private.quota(p_quota, p_owner);
  v_count bigint;
begin
  if v_bound is null then
    return;
  end if;
  perform pg_advisory_xact_lock(hashtextextended('supaswarm:' || p_quota || ':' || p_owner, 0));
  execute format('select count(*) from %s where created_by = $1', p_table) into v_count using p_owner;
  if v_count >= v_bound then
    perform private.raise_error('QUOTA_EXCEEDED',
      format('Cannot %s: you have %s rows, ten times the quota %s, which counts active ones', p_attempt, v_count, p_quota),
      'Delete rows that you no longer need.');
  end if;
end;
$$;
comment on function private.assert_rows_within_bound(regclass, text, uuid, text) is
  'Raises QUOTA_EXCEEDED when an owner has ten times as many rows of a table, active or not, as the quota allows active ones. Called before a row is added.';

-- Budgets ---------------------------------------------------------------------------------------

create function private.assert_budget_within_ceilings(p_budget jsonb, p_user_id uuid)
returns void
language plpgsql
stable
set search_path = ''
as $$
declare
  v_key text;
  v_value numeric;
  v_ceiling bigint;
begin
  for v_key, v_value in
    select key, value::numeric from jsonb_each_text(coalesce(p_budget, '{}')) where value is not null
  loop
    v_ceiling := private.quota(v_key, p_user_id);
    if v_value > v_ceiling then
      perform private.raise_error('TASK_BUDGET_INVALID',
        format('Cannot create the task: its cap %s is %s and the ceiling is %s', v_key, v_value, v_ceiling),
        format('Ask for at most %s, or leave the cap out to get the ceiling.', v_ceiling));
    end if;
  end loop;
end;
$$;
comment on function private.assert_budget_within_ceilings(jsonb, uuid) is
  'Raises TASK_BUDGET_INVALID for a cap above the operator''s ceiling for the user.';

create function private.capped_budget(p_budget jsonb, p_user_id uuid)
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
declare
  v_ceilings jsonb;
begin
  if p_user_id is null then
    return p_budget;
  end if;
  select jsonb_object_agg(cap.name, least(
    private.quota(cap.name, p_user_id),
    case when p_budget ? cap.name then (p_budget ->> cap.name)::numeric else cap.usual end
  ))
  into v_ceilings
  from (values
    ('max_input_tokens', null), ('max_output_tokens', null), ('max_cost_micro_usd', null),
    ('max_steps', 1000), ('max_depth', 32), ('max_tasks', 10000), ('max_wall_seconds', null)
  ) as cap (name, usual)
  where private.quota(cap.name, p_user_id) is not null;
  return case when v_ceilings is null then p_budget else coalesce(p_budget, '{}') || v_ceilings end;
end;
$$;
comment on function private.capped_budget(jsonb, uuid) is
  'Applies the operator''s ceilings for the user to a budget: a cap that is absent, null or above its ceiling becomes the lower of its default and the ceiling.';

-- Stored bytes ----------------------------------------------------------------------------------

create table private.stored_values (
  task_id uuid not null references public.tasks (id) on delete cascade,
  name text not null,
  user_id uuid not null references auth.users (id) on delete cascade,
  byte_count bigint not null check (byte_count >= 0),
  primary key (task_id, name)
);
create index stored_values_user_id_idx on private.stored_values (user_id);
comment on table private.stored_values is 'Sizes of the values that tasks of users have stored, for the quota stored_bytes.';
comment on column private.stored_values.name is 'The path of a file, or "data:" and the key of saved data.';
alter table private.stored_values enable row level security;

create table private.stored_totals (
  user_id uuid primary key references auth.users (id) on delete cascade,
  byte_count bigint not null
);
comment on table private.stored_totals is 'Sum of stored_values of each user, kept by trigger.';
alter table private.stored_totals enable row level security;

create function private.sum_stored_values()
returns trigger
language plpgsql
-- Any role that may delete a task or an account also deletes its stored values.
security definer
set search_path = ''
as $$
begin
  if tg_op = 'DELETE' then
    update private.stored_totals as total
    set byte_count = total.byte_count - gone.byte_count
    from (select user_id, sum(byte_count) as byte_count from old_rows group by user_id) as gone
    where total.user_id = gone.user_id;
  else
    insert into private.stored_totals as total (user_id, byte_count)
    select user_id, sum(byte_count) from new_rows group by user_id
    on conflict (user_id) do update set byte_count = total.byte_count + excluded.byte_count;
  end if;
  return null;
end;
$$;
comment on function private.sum_stored_values() is
  'Statement trigger: keeps stored_totals up to date. Definer: the role that deletes a task or an account has no rights on the totals.';
create trigger stored_values_sum_new after insert on private.stored_values
  referencing new table as new_rows for each statement execute function private.sum_stored_values();
create trigger stored_values_sum_old after delete on private.stored_values
  referencing old table as old_rows for each statement execute function private.sum_stored_values();

create function private.record_stored(p_task public.tasks, p_name text, p_byte_count bigint)
returns void
language plpgsql
set search_path = ''
as $$
begin
  if p_task.created_by is null or p_byte_count is null then
    return;
  end if;
  -- A value that is stored again replaces the earlier one.
  delete from private.stored_values where task_id = p_task.id and name = p_name;
  insert into private.stored_values (task_id, name, user_id, byte_count)
  values (p_task.id, p_name, p_task.created_by, p_byte_count);
end;
$$;
comment on function private.record_stored(public.tasks, text, bigint) is 'Counts a stored value of a task toward its owner''s quota.';

create function private.kept_bytes(p_user_id uuid)
returns bigint
language plpgsql
stable
set search_path = ''
as $$
begin
  return coalesce((select total.byte_count from private.stored_totals as total where total.user_id = p_user_id), 0);
end;
$$;
comment on function private.kept_bytes(uuid) is 'How many bytes the tasks of a user have stored.';

create function private.stored_bytes_left(p_user_id uuid)
returns bigint
language plpgsql
stable
set search_path = ''
as $$
begin
  if p_user_id is null then
    return null;
  end if;
  return private.quota('stored_bytes', p_user_id) - private.kept_bytes(p_user_id);
end;
$$;
comment on function private.stored_bytes_left(uuid) is 'Bytes that tasks of a user may still store; null where there is no limit.';

create function private.assert_may_store(p_task_id uuid, p_byte_count bigint)
returns void
language plpgsql
stable
set search_path = ''
as $$
declare
  v_user_id constant uuid := (select created_by from public.tasks where id = p_task_id);
begin
  if private.stored_bytes_left(v_user_id) < p_byte_count then
    perform private.raise_quota_exceeded(format('store %s bytes', p_byte_count), 'stored_bytes',
      private.quota('stored_bytes', v_user_id), 3600, ', when old jobs with their files have been deleted');
  end if;
end;
$$;
comment on function private.assert_may_store(uuid, bigint) is
  'Raises QUOTA_EXCEEDED when the task''s owner may not store p_byte_count more bytes. Called by workers before they store a file.';
