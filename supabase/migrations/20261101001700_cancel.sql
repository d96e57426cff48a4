-- Cancelling a job: what waits ends now, what runs ends when its worker hears of it.

create function private.cancel_task(p_master_task_id uuid)
returns int
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_task public.tasks := private.own_task(p_master_task_id);
  v_count int;
begin
  if v_task.parent_id is not null then
    raise sqlstate 'PT409' using
      message = format('Cannot cancel task %s: it is a subtask', p_master_task_id),
      detail = 'TASK_NOT_MASTER',
      hint = format('Cancel its master task %s.', v_task.master_task_id);
  end if;
  perform private.lock_job(p_master_task_id);
  if not exists (select from public.tasks where id = p_master_task_id and finished_at is null) then
    return 0;
  end if;
  v_count := private.cancel_tasks(array(
    select id from public.tasks where master_task_id = p_master_task_id and finished_at is null
  ));

  if exists (select from public.tasks where master_task_id = p_master_task_id and status = 'running') then
    -- A worker that is woken, or hears of this, beats its heart at once and is told which tasks.
    perform private.wake_worker();
    perform pg_notify('supaswarm_tasks', 'cancel');
  end if;
  return v_count;
end;
$$;
comment on function private.cancel_task(uuid) is
  'Cancels a job and returns how many tasks that ends. Definer: users may not write tasks or queues; it checks the caller itself.';
revoke all on function private.cancel_task(uuid) from public;
grant execute on function private.cancel_task(uuid) to authenticated;
grant execute on function private.cancel_task(uuid) to service_role;

create function public.cancel_task(p_master_task_id uuid)
returns int
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.cancel_task(p_master_task_id);
$$;
comment on function public.cancel_task(uuid) is
  'Cancels a job: waiting tasks end at once, running ones within a heartbeat. Returns the number of tasks ended; 0 when the job had ended. For the owner and the service. Raises TASK_NOT_FOUND, TASK_NOT_MASTER.';
revoke all on function public.cancel_task(uuid) from public;
grant execute on function public.cancel_task(uuid) to authenticated;
grant execute on function public.cancel_task(uuid) to service_role;
