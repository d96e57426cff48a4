-- Worker processes: hosts of tasks that, unlike an edge function, run until they are stopped.

create function private.has_free_process()
returns boolean
language sql
stable
set search_path = ''
as $$
  select exists (
    select from private.worker_processes where has_room and seen_at > clock_timestamp() - interval '12 seconds'
  );
$$;
comment on function private.has_free_process() is 'Whether a living worker process would claim a new task.';

create function private.record_worker_process(p_id uuid, p_has_room boolean)
returns void
language plpgsql
set search_path = ''
as $$
begin
  insert into private.worker_processes as process (id, has_room)
  values (p_id, p_has_room)
  on conflict (id) do update set has_room = excluded.has_room, seen_at = clock_timestamp();
  -- What waits for a full process may run on an edge function.
  if not private.has_free_process() and exists (
    select from public.tasks
    where status = 'pending' and runner = '' and (run_after is null or run_after <= clock_timestamp())
  ) then
    perform private.wake_function('supaswarm-worker');
  end if;
end;
$$;
comment on function private.record_worker_process(uuid, boolean) is
  'Records every 5 seconds that a worker process lives, and whether it has room. When no process has any, it wakes the edge function for waiting tasks. Called by worker processes.';

create function private.delete_worker_process(p_id uuid)
returns void
language sql
set search_path = ''
as $$
  delete from private.worker_processes where id = p_id;
$$;
comment on function private.delete_worker_process(uuid) is
  'Records that a worker process claims no more, so that new tasks wake others. Called by worker processes when they end.';
