-- How a worker ends its hold on a task: it completes, fails, retries or returns the task.

create function private.finish_task(
  p_task_id uuid, p_epoch bigint, p_output jsonb, p_output_reference jsonb default null, p_steps jsonb default '[]'
)
returns text
language plpgsql
set search_path = ''
as $$
declare
  v_task public.tasks;
begin
  if jsonb_array_length(p_steps) > 0 then
    -- Also of a task that is to be cancelled: its model calls cost money.
    perform private.lock_job_of(p_task_id);
    perform private.emit_events(private.write_checkpoint(private.hold_task(p_task_id, p_epoch, null), p_steps, '[]'));
  end if;
  v_task := private.hold_or_cancel(p_task_id, p_epoch);
  if v_task.id is null then
    return 'cancelled';
  end if;
  perform private.record_stored(
    v_task, p_output_reference ->> 'storage_path', (p_output_reference ->> 'bytes')::bigint
  );
  update public.tasks
  set storage_paths = storage_paths || (p_output_reference ->> 'storage_path')
  where id = p_task_id
    and p_output_reference is not null
    and not p_output_reference ->> 'storage_path' = any (storage_paths);
  if v_task.pending_children > 0 then
    -- Tasks that it created through a tool still run, and its end would cancel them.
    perform private.park(v_task, 'pending_subtask');
    return 'parked';
  end if;
  perform private.end_task(p_task_id, 'completed', p_output, p_output_reference => p_output_reference);
  return 'completed';
end;
$$;
comment on function private.finish_task(uuid, bigint, jsonb, jsonb, jsonb) is
  'Records the last results (p_steps, as for record_steps()) and completes a task, cancels it when cancellation was requested, or parks it while it has running subtasks (parked), after which its worker finishes it again. The parent receives p_output_reference instead of a large output. Raises LEASE_LOST. Called by workers.';

create function private.finish_without_waiters(p_finishes jsonb)
returns jsonb
language plpgsql
set search_path = ''
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_log_line constant text := private.log_line('completed');
  v_ids constant uuid[] := array(
    select task.id
    from public.tasks as task
    join jsonb_to_recordset(p_finishes) as finish (id uuid, held_epoch bigint, reference jsonb)
      on finish.id = task.id and finish.held_epoch = task.epoch
    where task.id = any (array(select listed.id from jsonb_to_recordset(p_finishes) as listed (id uuid)))
      -- A task that runs, and no other, has both. Named by its status, it could be looked up in the
      -- index of running tasks, among all that ran lately.
      and task.worker_id is not null
      and task.lease_expires_at is not null
      and task.cancel_requested_at is null
      and task.parent_id is null
      and task.pending_children = 0
      and nullif(finish.reference, 'null') is null
      -- Locks the jobs before any task: Postgres locks the rows after it has sorted them.
      and private.try_lock_job(task.master_task_id)
    order by task.master_task_id
    for no key update of task
  );
  v_held record;
  v_ended private.ended_steps;
  v_last private.ended_steps[] := '{}'::private.ended_steps[];
  v_events private.task_event[] := '{}'::private.task_event[];
  v_finished jsonb;
