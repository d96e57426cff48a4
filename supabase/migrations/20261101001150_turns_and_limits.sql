-- Whose turn it is: owners share the workers, and no more tasks of a user or of a key run than may.
--
-- A claim asks here before it reads the queue, so a tenant with ten thousand waiting tasks does
-- not stand in front of one with ten, however urgent it calls them: priority orders the line of one
-- owner. Every look is a probe of an index: its cost depends on how many owners wait, up to a bound,
-- and not on how many tasks.

create table private.concurrency_limits (
  concurrency_key text primary key,
  max_running int not null check (max_running >= 0)
);
comment on table private.concurrency_limits is
  'How many tasks with one concurrency_key of one owner may run at the same time. No row, no limit. Written by the operator; for limits by user see quotas.';
comment on column private.concurrency_limits.concurrency_key is '* is every key without a row of its own.';
comment on column private.concurrency_limits.max_running is 'Zero holds them back altogether.';
alter table private.concurrency_limits enable row level security;
grant select on private.concurrency_limits to service_role;

-- The line of each owner, and in it of each key, by priority and then in the order of the queue.
-- Tasks of the service stand in a line of their own.
create index tasks_line_idx on public.tasks (
  owner_key,
  array_position(array['high', 'normal', 'low'], priority), message_id
) where status = 'pending' and message_id is not null;
create index tasks_key_line_idx on public.tasks (
  owner_key, coalesce(md5(concurrency_key), ''),
  array_position(array['high', 'normal', 'low'], priority), message_id
) where status = 'pending' and message_id is not null;

-- Of whom how much runs: claims count it owner by owner, and not all that runs.
create index tasks_running_idx on public.tasks (owner_key) where status = 'running';

create function private.running_count(p_user_id uuid)
returns int
language plpgsql
set search_path = ''
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
begin
  return (
    select count(*)
    from public.tasks as task
    where task.status = 'running' and task.owner_key = p_user_id
  );
end;
$$;
comment on function private.running_count(uuid) is 'How many tasks of a user run.';

create function private.owners_waiting(p_limit int)
returns table (owner_key uuid, created_by uuid)
language plpgsql
set search_path = ''
-- The order of the index is the point: no estimate of a growing table may talk the planner out of
-- it, and what it must not do it prices so high that the query would be compiled.
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
set enable_bitmapscan = off
set enable_sort = off
as $$
#variable_conflict use_column
declare
  v_least constant uuid := '00000000-0000-0000-0000-000000000000'::uuid;
  -- Where to start, so that with more owners than are looked at each has its chance.
  v_start constant uuid := gen_random_uuid();
begin
  return query
    with recursive waiting as (
      select arm.half, 1 as place, first.owner_key, first.created_by
      from (values (1, v_start), (2, v_least)) as arm (half, from_id)
      cross join lateral (
        select task.owner_key, task.created_by
        from public.tasks as task
        where task.status = 'pending' and task.message_id is not null
          and task.owner_key >= arm.from_id
        order by task.owner_key
        limit 1
      ) as first
      where arm.half = 1 or first.owner_key < v_start
      union all
      select waiting.half, waiting.place + 1, following.owner_key, following.created_by
      from waiting
      cross join lateral (
        select task.owner_key, task.created_by
        from public.tasks as task
        where task.status = 'pending' and task.message_id is not null
          and task.owner_key > waiting.owner_key
        order by task.owner_key
        limit 1
      ) as following
      where waiting.place < p_limit and (waiting.half = 1 or following.owner_key < v_start)
    )
    select waiting.owner_key, waiting.created_by from waiting order by waiting.half, waiting.place limit p_limit;
end;
$$;
comment on function private.owners_waiting(int) is
  'Owners with tasks in line, from a random one on and around; created_by is null for the service.';

create function private.key_lines_of(p_owner_key uuid, p_limit int)
returns table (line text)
language plpgsql
set search_path = ''
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
set enable_bitmapscan = off
set enable_sort = off
as $$
declare
  v_start constant text := md5(random()::text);
begin
  return query
    with recursive waiting as (
      select arm.half, 1 as place, first.line
      from (values (1, v_start), (2, '')) as arm (half, from_line)
      cross join lateral (
        select coalesce(md5(task.concurrency_key), '') as line
        from public.tasks as task
        where task.status = 'pending' and task.message_id is not null
          and task.owner_key = p_owner_key
          and coalesce(md5(task.concurrency_key), '') >= arm.from_line
        order by coalesce(md5(task.concurrency_key), '')
        limit 1
      ) as first
      where arm.half = 1 or first.line < v_start
      union all
      select waiting.half, waiting.place + 1, following.line
      from waiting
      cross join lateral (
        select coalesce(md5(task.concurrency_key), '') as line
        from public.tasks as task
        where task.status = 'pending' and task.message_id is not null
          and task.owner_key = p_owner_key
          and coalesce(md5(task.concurrency_key), '') > waiting.line
        order by coalesce(md5(task.concurrency_key), '')
        limit 1
      ) as following
      where waiting.place < p_limit and (waiting.half = 1 or following.line < v_start)
    )
    select waiting.line from waiting order by waiting.half, waiting.place limit p_limit;
