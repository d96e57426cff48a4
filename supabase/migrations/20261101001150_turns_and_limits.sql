-- Turns: owners share the workers fairly, within the limits for each user and each concurrency key.
--
-- A claim calls these functions to choose the next tasks, so that an owner with ten thousand waiting tasks
-- does not delay an owner with ten, whatever their priorities: priority only orders the tasks of one owner.
-- Every read is an index probe. Its cost depends on how many owners wait, up to a bound, and not on how
-- many tasks wait.

create table private.concurrency_limits (
  concurrency_key text primary key,
  max_running int not null check (max_running >= 0)
);
comment on table private.concurrency_limits is
  'How many tasks of one owner with the same concurrency_key may run at the same time. A key without a row has no limit. Written by the operator; for limits per user see quotas.';
comment on column private.concurrency_limits.concurrency_key is '* stands for every key without its own row.';
comment on column private.concurrency_limits.max_running is 'Zero stops tasks with this key from starting.';
alter table private.concurrency_limits enable row level security;
grant select on private.concurrency_limits to service_role;

-- The waiting tasks of each owner, and of each key of an owner, by priority and then in queue order.
-- The service counts as an owner.
create index tasks_line_idx on public.tasks (
  owner_key,
  array_position(array['high', 'normal', 'low'], priority), message_id
) where status = 'pending' and message_id is not null;
create index tasks_key_line_idx on public.tasks (
  owner_key, coalesce(md5(concurrency_key), ''),
  array_position(array['high', 'normal', 'low'], priority), message_id
) where status = 'pending' and message_id is not null;

-- Claims count the running tasks of one owner at a time.
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
comment on function private.running_count(uuid) is 'How many tasks of an owner (by owner_key) are running.';

create function private.owners_waiting(p_limit int)
returns table (owner_key uuid, created_by uuid)
language plpgsql
set search_path = ''
-- The query must follow the order of the index, whatever the planner estimates for a growing table.
-- The disabled plan types raise the cost estimate so much that Postgres would use JIT compilation.
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
set enable_bitmapscan = off
set enable_sort = off
as $$
#variable_conflict use_column
declare
  v_least constant uuid := '00000000-0000-0000-0000-000000000000'::uuid;
  -- A random start, so that every owner has a chance when more owners wait than are read.
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
  'Owners with waiting tasks, starting at a random owner and wrapping around; created_by is null for the service.';

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
  'Digests of the concurrency keys of an owner''s waiting tasks (an empty string for no key), starting at a random key and wrapping around.';

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
  'The first due tasks of an owner, each with the rank of its priority.';

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
  'The first due tasks of an owner whose concurrency keys are below their limits, each with the rank of its priority.';

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
  -- Owners with more running tasks than this get equal turns.
  v_max_counted constant int := 200;
  v_has_key_limits boolean := exists (select from private.concurrency_limits);
begin
  return query
    with allowed as materialized (
      select waiting.owner_key, private.quota('running_tasks', waiting.created_by) as max_running
      from private.owners_waiting(v_max_owners) as waiting
    ),
    owner as materialized (
      -- p_limit owners are enough: the first task of each comes before the second task of any other.
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
    -- The owner with the fewest running tasks comes first. Ties are random, weighted by priority. If priority
    -- decided ties, an owner that marks everything urgent would always win.
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
  'The tasks that run next within the limits, and their places in the order over all owners.';