begin
  if cardinality(v_ids) = 0 then
    return '{}'::jsonb;
  end if;
  for v_held in
    select task, finish.steps
    from jsonb_to_recordset(p_finishes) as finish (id uuid, held_epoch bigint, steps jsonb)
    join public.tasks as task on task.id = finish.id and task.epoch = finish.held_epoch
    where task.id = any (v_ids) and jsonb_array_length(finish.steps) > 0
    order by task.master_task_id
  loop
    v_ended := private.end_steps(v_held.task, v_held.steps);
    v_last := array_append(v_last, v_ended);
    v_events := v_events || v_ended.events;
    perform private.debit_job(v_ended.master_task_id, (v_held.task).created_by,
      pg_column_size(v_held.steps) + pg_column_size(v_ended.events));
  end loop;
  perform private.emit_events(v_events);
  with ended as (
    update public.tasks as task
    set status = 'completed',
        output = coalesce(finish.output, 'null'),
        finished_at = clock_timestamp(),
        lease_expires_at = null,
        worker_id = null,
        logs = task.logs || v_log_line,
        -- What record_progress() does, so that the row is written once.
        deliveries = case when last is null then task.deliveries else 1 end,
        yields = case when last is null then task.yields else 0 end,
        runs_exclusively = last is null and task.runs_exclusively
    from jsonb_to_recordset(p_finishes) as finish (id uuid, held_epoch bigint, output jsonb)
    left join unnest(v_last) as last on last.task_id = finish.id
    where task.id = any (v_ids) and finish.id = task.id and finish.held_epoch = task.epoch
    returning task.id, task.master_task_id, task.epoch, task.output, task.warnings
  ),
  added as (
    update private.job_totals as total
    set input_tokens = total.input_tokens + last.input_tokens,
        output_tokens = total.output_tokens + last.output_tokens,
        cost_micro_usd = coalesce(total.cost_micro_usd + last.cost_micro_usd, total.cost_micro_usd, last.cost_micro_usd)
    from unnest(v_last) as last
    where total.master_task_id = last.master_task_id and last.input_tokens is not null
  ),
  emitted as (
    insert into private.task_events (task_id, master_task_id, type, payload)
    select ended.id, ended.master_task_id, 'task.completed',
      case when ended.output = 'null' then '{}' else private.output_of_event(ended.id, ended.output) end
        || case when ended.warnings = '[]' then '{}' else jsonb_build_object('warnings', ended.warnings) end
    from ended
    order by array_position(v_ids, ended.id)
  )
  select jsonb_object_agg(ended.id, ended.epoch) into v_finished from ended;
  return v_finished;
end;
$$;
comment on function private.finish_without_waiters(jsonb) is
  'Does what finish_task() does for many tasks, with one statement for each part but their last results. Only for tasks whose lease is held and whose end requires nothing else to be ended, notified or stored; a running task has no open review. Returns the epoch of each task that it ended, by id, and does not change the others.';

create function private.finish_tasks(p_finishes jsonb)
returns table (task_id uuid, epoch bigint, status text)
language plpgsql
set search_path = ''
as $$
#variable_conflict use_column
declare
  v_finish record;
  v_finished constant jsonb := private.finish_without_waiters(p_finishes);
  v_count int;
begin
  return query
    select finish.id, finish.held_epoch, 'completed'::text
    from jsonb_to_recordset(p_finishes) as finish (id uuid, held_epoch bigint)
    where v_finished @> jsonb_build_object(finish.id, finish.held_epoch);
  get diagnostics v_count = row_count;
  if v_count = jsonb_array_length(p_finishes) then
    return;
  end if;
  for v_finish in
    select finish.*, task.master_task_id
    from jsonb_to_recordset(p_finishes)
      as finish (id uuid, held_epoch bigint, output jsonb, reference jsonb, steps jsonb)
    left join public.tasks as task on task.id = finish.id
    where not v_finished @> jsonb_build_object(finish.id, finish.held_epoch)
    order by task.master_task_id, finish.id
  loop
    task_id := v_finish.id;
    epoch := v_finish.held_epoch;
    -- Waiting for a job's lock while holding others could deadlock, so skip busy jobs.
    continue when v_finish.master_task_id is not null and not private.try_lock_job(v_finish.master_task_id);
    begin
      status := private.finish_task(
        v_finish.id, v_finish.held_epoch, coalesce(v_finish.output, 'null'), nullif(v_finish.reference, 'null'),
        coalesce(v_finish.steps, '[]')
      );
    exception when sqlstate 'PT409' then
      status := 'lost';
    end;
    return next;
  end loop;
end;
$$;
comment on function private.finish_tasks(jsonb) is
  'Finishes tasks [{id, held_epoch, output, reference, steps}] in one transaction. A task whose lease is lost gets the status lost and does not affect the others. Tasks of busy jobs are missing from the result: finish them one by one. Called by workers.';

create function private.bury_task(p_task public.tasks, p_reason text, p_error jsonb)
returns void
language plpgsql
set search_path = ''
as $$
begin
  insert into private.dead_letters (task_id, reason, error) values (p_task.id, p_reason, p_error);
  perform private.end_task(p_task.id, 'failed', p_error => p_error);
end;
$$;
comment on function private.bury_task(public.tasks, text, jsonb) is
  'Fails a task that ran out of attempts or deliveries, and writes a dead letter. The caller holds the job''s lock.';

