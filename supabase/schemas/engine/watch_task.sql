-- Watching a job: its owner or an operator requests streamed text for a limited time.

create function private.watch_task(p_task_id uuid)
returns timestamptz
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_task public.tasks;
begin
  if private.is_operator() then
    v_task := private.any_task(p_task_id);
    perform private.record_watching_operator(v_task);
  else
    v_task := private.own_task(p_task_id);
    perform private.assert_person_may('watch the job', 'swarm:run');
  end if;
  return private.watch_job(v_task.master_task_id);
end;
$$;
comment on function private.watch_task(uuid) is
  'Marks the job of a task as watched. Definer: users may not write to schema private; the function checks the caller itself.';
revoke all on function private.watch_task(uuid) from public;

create function public.watch_task(p_task_id uuid)
returns timestamptz
language sql
set search_path = ''
as $$
  select private.watch_task(p_task_id);
$$;
comment on function public.watch_task(uuid) is
  'Streams the model text of the task''s whole job as model.delta on the job''s channel, and returns until when. Call it again before then to keep watching. A model call that began before does not stream. For the owner, the owner''s OAuth clients with the scope swarm:run, operators and the service, never for an agent. When an operator watches another user''s job, operator_acts records it. Raises TASK_NOT_FOUND, AGENT_NOT_ALLOWED, INSUFFICIENT_SCOPE.';
revoke all on function public.watch_task(uuid) from public, anon, authenticated, service_role;
grant execute on function private.watch_task(uuid), public.watch_task(uuid) to authenticated, service_role;