end;
$$;
comment on function private.key_lines_of(uuid, int) is
  'Digests of the concurrency keys with which an owner''s tasks wait, empty for none, from a random one on and around.';

create function private.first_of_owner(p_owner_key uuid, p_limit int)
returns table (task_id uuid, rank int)
language plpgsql
set search_path = ''
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
set enable_bitmapscan = off
set enable_sort = off
as $$
begin
  return query
    select task.id, array_position(array['high', 'normal', 'low'], task.priority)
    from public.tasks as task
    where task.status = 'pending' and task.message_id is not null
      and task.owner_key = p_owner_key
      and (task.run_after is null or task.run_after <= clock_timestamp())
      and not task.works_alone
    order by array_position(array['high', 'normal', 'low'], task.priority), task.message_id
    limit p_limit;
end;
$$;
comment on function private.first_of_owner(uuid, int) is
  'The first due tasks in an owner''s line, each with the rank of its priority.';

create function private.first_of_keys(p_owner_key uuid, p_limit int)
returns table (task_id uuid, rank int)
language plpgsql
set search_path = ''
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
set enable_bitmapscan = off
as $$
declare
  v_max_lines constant int := 100;
begin
  return query
    with busy as materialized (
      select md5(task.concurrency_key) as line, count(*)::int as running_count
      from public.tasks as task
      where task.status = 'running' and task.concurrency_key is not null
        and task.owner_key = p_owner_key
      group by 1
    ),
    room as materialized (
      select waiting.line,
        least(p_limit, coalesce(own.max_running, usual.max_running) - coalesce(busy.running_count, 0)) as room_count
      from private.key_lines_of(p_owner_key, v_max_lines) as waiting
      left join busy on busy.line = waiting.line
      left join private.concurrency_limits as own
        on md5(own.concurrency_key) = waiting.line and own.concurrency_key <> '*'
      left join private.concurrency_limits as usual
        on usual.concurrency_key = '*' and waiting.line <> ''
    )
    select candidate.id, candidate.rank
    from room
    cross join lateral (
      select task.id, task.message_id, array_position(array['high', 'normal', 'low'], task.priority) as rank
      from public.tasks as task
      where task.status = 'pending' and task.message_id is not null
        and task.owner_key = p_owner_key
        and coalesce(md5(task.concurrency_key), '') = room.line
        and (task.run_after is null or task.run_after <= clock_timestamp())
        and not task.works_alone
      order by array_position(array['high', 'normal', 'low'], task.priority), task.message_id
      limit greatest(room.room_count, 0)
    ) as candidate
    order by candidate.rank, candidate.message_id
    limit p_limit;
end;
$$;
comment on function private.first_of_keys(uuid, int) is
  'The first due tasks in an owner''s line whose concurrency keys have room, each with the rank of its priority.';

create function private.next_in_turn(p_limit int)
returns table (task_id uuid, place bigint)
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_max_owners constant int := 200;
  -- Of whom more runs, and may, the turns are alike.
  v_max_counted constant int := 200;
  v_has_key_limits boolean := exists (select from private.concurrency_limits);
begin
  return query
    with allowed as materialized (
      select waiting.owner_key, private.quota('running_tasks', waiting.created_by) as max_running
      from private.owners_waiting(v_max_owners) as waiting
    ),
    owner as materialized (
      -- As many owners as tasks are enough: each of them has one that stands before any other's second.
      select allowed.owner_key, busy.running_count, allowed.max_running
      from allowed
      cross join lateral (
        select count(*)::int as running_count
        from (
          select from public.tasks as task
          where task.status = 'running' and task.owner_key = allowed.owner_key
          limit coalesce(allowed.max_running, v_max_counted)
        ) as running
      ) as busy
      where busy.running_count < coalesce(allowed.max_running, 2147483647)
      order by busy.running_count, random()
      limit p_limit
    )
    -- The owner of whom least runs comes first. Between equals chance decides, in favour of the more
    -- urgent task; were it to decide alone, who calls everything urgent would win each time.
    select
      candidate.task_id,
      row_number() over (order by owner.running_count + candidate.place, random() * candidate.rank)
    from owner
    cross join lateral (
      select first.task_id, first.rank, first.place
      from private.first_of_owner(
        owner.owner_key, least(p_limit, owner.max_running - owner.running_count)::int
      ) with ordinality as first (task_id, rank, place)
      where not v_has_key_limits
      union all
      select first.task_id, first.rank, first.place
      from private.first_of_keys(
        owner.owner_key, least(p_limit, owner.max_running - owner.running_count)::int
      ) with ordinality as first (task_id, rank, place)
      where v_has_key_limits
    ) as candidate
    order by 2
    limit p_limit;
end;
$$;
comment on function private.next_in_turn(int) is
  'The tasks whose turn it is, within the limits, and their places in the line of all.';