create function private.requeue_task(p_task public.tasks, p_visible_at timestamptz, p_log text)
returns void
language plpgsql
set search_path = ''
as $$
begin
  perform private.release_task(p_task.id, p_visible_at);
  update public.tasks
  set logs = logs || private.log_line(p_log)
  where id = p_task.id;
end;
$$;
comment on function private.requeue_task(public.tasks, timestamptz, text) is
  'Sets a running task back to pending, not to be claimed before p_visible_at (null: now).';

create function private.retry_delay_seconds(p_attempts int, p_retry_after_seconds numeric)
returns numeric
language sql
set search_path = ''
as $$
  -- Exponential backoff with full jitter, up to five minutes, added to the delay that the provider requested.
  select coalesce(p_retry_after_seconds, 0)
    + (random() * least(300, power(2, least(p_attempts, 16))))::numeric;
$$;
comment on function private.retry_delay_seconds(int, numeric) is 'Seconds to wait before the next attempt.';

create function private.outage_delay_seconds(p_attempts int, p_retry_after_seconds numeric)
returns numeric
language sql
set search_path = ''
as $$
  -- With half the jitter, each delay is longer than the one before until the maximum is reached.
  select greatest(
    coalesce(p_retry_after_seconds, 0),
    ((0.5 + random() / 2) * least(300, power(2, least(p_attempts, 16))))::numeric
  );
$$;
comment on function private.outage_delay_seconds(int, numeric) is
  'Seconds to wait before calling a provider that is down again.';

create function private.has_spent_attempts(p_task public.tasks, p_retry text)
returns boolean
language plpgsql
set search_path = ''
as $$
begin
  if p_task.attempts + 1 < coalesce(p_task.max_attempts, 5) then
    return false;
  end if;
  -- Without max_attempts, a provider that is down gets time to recover.
  return p_retry <> 'outage'
    or p_task.max_attempts is not null
    or p_task.failing_since < clock_timestamp() - interval '10 minutes';
end;
$$;
comment on function private.has_spent_attempts(public.tasks, text) is
  'True when a task that failed once more must become a dead letter. A task with null max_attempts waits at least ten minutes for a provider that is down.';

create function private.fail_task(
  p_task_id uuid, p_epoch bigint, p_error jsonb, p_retry text, p_retry_after_seconds numeric default null
)
returns table (status text, retry_at timestamptz)
language plpgsql
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
      secs => private.retry_delay_seconds(v_task.rate_limit_waits + 1, p_retry_after_seconds)::double precision);
  elsif private.has_spent_attempts(v_task, p_retry) then
    update public.tasks set attempts = attempts + 1 where id = p_task_id;
    perform private.bury_task(v_task, 'attempts_exhausted', p_error);
  else
    update public.tasks
    set attempts = attempts + 1, deliveries = 0, failing_since = coalesce(failing_since, clock_timestamp())
    where id = p_task_id;
    v_retry_at := clock_timestamp() + make_interval(secs => case p_retry
      when 'outage' then private.outage_delay_seconds(v_task.attempts + 1, p_retry_after_seconds)
      else private.retry_delay_seconds(v_task.attempts + 1, p_retry_after_seconds)
    end::double precision);
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
  'Fails a task (p_retry never) or returns it to the queue for a retry: backoff and outage count as an attempt, rate_limited only after 100 waits. Each delay is longer than the last, on average. After the last attempt the task becomes a dead letter. Raises LEASE_LOST. Called by workers.';

create function private.unfinished_call_error(p_seq text)
returns jsonb
language sql
immutable
set search_path = ''
as $$
  select jsonb_build_object(
    'code', 'MODEL_CALL_UNFINISHED',
    'message', format(
      'Cannot finish the model call of step %s: made alone by a worker, it still took longer than the worker had', p_seq),
    'hint', 'Give the agent a faster model or a smaller max_tokens, or let functions live longer (SUPASWARM_WALL_CLOCK_SECONDS as the plan has it).'
  );
$$;
comment on function private.unfinished_call_error(text) is
  'Why a task is not retried whose model call a whole worker could not finish.';

