-- Watching a job: its owner, or an operator who opened it, requests streamed text for a limited time.

create function private.watch_task(p_task_id uuid)
returns timestamptz
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_task public.tasks;
begin
  v_task := private.readable_task(p_task_id);
  if not private.is_operator() then
    perform private.assert_person_may('watch the job', 'swarm:run');
  end if;
  return private.watch_job(v_task.master_task_id);
end;
$$;
comment on function private.watch_task(uuid) is
  'Marks the job of a task as watched. Definer: users may not write to schema private; the function checks the caller itself.';

create function public.watch_task(p_task_id uuid)
returns timestamptz
language sql
set search_path = ''
as $$
  select private.watch_task(p_task_id);
$$;
comment on function public.watch_task(uuid) is
  'Streams the model text of the task''s whole job as model.delta on the job''s channel, and returns until when. Call it again before then to keep watching. A model call that began before does not stream. For the owner, the owner''s OAuth clients with the scope swarm:run, operators who opened the job, and the service, never for an agent. Raises TASK_NOT_FOUND, JOB_NOT_OPENED, AGENT_NOT_ALLOWED, INSUFFICIENT_SCOPE.';
revoke all on function public.watch_task(uuid) from public, anon, authenticated, service_role;
grant execute on function private.watch_task(uuid), public.watch_task(uuid) to authenticated, service_role;

create function private.read_answer(p_task_id uuid)
returns jsonb
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_task constant public.tasks := private.readable_task(p_task_id);
  v_step public.task_steps;
  v_text text;
begin
  select * into v_step
  from public.task_steps
  where task_id = v_task.id and kind = 'model' and state = 'started'
  order by seq desc
  limit 1;
  -- A call that is made again is not streamed again.
  if not found or v_step.interruptions > 0 then
    return null;
  end if;
  v_text := private.cut_text(v_task.id, v_step.seq, v_step.started_at);
  return case when v_text is not null then jsonb_build_object('step_seq', v_step.seq, 'text', v_text) end;
end;
$$;
comment on function private.read_answer(uuid) is
  'See public.read_answer(). Definer: users may not read the messages of channels; the function checks the caller itself.';

create function public.read_answer(p_task_id uuid)
returns jsonb
language sql
set search_path = ''
as $$
  select private.read_answer(p_task_id);
$$;
comment on function public.read_answer(uuid) is
  'What the running model call of a task has streamed so far {step_seq, text}, for a reader that joins the channel in the middle of it; null for nothing. For the owner, the owner''s OAuth clients with the scope swarm:run, operators who opened the job, and the service. Raises TASK_NOT_FOUND, JOB_NOT_OPENED, INSUFFICIENT_SCOPE.';
revoke all on function public.read_answer(uuid) from public, anon, authenticated, service_role;
grant execute on function private.read_answer(uuid), public.read_answer(uuid) to authenticated, service_role;
