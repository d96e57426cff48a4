-- Holding on to a task: the fence that every write passes, and the heartbeat.

create function private.hold_task(p_task_id uuid, p_epoch bigint, p_lease_seconds int)
returns public.tasks
language plpgsql
set search_path = ''
as $$
declare
  v_lease_expires_at constant timestamptz := clock_timestamp() + make_interval(secs => p_lease_seconds);
  v_task public.tasks;
begin
  select * into v_task
  from public.tasks
  where id = p_task_id and epoch = p_epoch and status = 'running'
  for no key update;
  if not found then
    raise sqlstate 'PT409' using
      message = format('Cannot write to task %s: epoch %s does not hold its lease', p_task_id, p_epoch),
      detail = 'LEASE_LOST',
      hint = 'Drop the task; another worker has it, or it has ended.';
  end if;
  -- A renewal writes new versions of the task and of its message. Between checkpoints that follow
  -- each other within a sixth of the lease, none is needed.
  if v_task.lease_expires_at < v_lease_expires_at - make_interval(secs => p_lease_seconds / 6.0) then
    update public.tasks set lease_expires_at = v_lease_expires_at where id = p_task_id returning * into v_task;
    perform private.move_messages(v_task.priority, array[v_task.message_id], v_lease_expires_at);
  end if;
  return v_task;
end;
$$;
comment on function private.hold_task(uuid, bigint, int) is
  'The fence that every write of a worker passes: locks the task, or raises LEASE_LOST, and renews a lease of which less than five sixths are left together with its message''s visibility. Without p_lease_seconds nothing is renewed: the caller ends the lease.';

create function private.heartbeat(p_worker_id text, p_leases jsonb, p_lease_seconds int)
returns table (task_id uuid, epoch bigint, state text)
language plpgsql
set search_path = ''
as $$
begin
  insert into private.workers (id) values (p_worker_id)
  on conflict (id) do update set seen_at = clock_timestamp(), stopped_at = null;

  return query
    with lease as materialized (
      select (entry ->> 'task_id')::uuid as id, (entry ->> 'epoch')::bigint as epoch
      from jsonb_array_elements(p_leases) as entry
    ),
    free as materialized (
      -- A row that another transaction holds is left to the next heartbeat: waiting could deadlock.
      -- Those that only refer to the row, as each new event of a job does to its master, do not count.
      select task.id
      from public.tasks as task
      join lease on lease.id = task.id and lease.epoch = task.epoch
      where task.status = 'running'
      for no key update of task skip locked
    ),
    renewed as (
      update public.tasks as task
      set lease_expires_at = clock_timestamp() + make_interval(secs => p_lease_seconds)
      from free
      where task.id = free.id
      returning task.id, task.priority, task.message_id
    ),
    moved as materialized (
      select renewed.id
      from renewed
      left join lateral pgmq.set_vt(
        private.queue_of(renewed.priority), renewed.message_id, p_lease_seconds
      ) as message on true
    )
    select
      lease.id,
      lease.epoch,
      case
        when task.id is null then 'lost'
        when task.cancel_requested_at is not null then 'cancelled'
        else 'held'
      end
    from lease
    left join moved on moved.id = lease.id
    left join public.tasks as task
      on task.id = lease.id and task.epoch = lease.epoch and task.status = 'running';
end;
$$;
comment on function private.heartbeat(text, jsonb, int) is
  'Renews the leases [{task_id, epoch}] of a worker in one statement; each is held, lost or cancelled. Called by workers.';

create function private.stop_worker(p_worker_id text)
returns void
language sql
set search_path = ''
as $$
  update private.workers set stopped_at = clock_timestamp() where id = stop_worker.p_worker_id;
$$;
comment on function private.stop_worker(text) is 'Notes that a worker has ended. Called by workers.';
