-- Watching a job: its owner or an operator asks for streamed text, for a while.

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
    perform private.note_watching_operator(v_task);
  else
    v_task := private.own_task(p_task_id);
    perform private.assert_person_may('watch the job', 'swarm:run');
  end if;
  return private.watch_job(v_task.master_task_id);
end;
$$;
comment on function private.watch_task(uuid) is
  'Marks the job of a task as watched. Definer: users may not write to schema private; it checks the caller itself.';
grant execute on function private.watch_task(uuid) to authenticated;
grant execute on function private.watch_task(uuid) to service_role;

create function public.watch_task(p_task_id uuid)
returns timestamptz
language sql
set search_path = ''
as $$
  select private.watch_task(p_task_id);
$$;
comment on function public.watch_task(uuid) is
  'Lets the models of the task''s whole job stream their text as model.delta on the job''s channel, and returns until when. Call it again before then to keep watching. A model call that began unwatched does not stream. For the owner, the owner''s OAuth clients with the scope swarm:run, operators and the service, never for an agent. An operator who watches another''s job is in operator_acts. Raises TASK_NOT_FOUND, AGENT_NOT_ALLOWED, INSUFFICIENT_SCOPE.';
grant execute on function public.watch_task(uuid) to authenticated;
grant execute on function public.watch_task(uuid) to service_role;
