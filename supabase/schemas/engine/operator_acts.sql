-- Actions of operators on other users' jobs. Each is recorded in the transaction that performs it.

create function private.operator_cancel_job(p_master_task_id uuid, p_reason text)
returns int
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_task public.tasks;
  v_reason text;
  v_count int;
begin
  perform private.assert_operator('cancel the job');
  v_reason := private.given_reason('cancel the job', p_reason);
  v_task := private.any_task(p_master_task_id);
  v_count := private.cancel_job(v_task, v_reason);
  perform private.record_act_on_task('job.cancelled', v_task, v_reason, jsonb_build_object('ended_tasks', v_count));
  return v_count;
end;
$$;
comment on function private.operator_cancel_job(uuid, text) is
  'Cancels any job. Definer: users may not write tasks or queues; assert_operator() checks the caller.';

create function public.operator_cancel_job(p_master_task_id uuid, p_reason text)
returns int
language sql
set search_path = ''
as $$
  select private.operator_cancel_job(p_master_task_id, p_reason);
$$;
comment on function public.operator_cancel_job(uuid, text) is
  'Cancels a job of any owner, as cancel_task() does for the caller''s own, and returns how many tasks that ends. The reason, of 1 to 2,000 characters, is in operator_acts and in the event. For operators and the service. Raises INSUFFICIENT_SCOPE, AGENT_NOT_ALLOWED, REASON_INVALID, TASK_NOT_FOUND, TASK_NOT_MASTER.';
revoke all on function public.operator_cancel_job(uuid, text) from public, anon, authenticated, service_role;
grant execute on function private.operator_cancel_job(uuid, text), public.operator_cancel_job(uuid, text)
  to authenticated, service_role;

create function private.operator_retry_task(p_task_id uuid, p_reason text)
returns text
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_task public.tasks;
  v_reason text;
  v_status text;
begin
  perform private.assert_operator('retry the task');
  v_reason := private.given_reason('retry the task', p_reason);
  v_task := private.any_task(p_task_id);
  v_status := private.reopen_task(p_task_id, v_reason);
  perform private.record_act_on_task('task.retried', v_task, v_reason, jsonb_build_object('was', v_task.status));
  return v_status;
end;
$$;
comment on function private.operator_retry_task(uuid, text) is
  'Retries any failed or cancelled task. Definer: users may not write tasks or queues; assert_operator() checks the caller.';

create function public.operator_retry_task(p_task_id uuid, p_reason text)
returns text
language sql
set search_path = ''
as $$
  select private.operator_retry_task(p_task_id, p_reason);
$$;
comment on function public.operator_retry_task(uuid, text) is
  'Retries a failed or cancelled task of any owner from its checkpoint, without counting toward the owner''s quota, and returns its status. The reason, of 1 to 2,000 characters, is in operator_acts and in the event. For operators and the service. Raises INSUFFICIENT_SCOPE, AGENT_NOT_ALLOWED, REASON_INVALID, TASK_NOT_FOUND, TASK_NOT_RETRYABLE.';
revoke all on function public.operator_retry_task(uuid, text) from public, anon, authenticated, service_role;
grant execute on function private.operator_retry_task(uuid, text), public.operator_retry_task(uuid, text)
  to authenticated, service_role;

create function private.operator_redrive(p_dead_letter_id bigint, p_reason text)
returns uuid
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_reason text;
  v_task_id uuid;
begin
  perform private.assert_operator('redrive the dead letter');
  v_reason := private.given_reason('redrive the dead letter', p_reason);
  v_task_id := private.redrive(p_dead_letter_id, v_reason);
  perform private.record_act_on_task('dead_letter.redriven', private.any_task(v_task_id), v_reason,
    jsonb_build_object('dead_letter_id', p_dead_letter_id));
  return v_task_id;
end;
$$;
comment on function private.operator_redrive(bigint, text) is
  'Retries the task of any dead letter. Definer: users may not write tasks or queues; assert_operator() checks the caller.';

create function public.operator_redrive(p_dead_letter_id bigint, p_reason text)
returns uuid
language sql
set search_path = ''
as $$
  select private.operator_redrive(p_dead_letter_id, p_reason);
$$;
comment on function public.operator_redrive(bigint, text) is
  'Retries the task of a dead letter and returns the task''s id. The reason, of 1 to 2,000 characters, is in operator_acts and in the event. For operators and the service. Raises INSUFFICIENT_SCOPE, AGENT_NOT_ALLOWED, REASON_INVALID, DEAD_LETTER_NOT_FOUND, TASK_NOT_RETRYABLE.';
revoke all on function public.operator_redrive(bigint, text) from public, anon, authenticated, service_role;
grant execute on function private.operator_redrive(bigint, text), public.operator_redrive(bigint, text)
  to authenticated, service_role;

-- Channels --------------------------------------------------------------------------------------

create function private.join_channel_as_operator(p_topic text)
returns boolean
language plpgsql
security definer
set search_path = ''
as $$
begin
  if private.task_id_of_channel(p_topic) is null or not exists (
    select from public.tasks as task
    where task.id = private.task_id_of_channel(p_topic)
      and (split_part(p_topic, ':', 2) = 'task' or task.parent_id is null)
      and private.may_read_as_operator(task)
  ) then
    return false;
  end if;
  perform private.expect_receiver(p_topic);
  return true;
end;
$$;
comment on function private.join_channel_as_operator(text) is
  'True when the topic is the channel of a job that the calling operator has opened; operators may not join the channels of other users. Realtime calls it when a client joins and again with each new token. Definer, like join_channel().';
grant execute on function private.join_channel_as_operator(text) to authenticated;

create policy "operators receive the broadcasts of the jobs that they opened" on realtime.messages
  for select to authenticated
  using (extension = 'broadcast' and private.join_channel_as_operator((select realtime.topic())));
