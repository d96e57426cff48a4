-- Leases of tasks: the functions that every kind of work has, and the heartbeat.

select private.create_work_kind(
  'task', 'public.tasks', 'supaswarm-worker', 'supaswarm_tasks',
  $$logs = work.logs || private.log_line(
              case when work.epoch = 0 then 'started' else 'resumed' end || ' by worker ' || p_worker_id
            )$$
);

create function private.heartbeat(p_worker_id text, p_leases jsonb, p_lease_seconds int)
returns table (task_id uuid, epoch bigint, state text)
language plpgsql
set search_path = ''
as $$
declare
  v_is_any_cut constant boolean := exists (select from private.pauses where running = 'cut');
begin
  insert into private.workers (id) values (p_worker_id)
  on conflict (id) do update set seen_at = clock_timestamp(), stopped_at = null;
  perform private.return_expired_tasks(p_except_worker_id => p_worker_id);

  return query
    select
      lease.id,
      lease.epoch,
      case
        when not lease.is_held then 'lost'
        when task.cancel_requested_at is not null then 'cancelled'
        when v_is_any_cut and private.is_cut(task) then 'paused'
        else 'held'
      end
    from private.renew_tasks(p_leases, p_lease_seconds) as lease
    left join public.tasks as task on task.id = lease.id;
end;
$$;
comment on function private.heartbeat(text, jsonb, int) is
  'Renews the leases [{id, epoch}] of a worker in one statement and records that the worker is alive. Also returns the tasks of dead workers to the lines. Returns held, lost, cancelled or paused (which a worker returns) for each lease. Called by workers.';

create function private.stop_worker(p_worker_id text)
returns void
language sql
set search_path = ''
as $$
  update private.workers set stopped_at = clock_timestamp() where id = stop_worker.p_worker_id;
$$;
comment on function private.stop_worker(text) is 'Records that a worker has ended. Called by workers.';
