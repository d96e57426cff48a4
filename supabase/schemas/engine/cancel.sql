-- Cancelling a job: waiting tasks end immediately, running tasks when their workers notice.

create function private.cancel_job(p_master public.tasks, p_reason text default null)
returns int
language plpgsql
set search_path = ''
as $$
declare
  v_count int;
begin
  if p_master.parent_id is not null then
    perform private.raise_error('TASK_NOT_MASTER', format('Cannot cancel task %s: it is a subtask', p_master.id),
      format('Cancel its master task %s.', p_master.master_task_id));
  end if;
  perform private.lock_job(p_master.id);
  if not exists (select from public.tasks where id = p_master.id and finished_at is null) then
    return 0;
  end if;
  v_count := private.cancel_tasks(
    array(select id from public.tasks where master_task_id = p_master.id and finished_at is null),
    p_reason => p_reason
  );

  if exists (select from public.tasks where master_task_id = p_master.id and status = 'running') then
    -- A worker that gets a wake sends a heartbeat immediately, whose answer names the cancelled tasks.
    perform private.wake_function(working.function_name)
    from (
      select distinct coalesce(nullif(runner, ''), 'supaswarm-worker') as function_name
      from public.tasks where master_task_id = p_master.id and status = 'running'
    ) as working;
    perform pg_notify('supaswarm_tasks', 'cancel');
  end if;
  return v_count;
end;
$$;
comment on function private.cancel_job(public.tasks, text) is
  'Cancels a job and returns how many tasks that ends; 0 when the job had already ended. p_reason: why an operator cancels. The caller has checked the permissions. Raises TASK_NOT_MASTER.';

create function private.cancel_task(p_master_task_id uuid)
returns int
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_task public.tasks := private.own_task(p_master_task_id);
begin
  if private.is_agent_call() and not exists (
    select from public.tasks where id = private.calling_task_id() and master_task_id = v_task.master_task_id
  ) then
    -- An agent may cancel its own job: no other work depends on it.
    perform private.assert_not_agent('cancel another job');
  end if;
  return private.cancel_job(v_task);
end;
$$;
comment on function private.cancel_task(uuid) is
  'Cancels a job and returns how many tasks that ends. Definer: users may not write tasks or queues; the function checks the caller itself.';

create function public.cancel_task(p_master_task_id uuid)
returns int
language sql
set search_path = ''
as $$
  select private.cancel_task(p_master_task_id);
$$;
comment on function public.cancel_task(uuid) is
  'Cancels a job: waiting tasks end immediately, running ones within a heartbeat. Returns the number of tasks that this ends; 0 when the job had already ended. For the owner, the owner''s OAuth clients with the scope swarm:run and the service; an agent may cancel the job that it is part of. Raises TASK_NOT_FOUND, TASK_NOT_MASTER, AGENT_NOT_ALLOWED, INSUFFICIENT_SCOPE.';
revoke all on function public.cancel_task(uuid) from public, anon, authenticated, service_role;
grant execute on function private.cancel_task(uuid), public.cancel_task(uuid) to authenticated, service_role;
