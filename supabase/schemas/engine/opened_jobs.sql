-- Operators read the content of another user's job only after they opened it with a reason. The record of that
-- act is the permission, and the owner can read it.

create function private.given_reason(p_attempt text, p_reason text)
returns text
language plpgsql
stable
set search_path = ''
as $$
declare
  v_reason constant text := private.visible_text(left(p_reason, 100000));
begin
  if coalesce(length(v_reason), 0) not between 1 and 2000 then
    perform private.raise_error('REASON_INVALID',
      format('Cannot %s: p_reason has %s characters that can be seen, not 1 to 2,000', p_attempt, coalesce(length(v_reason), 0)),
      'Say why in p_reason; the owner of the job can read it.');
  end if;
  return v_reason;
end;
$$;
comment on function private.given_reason(text, text) is
  'The reason of an operator, without what nobody sees around it. Raises REASON_INVALID unless it has 1 to 2,000 characters.';

create function private.operator_open_job(p_task_id uuid, p_reason text)
returns timestamptz
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_open_until constant timestamptz := clock_timestamp() + interval '1 hour';
  v_reason text;
begin
  perform private.assert_operator('open the job');
  v_reason := private.given_reason('open the job', p_reason);
  perform private.record_act_on_task(
    'job.opened', private.any_task(p_task_id), v_reason, jsonb_build_object('open_until', v_open_until));
  return v_open_until;
end;
$$;
comment on function private.operator_open_job(uuid, text) is
  'See public.operator_open_job(). Definer: no role may write operator_acts; assert_operator() checks the caller.';

create function public.operator_open_job(p_task_id uuid, p_reason text)
returns timestamptz
language sql
set search_path = ''
as $$
  select private.operator_open_job(p_task_id, p_reason);
$$;
comment on function public.operator_open_job(uuid, text) is
  'Lets the calling operator read the whole job of a task for one hour, and returns until when. operator_acts records the reason, of 1 to 2,000 characters, and the owner reads it with list_operator_acts(). For operators and the service. Raises INSUFFICIENT_SCOPE, AGENT_NOT_ALLOWED, TASK_NOT_FOUND, REASON_INVALID.';
revoke all on function public.operator_open_job(uuid, text) from public, anon, authenticated, service_role;
grant execute on function private.operator_open_job(uuid, text), public.operator_open_job(uuid, text)
  to authenticated, service_role;

create function private.may_read_as_operator(p_task public.tasks)
returns boolean
language plpgsql
stable
set search_path = ''
as $$
begin
  return private.is_operator() and (
    private.is_service_caller()
    or p_task.created_by is not distinct from auth.uid()
    or exists (
      select from private.operator_acts as opening
      where opening.act = 'job.opened'
        and opening.master_task_id = p_task.master_task_id
        and opening.operator_id = auth.uid()
        and opening.client_id is not distinct from private.request_claims() ->> 'client_id'
        and (opening.details ->> 'open_until')::timestamptz > clock_timestamp()
    )
  );
end;
$$;
comment on function private.may_read_as_operator(public.tasks) is
  'True for an operator who owns the job of the task or has opened it within the last hour, with the same OAuth client, and for the service.';

create function private.opened_task(p_attempt text, p_task_id uuid)
returns public.tasks
language plpgsql
stable
set search_path = ''
as $$
declare
  v_task public.tasks;
begin
  perform private.assert_operator(p_attempt);
  v_task := private.any_task(p_task_id);
  if not private.may_read_as_operator(v_task) then
    perform private.raise_error('JOB_NOT_OPENED',
      format('Cannot %s: job %s belongs to another user, and you have not opened it in the last hour', p_attempt, v_task.master_task_id),
      'Call operator_open_job(p_task_id, p_reason).');
  end if;
  return v_task;
end;
$$;
comment on function private.opened_task(text, uuid) is
  'Returns a task whose job the calling operator may read. Raises INSUFFICIENT_SCOPE, AGENT_NOT_ALLOWED, TASK_NOT_FOUND, JOB_NOT_OPENED.';

create function private.readable_task(p_task_id uuid)
returns public.tasks
language plpgsql
stable
set search_path = ''
as $$
begin
  return case
    when private.is_operator() then private.opened_task('read the task', p_task_id)
    else private.own_task(p_task_id)
  end;
end;
$$;
comment on function private.readable_task(uuid) is
  'Returns a task that the caller owns or, as an operator, has opened. The first statement of functions that read a job. Raises TASK_NOT_FOUND, JOB_NOT_OPENED, INSUFFICIENT_SCOPE.';

-- Rows of an opened job -------------------------------------------------------------------------

create function private.operator_tasks(p_task_id uuid)
returns setof public.tasks
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  v_task constant public.tasks := private.opened_task('read the tasks', p_task_id);
begin
  return query select * from public.tasks where master_task_id = v_task.master_task_id;
end;
$$;
comment on function private.operator_tasks(uuid) is
  'See public.operator_tasks(). Definer: it reads tasks of all owners; opened_task() checks the caller.';

create function public.operator_tasks(p_task_id uuid)
returns setof public.tasks
language sql
stable
set search_path = ''
as $$
  select * from private.operator_tasks(p_task_id);
$$;
comment on function public.operator_tasks(uuid) is
  'The rows of tasks of the task''s whole job, which the caller has opened. For operators and the service. Raises INSUFFICIENT_SCOPE, AGENT_NOT_ALLOWED, TASK_NOT_FOUND, JOB_NOT_OPENED.';
revoke all on function public.operator_tasks(uuid) from public, anon, authenticated, service_role;