create function private.pause_after_yield(p_yields int)
returns interval
language sql
immutable
set search_path = ''
as $$
  select case when p_yields > 3 then least(interval '5 seconds' * 2 ^ (least(p_yields, 20) - 4), interval '1 minute') end;
$$;
comment on function private.pause_after_yield(int) is
  'How long a task waits after workers returned it so many times without an ended step; null for the first three, after which it has not yet run alone.';

create function private.begun_steps(p_task_id uuid)
returns text
language sql
stable
set search_path = ''
as $$
  select coalesce(string_agg(concat_ws(' ', step.kind, step.name), ', ' order by step.seq), 'nothing: it looked up its tools')
  from public.task_steps as step
  where step.task_id = p_task_id and step.state = 'started';
$$;
comment on function private.begun_steps(uuid) is 'What a task had begun when its worker returned it, for its log.';

create function private.delete_untried(p_task public.tasks, p_seqs jsonb)
returns void
language sql
set search_path = ''
as $$
  delete from public.task_steps
  where task_id = (p_task).id
    and kind = 'tool'
    and state = 'started'
    and epoch = (p_task).epoch
    and p_seqs @> to_jsonb(seq);
$$;
comment on function private.delete_untried(public.tasks, jsonb) is
  'Deletes the tool steps [seq] that the task''s worker wrote and certainly never sent, so that no review is requested for them.';

create function private.yield_task(
  p_task_id uuid, p_epoch bigint, p_untried jsonb default '[]', p_cut_call jsonb default null,
  p_pause jsonb default null
)
returns boolean
language plpgsql
set search_path = ''
as $$
declare
  v_task public.tasks := private.hold_or_cancel(p_task_id, p_epoch);
  v_is_held constant boolean := v_task.id is not null;
  v_has_progressed constant boolean := exists (
    select from public.task_steps where task_id = p_task_id and epoch = p_epoch and state <> 'started'
  );
  v_yields int;
  v_pause interval;
begin
  if p_cut_call is not null and p_pause is null then
    perform private.record_cut_call(p_task_id, p_cut_call);
  elsif p_cut_call is not null then
    perform private.book_cut_call(p_task_id, p_cut_call);
  end if;
  if not v_is_held then
    return false;
  end if;
  perform private.delete_untried(v_task, p_untried);
  if p_pause is not null then
    update public.tasks set deliveries = greatest(deliveries - 1, 0) where id = p_task_id;
    perform private.requeue_task(v_task, private.wait_for_pause(p_task_id, p_pause),
      concat_ws(' ', 'paused:', coalesce(p_pause ->> 'kind', 'returned by worker ' || v_task.worker_id), p_pause ->> 'name'));
    return true;
  end if;
  if (p_cut_call ->> 'is_final')::boolean and not v_has_progressed then
    perform private.bury_task(v_task, 'deliveries_exhausted', private.unfinished_call_error(p_cut_call ->> 'seq'));
    return true;
  end if;
  v_yields := case when v_has_progressed then 0 else v_task.yields + 1 end;
  v_pause := private.pause_after_yield(v_yields);
  update public.tasks
  set deliveries = greatest(deliveries - 1, 0), yields = v_yields, runs_exclusively = runs_exclusively or v_yields >= 3
  where id = p_task_id;
  perform private.requeue_task(v_task, clock_timestamp() + v_pause, 'released by worker ' || v_task.worker_id || case
    when v_pause is null then ''
    else format(', which ran it alone: no step ended in %s workers. Begun: %s', v_yields, private.begun_steps(p_task_id))
  end);
  return true;
end;
$$;
comment on function private.yield_task(uuid, bigint, jsonb, jsonb, jsonb) is
  'Returns a task to the queue with its checkpoint; false when it was to be cancelled and now is. This counts neither as an attempt nor as a delivery: an isolate that is full is no error of the task. The third time without an ended step it is to run alone; after that it waits longer each time, and its log says what it had begun. The tool steps p_untried [seq] were written but certainly never sent: they are deleted, so that no review is requested for them. p_cut_call {seq, input_tokens, output_tokens, is_final} is the model call that was running; is_final is true when it had a worker for itself. With p_pause, the task is returned because of a pause, which counts as nothing: {kind, name} of the pause that it waits for, {} for one that cuts running work. Raises LEASE_LOST. Called by workers.';
