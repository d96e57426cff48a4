-- Hand-over: when no other task waits, a new task is given to an idle worker in the transaction that creates
-- it. This saves the transaction of a claim and its write to the disk. The trace of the task is written beside
-- its first model call; until then the task has no events and no steps.
--
-- The notification contains only the worker's id, because every database role can listen. Both tables are
-- hints that a server crash may lose; a handed task then waits until its lease ends.

create unlogged table private.idle_workers (
  worker_id text primary key,
  free_slot_count int not null check (free_slot_count >= 0),
  lease_seconds int not null check (lease_seconds > 0),
  seen_at timestamptz not null default clock_timestamp()
) with (fillfactor = 50);
comment on table private.idle_workers is
  'Workers that listen, and how many new tasks each can take. A claim writes the row of its worker; workers that cannot listen have no row.';
alter table private.idle_workers enable row level security;

create unlogged table private.handed_tasks (
  worker_id text not null,
  task_id uuid not null,
  handed_at timestamptz not null default clock_timestamp(),
  primary key (worker_id, task_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
comment on table private.handed_tasks is
  'Tasks that were given to a worker when they were created and that it has not fetched yet. The session that deletes a row decides what happens to its task.';
alter table private.handed_tasks enable row level security;

create function private.offer_slots(p_worker_id text, p_free_slot_count int, p_lease_seconds int)
returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_offered_count int;
begin
  -- The creation of a task may hold the row for a long time, so neither statement waits for it.
  select free_slot_count into v_offered_count
  from private.idle_workers
  where worker_id = p_worker_id
  for no key update skip locked;
  if found then
    update private.idle_workers
    set free_slot_count = p_free_slot_count, lease_seconds = p_lease_seconds, seen_at = clock_timestamp()
    where worker_id = p_worker_id and (v_offered_count > 0 or p_free_slot_count > 0);
  elsif p_free_slot_count > 0 and not exists (select from private.idle_workers where worker_id = p_worker_id) then
    insert into private.idle_workers (worker_id, free_slot_count, lease_seconds)
    values (p_worker_id, p_free_slot_count, p_lease_seconds);
  end if;
end;
$$;
comment on function private.offer_slots(text, int, int) is
  'Stores how many new tasks a worker can take until its next claim. Called by claims.';

create function private.has_expired_lease()
returns boolean
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  -- A value, because an index cannot be searched for a volatile function.
  v_now constant timestamptz := clock_timestamp();
begin
  -- Not exists(): without the order, its plan may read all running tasks, including the entries of
  -- ended ones that an old snapshot keeps.
  return (
    select task.lease_expires_at
    from public.tasks as task
    where task.status = 'running' and task.lease_expires_at <= v_now
    order by task.lease_expires_at
    limit 1
  ) is not null;
end;
$$;
comment on function private.has_expired_lease() is 'True when the worker of a task has died.';

create function private.pick_idle_worker(
  p_created_by uuid, p_concurrency_key text, p_is_own_transaction boolean
)
returns private.idle_workers
language plpgsql
set search_path = ''
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_now constant timestamptz := clock_timestamp();
  v_worker private.idle_workers;
begin
  -- An idle worker claims every second.
  select * into v_worker
  from private.idle_workers
  where free_slot_count > 0 and seen_at > v_now - interval '3 seconds'
  order by free_slot_count desc, worker_id
  limit 1
  for no key update skip locked;
  if not found
    or exists (select from public.tasks where status = 'pending' and message_id is not null)
    or private.has_expired_lease()
  then
    return null;
  end if;
  if exists (select from private.concurrency_limits)
    or (p_created_by is not null and private.quota('running_tasks', p_created_by) is not null)
  then
    -- Claims count under the same lock and wait for it.
    if not p_is_own_transaction
      or not pg_try_advisory_xact_lock(hashtextextended('supaswarm:concurrency_limits', 0))
      or not private.has_room_for_one(p_created_by, p_concurrency_key)
    then
      return null;
    end if;
  end if;
  return v_worker;
end;
$$;
comment on function private.pick_idle_worker(uuid, text, boolean) is
  'Locks and returns the row of a worker that can take a new task of this owner and key. Null when no worker is idle, another task waits or belongs to a dead worker, or a quota or limit leaves no room. Takes the lock for which claims wait only with p_is_own_transaction.';

create function private.hand_over(p_task public.tasks)
returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
begin
  update private.idle_workers set free_slot_count = free_slot_count - 1 where worker_id = p_task.worker_id;
  insert into private.handed_tasks (worker_id, task_id) values (p_task.worker_id, p_task.id);
  perform pg_notify('supaswarm_tasks', 'handed:' || p_task.worker_id);
end;
$$;
comment on function private.hand_over(public.tasks) is
  'Makes a task that was created with its lease available to its worker. The caller holds the row from pick_idle_worker().';

create function private.fetch_handed(p_worker_id text)
returns table (task_id uuid, epoch bigint, context json)
language plpgsql
set search_path = ''
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_task_id uuid;
  v_task public.tasks;
begin
  for v_task_id in
    delete from private.handed_tasks as handed where handed.worker_id = p_worker_id returning handed.task_id
  loop
    select * into v_task
    from public.tasks as task
    where task.id = v_task_id and task.status = 'running' and task.worker_id = p_worker_id
      -- With a later epoch, the task was claimed after its first lease had expired, perhaps by this worker.
      and task.epoch = 1;
    if found then
      task_id := v_task.id;
      epoch := v_task.epoch;
      context := private.new_task_context(v_task);
      return next;
    end if;
  end loop;
end;
$$;
comment on function private.fetch_handed(text) is
  'The tasks that were given to a worker since its last call, with their contexts. The worker already holds them; the call writes nothing that a commit must flush to the disk. The worker writes their traces with begin_handed(). Called by workers.';

create function private.trace_handed(p_task public.tasks, p_begins_first_step boolean)
returns void
language plpgsql
set search_path = ''
as $$
begin
  if not exists (select from public.task_events where task_id = p_task.id) then
    perform private.trace_claims(array[p_task], p_task.worker_id, p_begins_first_step, p_are_new => true);
  end if;
end;
$$;
comment on function private.trace_handed(public.tasks, boolean) is
  'Writes the events of the creation and the claim of a task that was handed to its worker, and with p_begins_first_step its first step, unless its trace has begun. The caller has locked the task, still with the lease of that worker.';

create function private.begin_handed(p_task_id uuid, p_epoch bigint)
returns void
language plpgsql
set search_path = ''
as $$
begin
  perform private.trace_handed(private.hold_task(p_task_id, p_epoch, null), p_begins_first_step => true);
end;
$$;
comment on function private.begin_handed(uuid, bigint) is
  'Writes the trace of a task from fetch_handed(), beside its first model call. Raises LEASE_LOST. Called by workers.';

create function private.take_back_handed_task(p_task_id uuid)
returns boolean
language plpgsql
set search_path = ''
as $$
begin
  -- A handed task is a separate job. Skip a busy one; the next call handles it.
  if not private.try_lock_job(p_task_id) then
    return false;
  end if;
  delete from private.handed_tasks where task_id = p_task_id;
  begin
    return private.yield_task(p_task_id, 1, p_has_begun => false);
  exception when sqlstate 'PT409' then
    return false; -- Its lease has expired, and another worker has it.
  end;
end;
$$;
comment on function private.take_back_handed_task(uuid) is
  'Returns a handed task that its worker has not fetched to the queue; false when it is no longer that worker''s or is busy. The caller has locked its row in handed_tasks.';

create function private.take_back_handed(p_worker_id text default null)
returns int
language sql
set search_path = ''
as $$
  select private.run_for_each('take_back_handed_task', array(
    select handed.task_id
    from private.handed_tasks as handed
    where handed.worker_id = p_worker_id or handed.handed_at < clock_timestamp() - interval '5 seconds'
    for update skip locked
  ));
$$;
comment on function private.take_back_handed(text) is
  'Returns tasks to the queue that their worker has not fetched: all of the given worker''s, and those that have waited so long that their worker must be dead. No calls were made for them, so none are recorded or counted. Returns how many.';

create function private.withdraw_worker(p_worker_id text)
returns void
language plpgsql
set search_path = ''
as $$
begin
  -- Waits for a running hand-over, whose task is then visible.
  delete from private.idle_workers where worker_id = p_worker_id;
  perform private.take_back_handed(p_worker_id);
end;
$$;
comment on function private.withdraw_worker(text) is
  'Ends the hand-over of new tasks to a worker and returns the tasks that it has not fetched. Called by workers that stop claiming.';
