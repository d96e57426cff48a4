-- Model calls that were cut off: an estimate of their cost is recorded. The next call of the step is not streamed,
-- and after a second cut it runs in a worker that does nothing else.

create function private.is_calling_model(p_task_id uuid)
returns boolean
language plpgsql
stable
set search_path = ''
set enable_seqscan = off
as $$
begin
  return exists (
    select from public.task_steps where task_id = p_task_id and kind = 'model' and state = 'started'
  );
end;
$$;
comment on function private.is_calling_model(uuid) is 'True while a model call of the task is running.';

create function private.key_source_of(p_user_id uuid, p_provider_id uuid)
returns text
language plpgsql
stable
set search_path = ''
as $$
begin
  return case
    when exists (
      select from public.user_provider_keys where user_id = p_user_id and provider_id = p_provider_id
    ) then 'user'
    when (select requires_api_key from public.llm_providers where id = p_provider_id) then 'organisation'
    else 'none'
  end;
end;
$$;
comment on function private.key_source_of(uuid, uuid) is 'Whose API key most likely paid for a call, when the call itself did not report it.';

create function private.utf16_length(p_text text)
returns int
language sql
immutable
set search_path = ''
as $$
  select length(p_text) + regexp_count(p_text, '[\U00010000-\U0010FFFF]');
$$;
comment on function private.utf16_length(text) is 'The number of UTF-16 code units of a text, in which model.delta counts.';

create function private.cut_text(p_task_id uuid, p_seq int, p_since timestamptz)
returns text
language plpgsql
stable
set search_path = ''
as $$
declare
  -- A longer search would cost more than the text is worth.
  v_max_seconds constant int := 3600;
  v_text text := '';
  v_piece record;
begin
  for v_piece in
    select text_offset, text
    from private.streamed_text(
      p_task_id, least(v_max_seconds, ceil(extract(epoch from clock_timestamp() - p_since))))
    where step_seq = p_seq
  loop
    if v_piece.text_offset = 0 then
      v_text := v_piece.text;
    elsif v_piece.text_offset = private.utf16_length(v_text) then
      v_text := v_text || v_piece.text;
    end if;
  end loop;
  return nullif(v_text, '');
end;
$$;
comment on function private.cut_text(uuid, int, timestamptz) is
  'The text that a model call has streamed since it began, from the messages that were sent; null for none.';

create function private.book_cut_call(p_task_id uuid, p_cut_call jsonb)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_task public.tasks;
  v_step public.task_steps;
  v_provider_id uuid;
  v_usage jsonb;
  v_text text;
begin
  select * into v_step
  from public.task_steps
  where task_id = p_task_id and seq = (p_cut_call ->> 'seq')::int and kind = 'model' and state = 'started';
  if not found then
    return;
  end if;
  select * into v_task from public.tasks where id = p_task_id;
  select provider_id into v_provider_id from public.agents where id = v_task.agent_id;
  v_usage := jsonb_build_object(
    'provider_id', v_provider_id,
    'model', coalesce(v_step.name, 'unknown'),
    'input_tokens', (p_cut_call ->> 'input_tokens')::bigint,
    'output_tokens', (p_cut_call ->> 'output_tokens')::bigint,
    'key_source', private.key_source_of(v_task.created_by, v_provider_id),
    'is_estimate', true
  );
  perform private.end_job_reservations(p_task_id);
  perform private.record_usage(v_usage || jsonb_build_object(
    'user_id', v_task.created_by, 'task_id', p_task_id, 'step_seq', v_step.seq, 'agent_slug', v_task.agent_slug,
    'agent_revision', v_task.agent_revision));
  -- A worker that lives knows the text.
  v_text := left(coalesce(p_cut_call ->> 'text', private.cut_text(p_task_id, v_step.seq, v_step.started_at)), 100000);
  if v_text is not null then
    update public.task_steps
    set output = jsonb_build_object('text', v_text, 'is_partial', true)
    where task_id = p_task_id and seq = v_step.seq;
  end if;
  perform private.emit_event(p_task_id, v_task.master_task_id, 'model.interrupted', jsonb_strip_nulls(jsonb_build_object(
    'step_seq', v_step.seq, 'name', v_step.name, 'usage', v_usage, 'text', v_text)));
end;
$$;
comment on function private.book_cut_call(uuid, jsonb) is
  'Records the estimated usage {seq, input_tokens, output_tokens, text} of a model call whose answer is lost, also on its job, and emits model.interrupted. Keeps the text that had arrived as the output of the step, until the call is repeated. The caller holds the task.';

