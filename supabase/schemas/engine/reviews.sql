-- Questions to a person: the task is parked until someone answers.

create function private.request_review(
  p_task_id uuid, p_epoch bigint, p_seq int, p_question text,
  p_options jsonb default null, p_context jsonb default null, p_kind text default 'question', p_untried jsonb default '[]'
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

  insert into public.human_reviews (task_id, seq, kind, question, options, context)
  values (p_task_id, p_seq, p_kind, p_question, p_options, p_context)
  on conflict (task_id, seq) do nothing;
  if found then
    perform private.emit_event(p_task_id, v_task.master_task_id, 'review.requested', jsonb_build_object(
      'step_seq', p_seq, 'kind', p_kind, 'question', p_question, 'options', p_options, 'context', p_context));
  elsif exists (
    select from public.human_reviews where task_id = p_task_id and seq = p_seq and answered_at is not null
  ) then
    return 'continue';
  end if;
  perform private.delete_untried(v_task, p_untried);
  perform private.park(v_task, 'needs_human_review');
  return 'parked';
end;
$$;
comment on function private.request_review(uuid, bigint, int, text, jsonb, jsonb, text, jsonb) is
  'Requests a review and parks the task in one transaction; delete_untried() deletes the steps p_untried [seq]. Returns parked, continue (the review of this step is already answered) or cancelled. Raises LEASE_LOST. Called by workers.';

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

create function private.raise_answer_invalid(p_code text, p_problem text, p_hint text)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  perform private.raise_error(p_code, 'Cannot answer the review: ' || p_problem, p_hint);
end;
$$;
comment on function private.raise_answer_invalid(text, text, text) is 'Raises an error about the answer of a review.';

create function private.assert_choice(p_review public.human_reviews, p_approved boolean, p_response jsonb)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  if jsonb_typeof(p_review.options) is distinct from 'array' or p_review.options = '[]' then
    return;
  end if;
  -- A rejection may choose none of them.
  if (p_approved and not p_response ? 'choice')
    or (p_response ? 'choice' and not p_review.options @> jsonb_build_array(p_response -> 'choice'))
  then
    perform private.raise_answer_invalid('REVIEW_CHOICE_INVALID',
      case when p_response ? 'choice' then 'the choice is not one of the options' else 'its options require a choice' end,
      format('Send one of the options as p_response: {"choice": …}. The options are: %s.', left(p_review.options::text, 2000)));
  end if;
end;
$$;
comment on function private.assert_choice(public.human_reviews, boolean, jsonb) is
  'Raises REVIEW_CHOICE_INVALID when a review with options is approved without one of them as response.choice, or when the choice is none of them.';

create function private.assert_may_approve_call(p_review public.human_reviews, p_job_id uuid)
returns void
language plpgsql
stable
set search_path = ''
as $$
declare
  v_scope text;
begin
  for v_scope in
    select jsonb_array_elements_text(p_review.context -> 'scopes')
    where jsonb_typeof(p_review.context -> 'scopes') = 'array'
  loop
    perform private.assert_has_scope('approve the call', v_scope);
  end loop;
  if private.calling_actor() = 'client' and p_review.context -> 'reasons' ? 'sql_policy' and exists (
    select from private.job_clients
    where job_id = p_job_id and client_id = private.request_claims() ->> 'client_id'
  ) then
    perform private.raise_error('FORBIDDEN',
      'Cannot approve the call: a client cannot approve a statement of a job to which it has contributed',
      'Let the owner approve it in their own session, or through another client.');
  end if;
end;
$$;
comment on function private.assert_may_approve_call(public.human_reviews, uuid) is
  'Raises INSUFFICIENT_SCOPE when an OAuth client approves a call that it may not make itself, and FORBIDDEN when it approves a statement that the SQL policy makes wait for the owner, in a job to which it has contributed.';

create function private.has_inexact_number(p_value jsonb)
returns boolean
language plpgsql
immutable
set search_path = ''
as $$
begin
  return exists (
    select
    from jsonb_path_query(p_value, 'strict $.**') as part
    -- The shortest text of a floating-point number that means the same number.
    where jsonb_typeof(part) = 'number' and to_jsonb((part #>> '{}')::float8) <> part
  );
exception when numeric_value_out_of_range then
  return true;
end;
$$;
comment on function private.has_inexact_number(jsonb) is
  'Whether a number of the value is another one in programs, which have floating-point numbers: 9007199254740993, or 1e400.';

create function private.approved_arguments(p_review public.human_reviews, p_response jsonb)
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
declare
  v_asked constant jsonb := coalesce(p_review.context -> 'arguments', '{}');
  v_arguments constant jsonb := coalesce(p_response -> 'arguments', v_asked);
  v_problem text;
begin
  if v_arguments = v_asked then
    return v_asked;
  end if;
  if p_review.kind = 'rerun' then
    -- The first run may have taken effect, and the same call has the same idempotency key.
    perform private.raise_answer_invalid('REVIEW_ARGUMENTS_INVALID', 'the call is made again, so its arguments cannot change',
      'Approve the call as it is, or reject it and state in p_comments what to do instead.');
  end if;
  v_problem := case
    when jsonb_typeof(v_arguments) <> 'object' then 'the arguments are not an object'
    when private.has_inexact_number(v_arguments) then
      'a number has more digits than a tool receives: what runs would not be what was approved'
    else private.schema_problem(p_review.context -> 'input_schema', v_arguments, '$')
  end;
  if v_problem is not null then
    perform private.raise_answer_invalid('REVIEW_ARGUMENTS_INVALID', v_problem,
      'Send all arguments of the call as p_response: {"arguments": {…}}, as its input_schema requires.');
  end if;
  return v_arguments;
end;
$$;
comment on function private.approved_arguments(public.human_reviews, jsonb) is
  'The arguments with which an approved call runs: response.arguments, otherwise those that were asked for. Raises REVIEW_ARGUMENTS_INVALID when they do not match the tool''s schema.';

create function private.respond_to_review(
  p_task_id uuid, p_approved boolean, p_response jsonb, p_comments text, p_hold_seconds int default 0,
  p_seq int default null
)
returns text
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_task public.tasks := private.own_task(p_task_id);
  v_response constant jsonb := coalesce(nullif(p_response, 'null'), '{}');
  v_review public.human_reviews;
  v_arguments jsonb;
  v_epoch bigint;
begin
  perform private.assert_person_may('answer the review', 'swarm:run');
  if coalesce(p_hold_seconds, -1) not between 0 and 60 then
    perform private.raise_answer_invalid('REVIEW_ANSWER_INVALID', format('p_hold_seconds is %s', coalesce(p_hold_seconds::text, 'null')),
      'Send 0 to 60 seconds.');
  end if;
  if p_approved is null then
    perform private.raise_answer_invalid('REVIEW_ANSWER_INVALID', 'p_approved is null', 'Send true or false.');
  end if;
  if jsonb_typeof(v_response) <> 'object' then
    perform private.raise_answer_invalid('REVIEW_ANSWER_INVALID', 'the response is not an object', 'Send an object, or {}.');
  end if;
  if not private.is_within_limits(jsonb_build_array(v_response, p_comments)) then
    perform private.raise_answer_invalid('REVIEW_ANSWER_INVALID',
      'response and comments are larger than 1 MiB, 64 levels or 70,000 values, or have a number that programs cannot read',
      'Send less, or store it as a file or document and name that.');
  end if;
  select * into v_review from public.human_reviews
  where task_id = p_task_id and answered_at is null and seq = coalesce(p_seq, seq)
  order by seq limit 1;
  if not found then
    perform private.raise_no_open_review(p_task_id);
  end if;
  perform private.assert_choice(v_review, p_approved, v_response);
  if v_review.kind <> 'question' and p_approved then
    perform private.assert_may_approve_call(v_review, v_task.master_task_id);
  end if;
  if v_review.kind in ('call', 'rerun') and p_approved then
    v_arguments := private.approved_arguments(v_review, v_response);
  end if;
  perform private.lock_job(v_task.master_task_id);
  -- Its event is written under its lock, also when its status does not change.
  -- A worker that has the task, as after a retry, may read the answer under this epoch.
  select case when status <> 'running' then epoch end into v_epoch
  from public.tasks where id = p_task_id for no key update;

  update public.human_reviews
  set approved = p_approved,
      response = v_response,
      approved_arguments = v_arguments,
      comments = p_comments,
      created_by = auth.uid(),
      answered_as = private.calling_actor(),
      answered_through = private.calling_way(),
      client_id = private.request_claims() ->> 'client_id',
      answered_at = clock_timestamp(),
      answered_epoch = v_epoch
  where id = v_review.id and answered_at is null
  returning * into v_review;
  if not found then
    perform private.raise_no_open_review(p_task_id);
  end if;
  -- The agent reads this text, so it limits the job to the client's scopes. Approval alone is not text.
  if v_response <> '{}' or p_comments is not null then
    perform private.record_calling_client(v_task.master_task_id, v_task.created_by);
  end if;

  -- The answer is the result of the step that asked. A tool's step stays open: its worker acts on the answer.
  update public.task_steps
  set state = 'done',
      output = jsonb_build_object(
        'approved', v_review.approved, 'response', v_review.response, 'comments', v_review.comments),
      ended_at = clock_timestamp()
  where task_id = p_task_id and seq = v_review.seq and kind = 'system' and state = 'started';
  update public.task_steps
  set input = input || jsonb_build_object('approved_arguments', v_arguments)
  where task_id = p_task_id and seq = v_review.seq and kind = 'tool' and v_arguments is not null;
  update public.tasks
  set status = 'pending',
      run_after = case when p_hold_seconds > 0 then clock_timestamp() + make_interval(secs => p_hold_seconds) end,
      logs = logs || private.log_line('review answered: ' || case when p_approved then 'approved' else 'not approved' end)
  where id = p_task_id and status = 'needs_human_review';
  if v_task.runner <> '' then
    perform private.wake_workflow(p_task_id, case when p_hold_seconds > 0 then clock_timestamp() + make_interval(secs => p_hold_seconds) end);
  end if;
  perform private.emit_event(p_task_id, v_task.master_task_id, 'review.answered', jsonb_build_object(
    'step_seq', v_review.seq, 'approved', p_approved, 'response', v_review.response,
    'approved_arguments', v_arguments, 'comments', p_comments, 'hold_seconds', nullif(p_hold_seconds, 0)));
  return (select status from public.tasks where id = p_task_id);
end;
$$;
comment on function private.respond_to_review(uuid, boolean, jsonb, text, int, int) is
  'Answers the open review of a task and queues the task again. The only place that decides what a valid answer is. Definer: users may not write tasks or queues; the function checks the caller itself.';

create function private.raise_no_open_review(p_task_id uuid)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  -- One that is open was requested only now.
  if exists (select from public.human_reviews where task_id = p_task_id and answered_at is not null) then
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
  p_task_id uuid, p_approved boolean, p_response jsonb default '{}', p_comments text default null,
  p_hold_seconds int default 0, p_seq int default null
)
returns text
language sql
set search_path = ''
as $$
  select private.respond_to_review(
    p_task_id => respond_to_review.p_task_id, p_approved => respond_to_review.p_approved,
    p_response => respond_to_review.p_response, p_comments => respond_to_review.p_comments,
    p_hold_seconds => respond_to_review.p_hold_seconds, p_seq => respond_to_review.p_seq
  );
$$;
comment on function public.respond_to_review(uuid, boolean, jsonb, text, int, int) is
  'Answers the open review of a task. Whether approved or not, the agent continues and reads the answer. When the review has options, p_response.choice is one of them. When it is about a tool call, p_response.arguments replaces the call''s arguments. p_hold_seconds (0 to 60): the agent continues only after this time, until which reopen_review() takes the answer back. p_seq: the step of the review that the person has seen, so that the answer is not taken for a question that was asked since; null answers the open one, of a workflow''s several the first. Text from an OAuth client limits the job to the client''s scopes. Returns the task''s status. For the owner, the owner''s OAuth clients with the scope swarm:run (to approve a call also with its scopes) and the service, never for an agent. Raises TASK_NOT_FOUND, REVIEW_NOT_FOUND, REVIEW_ALREADY_ANSWERED, REVIEW_ANSWER_INVALID, REVIEW_CHOICE_INVALID, REVIEW_ARGUMENTS_INVALID, FORBIDDEN, AGENT_NOT_ALLOWED, INSUFFICIENT_SCOPE.';
revoke all on function public.respond_to_review(uuid, boolean, jsonb, text, int, int) from public, anon, authenticated, service_role;
grant execute on function
  private.respond_to_review(uuid, boolean, jsonb, text, int, int),
  public.respond_to_review(uuid, boolean, jsonb, text, int, int)
  to authenticated, service_role;

-- Taking an answer back ---------------------------------------------------------------------------

create function private.raise_not_reopenable(p_task_id uuid, p_problem text, p_hint text)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  perform private.raise_error('REVIEW_NOT_REOPENABLE',
    format('Cannot take back the answer to the review of task %s: %s', p_task_id, p_problem), p_hint);
end;
$$;
comment on function private.raise_not_reopenable(uuid, text, text) is 'Raises REVIEW_NOT_REOPENABLE.';

create function private.assert_reopenable(p_task public.tasks, p_review public.human_reviews)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  if p_review.id is null then
    perform private.raise_error('REVIEW_NOT_FOUND',
      format('Cannot take back an answer: the task %s has not requested a review', p_task.id),
      'human_reviews has the reviews of your tasks.');
  end if;
  if p_review.answered_at is null then
    perform private.raise_not_reopenable(p_task.id, 'nobody has answered the open question', 'Answer it with respond_to_review().');
  end if;
  -- Each claim raises the epoch.
  if p_task.status <> 'pending' or p_task.epoch is distinct from p_review.answered_epoch then
    perform private.raise_not_reopenable(p_task.id, 'its agent has read the answer, or the task has ended',
      'Cancel the job with cancel_task(), or send the agent a message when it has ended.');
  end if;
  if private.calling_actor() = 'client'
    and p_review.client_id is distinct from private.request_claims() ->> 'client_id'
  then
    perform private.raise_error('FORBIDDEN', 'Cannot take back the answer: a client takes back only its own answers',
      'Let the owner take it back in their own session.');
  end if;
end;
$$;
comment on function private.assert_reopenable(public.tasks, public.human_reviews) is
  'Checks that the answer to the newest review of a task can be taken back. Raises REVIEW_NOT_FOUND, REVIEW_NOT_REOPENABLE, and FORBIDDEN for a client that did not give the answer.';

create function private.reopen_review(p_task_id uuid)
returns text
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_task public.tasks := private.own_task(p_task_id);
  v_review public.human_reviews;
begin
  perform private.assert_person_may('take back the answer', 'swarm:run');
  perform private.lock_job(v_task.master_task_id);
  -- A claim that comes first has the lock, and then a later epoch.
  select * into v_task from public.tasks where id = p_task_id for no key update;
  select * into v_review from public.human_reviews
  where task_id = p_task_id
  order by answered_at desc nulls first limit 1;
  if v_review.answered_at is null and v_review.reopened_at is not null then
    return v_task.status;
  end if;
  perform private.assert_reopenable(v_task, v_review);

  update public.human_reviews
  set approved = null, response = '{}', approved_arguments = null, comments = null, created_by = null,
      answered_as = null, answered_through = null, client_id = null, answered_at = null, answered_epoch = null,
      reopened_at = clock_timestamp(), reopened_by = auth.uid()
  where id = v_review.id;
  update public.task_steps
  set state = 'started', output = null, ended_at = null
  where task_id = p_task_id and seq = v_review.seq and kind = 'system' and state = 'done';
  update public.task_steps
  set input = input - 'approved_arguments'
  where task_id = p_task_id and seq = v_review.seq and kind = 'tool' and input ? 'approved_arguments';
  update public.tasks
  set status = 'needs_human_review', run_after = null, logs = logs || private.log_line('answer taken back')
  where id = p_task_id;
  perform private.emit_events(array[
    row(p_task_id, v_task.master_task_id, 'review.reopened',
      jsonb_build_object('step_seq', v_review.seq, 'by', auth.uid()))::private.task_event,
    row(p_task_id, v_task.master_task_id, 'task.parked',
      jsonb_build_object('status', 'needs_human_review'))::private.task_event
  ]);
  return 'needs_human_review';
end;
$$;
comment on function private.reopen_review(uuid) is
  'See public.reopen_review(). Definer: users may not write tasks or queues; the function checks the caller itself.';

create function public.reopen_review(p_task_id uuid)
returns text
language sql
set search_path = ''
as $$
  select private.reopen_review(p_task_id);
$$;
comment on function public.reopen_review(uuid) is
  'Takes back the answer to the last review of a task as long as its agent has not read it, which is until a worker claims the task: the review is open again. respond_to_review() with p_hold_seconds gives time for it. Returns the task''s status; a repeated call changes nothing. The answer stays in the events. For the owner, the OAuth client that answered and the service, never for an agent. Raises TASK_NOT_FOUND, REVIEW_NOT_FOUND, REVIEW_NOT_REOPENABLE, FORBIDDEN, AGENT_NOT_ALLOWED, INSUFFICIENT_SCOPE.';
revoke all on function public.reopen_review(uuid) from public, anon, authenticated, service_role;
grant execute on function private.reopen_review(uuid), public.reopen_review(uuid) to authenticated, service_role;