create function private.operator_steps(p_task_id uuid)
returns setof public.task_steps
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  v_task constant public.tasks := private.opened_task('read the steps', p_task_id);
begin
  return query select * from public.task_steps where task_id = v_task.id;
end;
$$;
comment on function private.operator_steps(uuid) is
  'See public.operator_steps(). Definer: it reads steps of all owners; opened_task() checks the caller.';

create function public.operator_steps(p_task_id uuid)
returns setof public.task_steps
language sql
stable
set search_path = ''
as $$
  select * from private.operator_steps(p_task_id);
$$;
comment on function public.operator_steps(uuid) is
  'The rows of task_steps of one task, whose job the caller has opened. For operators and the service. Raises INSUFFICIENT_SCOPE, AGENT_NOT_ALLOWED, TASK_NOT_FOUND, JOB_NOT_OPENED.';
revoke all on function public.operator_steps(uuid) from public, anon, authenticated, service_role;

create function private.operator_events(p_task_id uuid)
returns setof public.task_events
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  v_task constant public.tasks := private.opened_task('read the events', p_task_id);
begin
  return query select * from public.task_events where master_task_id = v_task.master_task_id;
end;
$$;
comment on function private.operator_events(uuid) is
  'See public.operator_events(). Definer: it reads events of all owners; opened_task() checks the caller.';

create function public.operator_events(p_task_id uuid)
returns setof public.task_events
language sql
stable
set search_path = ''
as $$
  select * from private.operator_events(p_task_id);
$$;
comment on function public.operator_events(uuid) is
  'The rows of task_events of the task''s whole job, which the caller has opened. For operators and the service. Raises INSUFFICIENT_SCOPE, AGENT_NOT_ALLOWED, TASK_NOT_FOUND, JOB_NOT_OPENED.';
revoke all on function public.operator_events(uuid) from public, anon, authenticated, service_role;

create function private.operator_calls(p_task_id uuid)
returns setof public.mcp_executions
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  v_task constant public.tasks := private.opened_task('read the calls', p_task_id);
  v_call public.mcp_executions;
begin
  for v_call in select * from public.mcp_executions where task_id = v_task.id loop
    -- Whoever has the token may grade the call.
    v_call.feedback_token := null;
    return next v_call;
  end loop;
end;
$$;
comment on function private.operator_calls(uuid) is
  'See public.operator_calls(). Definer: it reads calls of all users; opened_task() checks the caller.';

create function public.operator_calls(p_task_id uuid)
returns setof public.mcp_executions
language sql
stable
set search_path = ''
as $$
  select * from private.operator_calls(p_task_id);
$$;
comment on function public.operator_calls(uuid) is
  'The rows of mcp_executions of one task, whose job the caller has opened, without their feedback tokens. For operators and the service. Raises INSUFFICIENT_SCOPE, AGENT_NOT_ALLOWED, TASK_NOT_FOUND, JOB_NOT_OPENED.';
revoke all on function public.operator_calls(uuid) from public, anon, authenticated, service_role;
grant execute on function private.operator_tasks(uuid), public.operator_tasks(uuid), private.operator_steps(uuid),
  public.operator_steps(uuid), private.operator_events(uuid), public.operator_events(uuid),
  private.operator_calls(uuid), public.operator_calls(uuid)
  to authenticated, service_role;

create function private.is_opened_job_file(p_object_name text)
returns boolean
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  return exists (
    select from public.tasks as task
    where task.storage_paths @> array[p_object_name] and task.storage_paths <> '{}'
      and private.may_read_as_operator(task)
  );
end;
$$;
comment on function private.is_opened_job_file(text) is
  'True when a task of a job that the calling operator has opened refers to the object. Definer, like is_own_job_file().';
grant execute on function private.is_opened_job_file(text) to authenticated;

create policy "operators read the files of the jobs that they opened" on storage.objects
  for select to authenticated
  using (
    -- For other users, one check of the caller a statement.
    bucket_id = 'supaswarm-data' and (select private.is_operator()) and private.is_opened_job_file(name)
  );

-- Who looked ------------------------------------------------------------------------------------

create function private.list_operator_acts(p_task_id uuid)
returns table (
  id bigint, at timestamptz, operator_id uuid, operator_email text, act text, task_id uuid, reason text,
  open_until timestamptz
)
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  v_task constant public.tasks := private.readable_task(p_task_id);
begin
  return query
    select noted.id, noted.at, noted.operator_id, private.email_of(noted.operator_id), noted.act, noted.task_id, noted.reason,
      (noted.details ->> 'open_until')::timestamptz
    from private.operator_acts as noted
    where noted.master_task_id = v_task.master_task_id
    order by noted.id desc;
end;
$$;
comment on function private.list_operator_acts(uuid) is
  'See public.list_operator_acts(). Definer: no role has a right to the table; readable_task() checks the caller.';

create function public.list_operator_acts(p_task_id uuid)
returns table (
  id bigint, at timestamptz, operator_id uuid, operator_email text, act text, task_id uuid, reason text,
  open_until timestamptz
)
language sql
stable
set search_path = ''
as $$
  select * from private.list_operator_acts(p_task_id);
$$;
comment on function public.list_operator_acts(uuid) is
  'What operators did with the job of a task, newest first: who opened, cancelled or retried it, when and why, and until when it is open. operator_id is null for the service, operator_email also for a deleted account. For the owner, the owner''s OAuth clients with the scope swarm:run, operators who opened the job, and the service. Raises TASK_NOT_FOUND, JOB_NOT_OPENED, INSUFFICIENT_SCOPE.';
revoke all on function public.list_operator_acts(uuid) from public, anon, authenticated, service_role;
grant execute on function private.list_operator_acts(uuid), public.list_operator_acts(uuid)
  to authenticated, service_role;
