-- Questions to a person: the task is parked until someone answers.

create function private.request_review(
  p_task_id uuid, p_epoch bigint, p_seq int, p_question text,
  p_options jsonb default null, p_context jsonb default null
)
returns text
language plpgsql
set search_path = ''
as $$
declare
  v_task public.tasks := private.hold_or_cancel(p_task_id, p_epoch);
begin
  if v_task.id is null then
    return 'cancelled';
  end if;

  insert into public.human_reviews (task_id, seq, question, options, context)
  values (p_task_id, p_seq, p_question, p_options, p_context)
  on conflict (task_id, seq) do nothing;
  if found then
    perform private.emit_event(p_task_id, v_task.master_task_id, 'review.requested', jsonb_build_object(
      'step_seq', p_seq, 'question', p_question, 'options', p_options, 'context', p_context));
  elsif exists (
    select from public.human_reviews where task_id = p_task_id and seq = p_seq and answered_at is not null
  ) then
    return 'continue';
  end if;
  perform private.park(v_task, 'needs_human_review');
  return 'parked';
end;
$$;
comment on function private.request_review(uuid, bigint, int, text, jsonb, jsonb) is
  'Requests a review and parks the task in one transaction. Returns parked, continue (the review of this step is already answered) or cancelled. Raises LEASE_LOST. Called by workers.';

create function private.raise_task_not_found(p_task_id uuid)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  perform private.raise_error('TASK_NOT_FOUND', format('Cannot find task %s', coalesce(p_task_id::text, 'null')),
    'Read the ids of your tasks from the table tasks.');
end;
$$;
comment on function private.raise_task_not_found(uuid) is 'Raises TASK_NOT_FOUND.';

create function private.any_task(p_task_id uuid)
returns public.tasks
language plpgsql
stable
set search_path = ''
as $$
declare
  v_task public.tasks;
begin
  select * into v_task from public.tasks where id = p_task_id;
  if not found then
    perform private.raise_task_not_found(p_task_id);
  end if;
  return v_task;
end;
$$;
comment on function private.any_task(uuid) is
  'Returns the task without checking its owner; the caller has checked the permissions. Raises TASK_NOT_FOUND.';

create function private.own_task(p_task_id uuid)
returns public.tasks
language plpgsql
stable
set search_path = ''
as $$
declare
  v_task public.tasks;
begin
  perform private.assert_has_scope('use the task', 'swarm:run');
  select * into v_task
  from public.tasks
  where id = p_task_id
    and (private.is_service_caller() or created_by = auth.uid());
  if not found then
    perform private.raise_task_not_found(p_task_id);
  end if;
  return v_task;
end;
$$;
comment on function private.own_task(uuid) is
  'Returns the task if the caller owns it or is the service. Raises TASK_NOT_FOUND, also for a task of another user, and INSUFFICIENT_SCOPE for an OAuth client without swarm:run.';

create function private.respond_to_review(p_task_id uuid, p_approved boolean, p_response jsonb, p_comments text)
returns text
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_task public.tasks := private.own_task(p_task_id);
  v_review public.human_reviews;
begin
  perform private.assert_person_may('answer the review', 'swarm:run');
  if p_approved is null then
    perform private.raise_error('REVIEW_ANSWER_INVALID', 'Cannot answer the review: p_approved is null',
      'Send true or false.');
  end if;
  if not private.is_within_limits(jsonb_build_array(p_response, p_comments)) then
    perform private.raise_error('REVIEW_ANSWER_INVALID',
      'Cannot answer the review: response and comments are larger than 1 MiB, 200 levels or 70,000 values',
      'Send less, or store it as a file or document and name that.');
  end if;
  perform private.lock_job(v_task.master_task_id);
  -- Its event is written under its lock, also when its status does not change.
  perform from public.tasks where id = p_task_id for no key update;

  update public.human_reviews
  set approved = p_approved,
      response = coalesce(p_response, '{}'),
      comments = p_comments,
      created_by = auth.uid(),
      answered_as = private.calling_actor(),
      answered_through = private.calling_way(),
      client_id = private.request_claims() ->> 'client_id',
      answered_at = clock_timestamp()
  where task_id = p_task_id and answered_at is null
  returning * into v_review;
  if not found then
    perform private.raise_no_open_review(p_task_id);
  end if;
  -- The agent reads this text, so it limits the job to the client's scopes. Approval alone is not text.
  if coalesce(p_response, '{}') <> '{}' or p_comments is not null then
    perform private.note_calling_client(v_task.master_task_id, v_task.created_by);
  end if;

  -- The answer is the result of the step that asked. A tool's step stays open: its worker acts on the answer.
  update public.task_steps
  set state = 'done',
      output = jsonb_build_object(
        'approved', v_review.approved, 'response', v_review.response, 'comments', v_review.comments),
      ended_at = clock_timestamp()
  where task_id = p_task_id and seq = v_review.seq and kind = 'system' and state = 'started';
  update public.tasks
  set status = 'pending',
      message_id = private.send_message(id),
      logs = logs || private.log_line('review answered: ' || case when p_approved then 'approved' else 'not approved' end)
  where id = p_task_id and status = 'needs_human_review';
  perform private.emit_event(p_task_id, v_task.master_task_id, 'review.answered', jsonb_build_object(
    'step_seq', v_review.seq, 'approved', p_approved, 'response', v_review.response, 'comments', p_comments));
  return (select status from public.tasks where id = p_task_id);
end;
$$;
comment on function private.respond_to_review(uuid, boolean, jsonb, text) is
  'Answers the open review of a task and queues the task again. Definer: users may not write tasks or queues; the function checks the caller itself.';

create function private.raise_no_open_review(p_task_id uuid)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  if exists (select from public.human_reviews where task_id = p_task_id) then
    perform private.raise_error('REVIEW_ALREADY_ANSWERED',
      format('Cannot answer the review of task %s: it has been answered or the task has ended', p_task_id),
      'Read the answer from the table human_reviews.');
  end if;
  perform private.raise_error('REVIEW_NOT_FOUND',
    format('Cannot answer the review of task %s: the task has not requested one', p_task_id),
    'A task that waits for an answer has the status needs_human_review.');
end;
$$;
comment on function private.raise_no_open_review(uuid) is 'Raises REVIEW_ALREADY_ANSWERED or REVIEW_NOT_FOUND.';

create function public.respond_to_review(
  p_task_id uuid, p_approved boolean, p_response jsonb default '{}', p_comments text default null
)
returns text
language sql
set search_path = ''
as $$
  select private.respond_to_review(p_task_id, p_approved, p_response, p_comments);
$$;
comment on function public.respond_to_review(uuid, boolean, jsonb, text) is
  'Answers the open review of a task. Whether approved or not, the agent continues and reads the answer. Text from an OAuth client limits the job to the client''s scopes. Returns the task''s status. For the owner, the owner''s OAuth clients with the scope swarm:run and the service, never for an agent. Raises TASK_NOT_FOUND, REVIEW_NOT_FOUND, REVIEW_ALREADY_ANSWERED, REVIEW_ANSWER_INVALID, AGENT_NOT_ALLOWED, INSUFFICIENT_SCOPE.';
grant execute on function
  private.respond_to_review(uuid, boolean, jsonb, text),
  public.respond_to_review(uuid, boolean, jsonb, text)
  to authenticated, service_role;