create function private.record_cut_call(p_task_id uuid, p_cut_call jsonb)
returns void
language plpgsql
set search_path = ''
as $$
begin
  perform private.book_cut_call(p_task_id, p_cut_call);
  update public.task_steps
  set interruptions = interruptions + 1
  where task_id = p_task_id and seq = (p_cut_call ->> 'seq')::int and kind = 'model' and state = 'started';
  -- Once more beside others, without streaming, which costs less CPU; then alone.
  update public.tasks set runs_exclusively = true
  where id = p_task_id and finished_at is null and exists (
    select from public.task_steps
    where task_id = p_task_id and kind = 'model' and state = 'started' and interruptions > 1
  );
end;
$$;
comment on function private.record_cut_call(uuid, jsonb) is
  'Records a model call that ended with its worker. After the second time, the next call of the step runs alone in a worker. The caller holds the task.';

create function private.lose_call(p_task_id uuid, p_epoch bigint, p_lease_seconds int, p_cut_call jsonb)
returns void
language plpgsql
set search_path = ''
as $$
begin
  perform private.hold_task(p_task_id, p_epoch, p_lease_seconds);
  perform private.book_cut_call(p_task_id, p_cut_call);
end;
$$;
comment on function private.lose_call(uuid, bigint, int, jsonb) is
  'Records a model call that its worker gave up because it was cancelled, timed out or returned an unreadable answer. Raises LEASE_LOST. Called by workers.';

create function private.estimated_cut_call(p_task public.tasks, p_ended_at timestamptz)
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
declare
  -- Typical values for English text.
  v_chars_per_token constant int := 4;
  v_tokens_per_second constant int := 50;
  v_agent public.agents;
  v_step public.task_steps;
  v_chars bigint;
  -- The step may have begun under an earlier claim, whose call is already recorded.
  v_claimed_at constant timestamptz := (
    select max(at) from private.task_events
    where task_id = p_task.id and type in ('task.started', 'task.resumed')
  );
begin
  select * into v_step
  from public.task_steps
  where task_id = p_task.id and kind = 'model' and state = 'started'
  order by seq desc limit 1;
  select * into v_agent from public.agents where id = p_task.agent_id;
  select coalesce(sum(length(coalesce(step.input::text, '')) + length(coalesce(step.output::text, ''))), 0)
  into v_chars
  from public.task_steps as step
  where step.task_id = p_task.id and step.seq < v_step.seq;
  v_chars := v_chars + length(p_task.input::text) + length(coalesce(v_agent.system_prompt, ''));
  return jsonb_build_object(
    'seq', v_step.seq,
    'input_tokens', ceil(v_chars::numeric / v_chars_per_token),
    'output_tokens', least(
      coalesce(v_agent.max_tokens, 100000),
      ceil(greatest(0, extract(epoch from p_ended_at - greatest(v_step.started_at, v_claimed_at))) * v_tokens_per_second)
    )
  );
end;
$$;
comment on function private.estimated_cut_call(public.tasks, timestamptz) is
  'Estimates what the running model call of a task had used by p_ended_at, the last heartbeat of its worker.';

create function private.return_expired_task(p_task_id uuid)
returns boolean
language plpgsql
set search_path = ''
as $$
declare
  v_task public.tasks;
begin
  select * into v_task
  from public.tasks
  where id = p_task_id
    and status = 'running'
    and lease_expires_at <= clock_timestamp()
    and cancel_requested_at is null
    and deliveries < max_deliveries
  for no key update skip locked;
  if not found then
    return false;
  end if;
  if private.is_calling_model(p_task_id) then
    perform private.record_cut_call(p_task_id, private.estimated_cut_call(v_task, coalesce(
      (select seen_at from private.workers where id = v_task.worker_id), v_task.lease_expires_at)));
  end if;
  perform private.requeue_task(v_task, null, 'worker ' || v_task.worker_id || ' died');
  return true;
end;
$$;
comment on function private.return_expired_task(uuid) is
  'Returns a task whose worker died to its original queue position, and records the model call that was running. False when it is not to be returned or is busy.';

create function private.return_expired_tasks(p_except_worker_id text default null)
returns int
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  -- A value, so that it is not computed for each running task.
  v_now constant timestamptz := clock_timestamp();
begin
  return private.run_for_each('return_expired_task', array(
    select id
    from public.tasks
    where status = 'running' and lease_expires_at <= v_now
      and worker_id is distinct from p_except_worker_id
      and cancel_requested_at is null and deliveries < max_deliveries
    order by lease_expires_at
    limit 50
  ));
end;
$$;
comment on function private.return_expired_tasks(text) is
  'Returns the tasks of dead workers to the lines. Called by the reconciler and by every heartbeat, whose own worker is alive.';
