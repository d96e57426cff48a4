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
revoke all on function private.request_review(uuid, bigint, int, text, jsonb, jsonb, text, jsonb) from public;

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
revoke all on function private.raise_task_not_found(uuid) from public;

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
revoke all on function private.any_task(uuid) from public;

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
revoke all on function private.own_task(uuid) from public;

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
revoke all on function private.raise_answer_invalid(text, text, text) from public;

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
revoke all on function private.assert_choice(public.human_reviews, boolean, jsonb) from public;

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
revoke all on function private.assert_may_approve_call(public.human_reviews, uuid) from public;

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
revoke all on function private.has_inexact_number(jsonb) from public;

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
revoke all on function private.approved_arguments(public.human_reviews, jsonb) from public;

create function private.respond_to_review(p_task_id uuid, p_approved boolean, p_response jsonb, p_comments text)
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
begin
  perform private.assert_person_may('answer the review', 'swarm:run');
  if p_approved is null then
    perform private.raise_answer_invalid('REVIEW_ANSWER_INVALID', 'p_approved is null', 'Send true or false.');
  end if;
  if jsonb_typeof(v_response) <> 'object' then
    perform private.raise_answer_invalid('REVIEW_ANSWER_INVALID', 'the response is not an object', 'Send an object, or {}.');
  end if;
  if not private.is_within_limits(jsonb_build_array(v_response, p_comments)) then
    perform private.raise_answer_invalid('REVIEW_ANSWER_INVALID',
      'response and comments are larger than 1 MiB, 200 levels or 70,000 values',
      'Send less, or store it as a file or document and name that.');
  end if;
  select * into v_review from public.human_reviews where task_id = p_task_id and answered_at is null;
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
  perform from public.tasks where id = p_task_id for no key update;

  update public.human_reviews
  set approved = p_approved,
      response = v_response,
      approved_arguments = v_arguments,
      comments = p_comments,
      created_by = auth.uid(),
      answered_as = private.calling_actor(),
      answered_through = private.calling_way(),
      client_id = private.request_claims() ->> 'client_id',
      answered_at = clock_timestamp()
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
      logs = logs || private.log_line('review answered: ' || case when p_approved then 'approved' else 'not approved' end)
  where id = p_task_id and status = 'needs_human_review';
  perform private.emit_event(p_task_id, v_task.master_task_id, 'review.answered', jsonb_build_object(
    'step_seq', v_review.seq, 'approved', p_approved, 'response', v_review.response,
    'approved_arguments', v_arguments, 'comments', p_comments));
  return (select status from public.tasks where id = p_task_id);
end;
$$;
comment on function private.respond_to_review(uuid, boolean, jsonb, text) is
  'Answers the open review of a task and queues the task again. The only place that decides what a valid answer is. Definer: users may not write tasks or queues; the function checks the caller itself.';
revoke all on function private.respond_to_review(uuid, boolean, jsonb, text) from public;

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
revoke all on function private.raise_no_open_review(uuid) from public;

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
  'Answers the open review of a task. Whether approved or not, the agent continues and reads the answer. When the review has options, p_response.choice is one of them. When it is about a tool call, p_response.arguments replaces the call''s arguments. Text from an OAuth client limits the job to the client''s scopes. Returns the task''s status. For the owner, the owner''s OAuth clients with the scope swarm:run (to approve a call also with its scopes) and the service, never for an agent. Raises TASK_NOT_FOUND, REVIEW_NOT_FOUND, REVIEW_ALREADY_ANSWERED, REVIEW_ANSWER_INVALID, REVIEW_CHOICE_INVALID, REVIEW_ARGUMENTS_INVALID, FORBIDDEN, AGENT_NOT_ALLOWED, INSUFFICIENT_SCOPE.';
revoke all on function public.respond_to_review(uuid, boolean, jsonb, text) from public, anon, authenticated, service_role;
grant execute on function
  private.respond_to_review(uuid, boolean, jsonb, text),
  public.respond_to_review(uuid, boolean, jsonb, text)
  to authenticated, service_role;
