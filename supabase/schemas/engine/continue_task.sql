-- Follow-ups: an ended task receives another message of its user and continues with its transcript.

create function private.assert_continuable(p_task_id uuid, p_task public.tasks, p_input jsonb)
returns void
language plpgsql
set search_path = ''
as $$
begin
  perform private.assert_task_input('continue the task', p_input);
  if p_task.parent_id is not null then
    perform private.raise_error('TASK_NOT_CONTINUABLE',
      format('Cannot continue task %s: it is a subtask, and its parent already has its result', p_task_id),
      format('Continue the master task %s, or fork the subtask.', p_task.master_task_id));
  end if;
  if p_task.runner <> '' then
    perform private.raise_error('TASK_NOT_CONTINUABLE',
      format('Cannot continue task %s: it is a workflow, whose code reads no messages', p_task_id),
      'Start another job, or send a signal to one that has not ended.');
  end if;
  if p_task.finished_at is null then
    perform private.raise_error('TASK_NOT_CONTINUABLE',
      format('Cannot continue task %s: it is %s', p_task_id, p_task.status),
      'Only a task that has ended can be continued. Wait for it to end, or cancel it first.');
  end if;
end;
$$;
comment on function private.assert_continuable(uuid, public.tasks, jsonb) is
  'Raises TASK_INPUT_INVALID or TASK_NOT_CONTINUABLE. The caller has locked the task.';

create function private.close_open_steps(p_task_id uuid)
returns void
language plpgsql
set search_path = ''
as $$
begin
  -- A model call without an answer is irrelevant for the rest of the transcript.
  delete from public.task_steps where task_id = p_task_id and kind = 'model' and state = 'started';
  update public.task_steps
  set state = 'failed',
      ended_at = clock_timestamp(),
      output = jsonb_build_object(
        'text', 'The task ended before this call had a result: it may have taken effect or not.',
        'is_error', true,
        'error_code', 'TOOL_OUTCOME_UNKNOWN'
      )
  where task_id = p_task_id and state = 'started';
end;
$$;
comment on function private.close_open_steps(uuid) is
  'Ends every open step of an ended task, so that no call of an earlier run starts again.';

create function private.next_free_step(p_task_id uuid)
returns int
language sql
stable
set search_path = ''
as $$
  -- The calls of the last answer use up their numbers, whether they began or not.
  select coalesce(max(step.seq + case step.kind
    when 'model' then coalesce(jsonb_array_length(step.output -> 'tool_calls'), 0) + (
      -- Guardrail checks of the input come between a model call and its tool calls.
      select count(*)
      from public.task_steps as guardrail
      where guardrail.task_id = p_task_id and guardrail.kind = 'guardrail'
        and guardrail.input ->> 'stage' = 'input' and guardrail.seq > step.seq
    ) else 0 end), 0)::int + 1
  from public.task_steps as step
  where step.task_id = p_task_id;
$$;
comment on function private.next_free_step(uuid) is 'The first step number that the transcript neither uses nor reserves for the calls of its last answer.';

create function private.add_message(p_task public.tasks, p_input jsonb)
returns int
language plpgsql
set search_path = ''
as $$
declare
  v_seq constant int := private.next_free_step(p_task.id);
  v_max_steps constant numeric := private.cap(p_task.budget, 'max_steps', 1000);
begin
  if v_seq >= v_max_steps then
    perform private.raise_error('STEPS_EXCEEDED',
      format('Cannot continue task %s: it has used all of its %s steps', p_task.id, v_max_steps),
      'Create a task with a larger max_steps in its budget.');
  end if;
  insert into public.task_steps (
    task_id, seq, kind, state, input, output, epoch, ended_at
  )
  values (
    p_task.id, v_seq, 'user', 'done', p_input, '{}', p_task.epoch,
    clock_timestamp()
  );
  return v_seq;
end;
$$;
comment on function private.add_message(public.tasks, jsonb) is
  'Appends a message of the user to a transcript and returns its step. Raises STEPS_EXCEEDED.';

create function private.continue_task(p_task_id uuid, p_input jsonb, p_after_step int default null)
returns text
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_task public.tasks;
  v_seq int;
  v_newest int;
begin
  perform private.assert_person_may('continue the task', 'swarm:run');
  v_task := private.own_task(p_task_id);
  -- The audience may have become smaller since the task was created.
  perform private.active_agent(v_task.agent_slug, v_task.created_by, 'continue the task');
  -- Of two concurrent calls, the second finds a task that has not ended.
  perform private.lock_job(v_task.master_task_id);
  select * into v_task from public.tasks where id = p_task_id for no key update;
  perform private.assert_continuable(p_task_id, v_task, p_input);
  v_newest := coalesce((select max(seq) from public.task_steps where task_id = p_task_id and kind = 'user'), 0);
  if p_after_step <> v_newest then
    perform private.raise_error('TASK_NOT_CONTINUABLE',
      format('Cannot continue task %s: the message of step %s follows step %s', p_task_id, v_newest, p_after_step),
      'Read the newest messages: another page or an earlier attempt has sent one.');
  end if;
  perform private.assert_may_reuse_changes(v_task, 'continue the task');
  perform private.assert_transcript_is_kept(v_task.master_task_id);
  perform private.assert_message_files_are_usable(v_task, p_input);
  perform private.take_task_creation(v_task.created_by, 'continue the task');
  perform private.record_calling_client(v_task.master_task_id, v_task.created_by);
  perform private.close_open_steps(p_task_id);
  v_seq := private.add_message(v_task, p_input);
  perform private.debit_job(v_task.master_task_id, v_task.created_by, pg_column_size(p_input));
  perform private.requeue_ended(p_task_id, 'continued by a message of its user');
  -- The failures of earlier tool calls concern the earlier result.
  update public.tasks set warnings = '[]' where id = p_task_id and warnings <> '[]';
  perform private.emit_event(p_task_id, v_task.master_task_id, 'task.resumed',
    jsonb_build_object('reason', 'continued', 'step_seq', v_seq, 'input', p_input));
  return 'pending';
end;
$$;
comment on function private.continue_task(uuid, jsonb, int) is
  'Adds a message to a task that has ended. Definer: users may not write tasks or queues; assert_person_may() and own_task() check the caller.';

create function public.continue_task(p_task_id uuid, p_input jsonb, p_after_step int default null)
returns text
language sql
set search_path = ''
as $$
  select private.continue_task(p_task_id, p_input, p_after_step);
$$;
comment on function public.continue_task(uuid, jsonb, int) is
  'Adds another message of the user to a master task that completed, failed or was cancelled, which then continues with its whole transcript, and returns its status. Of two concurrent calls, one succeeds. p_after_step: the step of the newest message of the user that the caller knows, 0 if that is the input of the task; if the task has a newer one, the call fails. Earlier usage still counts toward the budget, and the message counts as the creation of a task. A message of an OAuth client limits the job to the client''s scopes. For the owner, the owner''s OAuth clients with the scope swarm:run and the service, never for an agent. Raises TASK_NOT_FOUND, TASK_NOT_CONTINUABLE, TASK_INPUT_INVALID, STEPS_EXCEEDED, AGENT_NOT_FOUND, AGENT_INACTIVE, QUOTA_EXCEEDED, AGENT_NOT_ALLOWED, INSUFFICIENT_SCOPE.';
revoke all on function public.continue_task(uuid, jsonb, int) from public, anon, authenticated, service_role;
grant execute on function private.continue_task(uuid, jsonb, int), public.continue_task(uuid, jsonb, int)
  to authenticated, service_role;
