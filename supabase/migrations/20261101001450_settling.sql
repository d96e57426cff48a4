-- How a worker lets go of a task: finished, failed, to be tried again, or handed back.

create function private.finish_task(
  p_task_id uuid, p_epoch bigint, p_output jsonb, p_output_reference jsonb default null
)
returns text
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  if (private.hold_or_cancel(p_task_id, p_epoch)).id is null then
    return 'cancelled';
  end if;
  update public.tasks
  set storage_paths = storage_paths || (p_output_reference ->> 'storage_path')
  where id = p_task_id
    and p_output_reference is not null
    and not p_output_reference ->> 'storage_path' = any (storage_paths);
  perform private.end_task(p_task_id, 'completed', p_output, p_output_reference => p_output_reference);
  return 'completed';
end;
$$;
comment on function private.finish_task(uuid, bigint, jsonb, jsonb) is
  'Completes a task, or cancels it when that was asked for. A parent receives p_output_reference instead of a large output. Raises LEASE_LOST. Called by workers.';
revoke all on function private.finish_task(uuid, bigint, jsonb, jsonb) from public;

create function private.bury_task(p_task public.tasks, p_reason text, p_error jsonb)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  insert into private.dead_letters (task_id, reason, error) values (p_task.id, p_reason, p_error);
  perform private.end_task(p_task.id, 'failed', p_error => p_error);
end;
$$;
comment on function private.bury_task(public.tasks, text, jsonb) is
  'Fails a task that ran out of attempts or deliveries and keeps a dead letter. The caller holds the job''s lock.';
revoke all on function private.bury_task(public.tasks, text, jsonb) from public;

create function private.requeue_task(p_task public.tasks, p_visible_at timestamptz, p_log text)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_message_time timestamptz := private.message_time(p_visible_at);
begin
  perform pgmq.delete(private.queue_of(p_task.priority), p_task.message_id);
  update public.tasks
  set status = 'pending',
      lease_expires_at = null,
      worker_id = null,
      run_after = p_visible_at,
      message_id = case
        when v_message_time is not null then private.send_message(id, priority, v_message_time) end,
      logs = logs || private.log_line(p_log)
  where id = p_task.id;
end;
$$;
comment on function private.requeue_task(public.tasks, timestamptz, text) is
  'Puts a running task back to pending, not to be claimed before p_visible_at (null: now).';
revoke all on function private.requeue_task(public.tasks, timestamptz, text) from public;

create function private.retry_delay_seconds(p_attempts int, p_retry_after_seconds numeric)
returns numeric
language sql
volatile
security invoker
set search_path = ''
as $$
  -- Exponential with full jitter, up to five minutes; what the other side asked for comes on top.
  select coalesce(p_retry_after_seconds, 0)
    + (random() * least(300, power(2, least(p_attempts, 16))))::numeric;
$$;
comment on function private.retry_delay_seconds(int, numeric) is 'Seconds to wait before the next attempt.';
revoke all on function private.retry_delay_seconds(int, numeric) from public;

create function private.fail_task(
  p_task_id uuid, p_epoch bigint, p_error jsonb, p_retry text, p_retry_after_seconds numeric default null
)
returns table (status text, retry_at timestamptz)
language plpgsql
volatile
security invoker
set search_path = ''
as $$
#variable_conflict use_column
declare
  v_max_rate_limit_waits constant int := 100;
  v_task public.tasks := private.hold_or_cancel(p_task_id, p_epoch);
  v_retry_at timestamptz;
begin
  if v_task.id is null then
    return query select 'cancelled'::text, null::timestamptz;
    return;
  end if;

  if p_retry = 'never' then
    perform private.end_task(p_task_id, 'failed', p_error => p_error);
  elsif p_retry = 'rate_limited' and v_task.rate_limit_waits < v_max_rate_limit_waits then
    update public.tasks
    set rate_limit_waits = rate_limit_waits + 1, deliveries = 0
    where id = p_task_id;
    v_retry_at := clock_timestamp() + make_interval(
      secs => private.retry_delay_seconds(1, p_retry_after_seconds)::double precision);
  elsif v_task.attempts + 1 >= v_task.max_attempts then
    update public.tasks set attempts = attempts + 1 where id = p_task_id;
    perform private.bury_task(v_task, 'attempts_exhausted', p_error);
  else
    update public.tasks set attempts = attempts + 1, deliveries = 0 where id = p_task_id;
    v_retry_at := clock_timestamp() + make_interval(
      secs => private.retry_delay_seconds(v_task.attempts + 1, p_retry_after_seconds)::double precision);
  end if;

  if v_retry_at is not null then
    perform private.requeue_task(v_task, v_retry_at, 'to be retried: ' || (p_error ->> 'code'));
    perform private.emit_event(p_task_id, v_task.master_task_id, 'task.retried',
      jsonb_build_object('error', p_error, 'retry_at', v_retry_at, 'reason', p_retry));
  end if;
  return query select task.status, v_retry_at from public.tasks as task where task.id = p_task_id;
end;
$$;
comment on function private.fail_task(uuid, bigint, jsonb, text, numeric) is
  'Ends a task with an error (p_retry never), or puts it back: backoff counts an attempt, rate_limited does not. Past the maximum the task is buried. Raises LEASE_LOST. Called by workers.';
revoke all on function private.fail_task(uuid, bigint, jsonb, text, numeric) from public;

create function private.yield_task(p_task_id uuid, p_epoch bigint)
returns boolean
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_task public.tasks := private.hold_or_cancel(p_task_id, p_epoch);
begin
  if v_task.id is null then
    return false;
  end if;
  update public.tasks set deliveries = greatest(deliveries - 1, 0) where id = p_task_id;
  perform private.requeue_task(v_task, null, 'handed back by worker ' || v_task.worker_id);
  return true;
end;
$$;
comment on function private.yield_task(uuid, bigint) is
  'Hands a task back with its checkpoint, at no attempt; false when it was to be cancelled and now is. Raises LEASE_LOST. Called by workers.';
revoke all on function private.yield_task(uuid, bigint) from public;
