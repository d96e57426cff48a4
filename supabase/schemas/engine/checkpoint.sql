-- The transcript is the checkpoint: a step is written as started before it runs, and as ended afterwards.

create function private.record_data_flows(p_master_task_id uuid, p_data_flows jsonb)
returns void
language plpgsql
set search_path = ''
as $$
begin
  update private.job_totals as total
  set data_flows = array(
    select distinct flow from unnest(
      total.data_flows || array(select jsonb_array_elements_text(p_data_flows))
    ) as flow
  )
  where total.master_task_id = p_master_task_id
    and not to_jsonb(total.data_flows) @> p_data_flows;
end;
$$;
comment on function private.record_data_flows(uuid, jsonb) is
  'Records the data flows of a called tool for the whole job, because the result of a subtask carries the data that it read.';

create function private.start_steps(p_task public.tasks, p_steps jsonb, p_events private.task_event[] default '{}')
returns private.task_event[]
language plpgsql
set search_path = ''
as $$
declare
  v_step record;
  v_budget jsonb := p_task.budget;
  v_max_steps numeric;
  v_events private.task_event[] := p_events;
begin
  if jsonb_array_length(p_steps) = 0 then
    return v_events;
  end if;
  if p_task.parent_id is not null then
    select budget into v_budget from public.tasks where id = p_task.master_task_id;
  end if;
  v_max_steps := private.cap(v_budget, 'max_steps', 1000);
  for v_step in
    select * from jsonb_to_recordset(p_steps) as step (seq int, kind text, name text, call_id text, input jsonb)
    order by seq
  loop
    if v_step.seq > v_max_steps then
      perform private.raise_error('STEPS_EXCEEDED',
        format('Cannot continue task %s: it has used all of its %s steps', p_task.id, v_max_steps),
        'Create the task with a larger max_steps in its budget, or split the work into subtasks.');
    end if;
    if v_step.kind = 'model' then
      perform private.assert_budget_allows_model_call(p_task);
    end if;
    -- No "on conflict", which writes more to the write-ahead log: the caller holds the task.
    continue when exists (select from public.task_steps where task_id = p_task.id and seq = v_step.seq);
    insert into public.task_steps (task_id, seq, kind, state, name, call_id, input, epoch)
    values (
      p_task.id, v_step.seq, v_step.kind, 'started', v_step.name, v_step.call_id, v_step.input,
      p_task.epoch
    );
    if v_step.input -> 'data_flows' <> '[]' then
      perform private.record_data_flows(p_task.master_task_id, v_step.input -> 'data_flows');
    end if;
    if v_step.kind in ('model', 'tool') then
      v_events := private.add_step_event(v_events, p_task.id, p_task.master_task_id, v_step.kind || '.started', v_step.seq);
    elsif v_step.kind = 'guardrail' then
      -- A retry replaces the step, see delete_verdicts(), so the event has what it needs.
      v_events := array_append(v_events, row(p_task.id, p_task.master_task_id, 'tool.started', jsonb_build_object(
        'step_seq', v_step.seq, 'name', v_step.name, 'call_id', v_step.call_id,
        'server', v_step.input -> 'server', 'guardrail', v_step.input -> 'stage'
      ))::private.task_event);
    end if;
  end loop;
  return v_events;
end;
$$;
comment on function private.start_steps(public.tasks, jsonb, private.task_event[]) is
  'Writes intents [{seq, kind, name, call_id, input}] and returns p_events with their events, for emit_events(). Existing rows are not changed. Raises STEPS_EXCEEDED, BUDGET_EXCEEDED, PRICE_UNKNOWN.';

create function private.step_ended_event(p_kind text, p_name text, p_state text)
returns text
language plpgsql
immutable
set search_path = ''
as $$
begin
  return case
    when p_kind = 'model' then 'model.completed'
    when p_kind in ('tool', 'guardrail') then case p_state when 'done' then 'tool.completed' else 'tool.failed' end
    when p_state = 'done' and p_name = 'load_skill' then 'skill.loaded'
    when p_state = 'done' and p_name = 'save_intermediate_data' then 'data.saved'
    when p_state = 'failed' then 'tool.failed'
  end;
end;
$$;
comment on function private.step_ended_event(text, text, text) is
  'The event for a step that ended, or null when another function emits it.';

create function private.stored_by_step(p_kind text, p_output jsonb, p_storage_path text)
returns table (path text, byte_count bigint)
language sql
immutable
set search_path = ''
as $$
  select p_storage_path, (p_output ->> 'bytes')::bigint
  where p_storage_path is not null
  union all
  -- Only tool steps: other steps may repeat the files that a tool returned.
  select file ->> 'path', (file ->> 'bytes')::bigint
  from jsonb_array_elements(case when p_kind = 'tool' then p_output -> 'files' end) as file;
$$;
comment on function private.stored_by_step(text, jsonb, text) is
  'The objects that a step stored: a large value, and the files [{path, media_type, bytes}] that a tool returned.';

create function private.with_tool_end(p_warnings jsonb, p_step jsonb)
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
declare
  c_most constant int := 20;
  -- The call names the server: a result may end a step whose intent is already stored.
  v_server constant text := p_step #>> '{input,server}';
  v_others constant jsonb := coalesce((
    select jsonb_agg(warning order by place)
    from jsonb_array_elements(p_warnings) with ordinality as listed (warning, place)
    where warning ->> 'server' is distinct from v_server
      or warning ? 'tool' and warning ->> 'tool' is distinct from p_step ->> 'name'
  ), '[]');
begin
  if p_step ->> 'state' <> 'failed' then
    return v_others;
  end if;
  if jsonb_array_length(v_others) >= c_most then
    return p_warnings;
  end if;
  return v_others || jsonb_strip_nulls(jsonb_build_object(
    'server', v_server,
    'tool', p_step ->> 'name',
    'code', p_step #>> '{output,error_code}',
    'message', left(p_step #>> '{output,text}', 500),
    'step_seq', p_step -> 'seq'
  ));
end;
$$;
comment on function private.with_tool_end(jsonb, jsonb) is
  'The warnings of a task after a tool call ended: a failure is listed once per tool, with the last error, until the tool succeeds.';

create function private.with_answer_end(p_warnings jsonb, p_step jsonb)
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
declare
  v_output constant jsonb := p_step -> 'output';
  v_warnings jsonb := jsonb_path_query_array(
    p_warnings, '$[*] ? (!(@.code starts with "MODEL_OUTPUT_" && !exists (@.tool)))');
begin
  if v_output ->> 'finish_reason' = 'length' then
    v_warnings := v_warnings || jsonb_build_object(
      'code', 'MODEL_OUTPUT_CUT',
      'message', 'The model''s answer was cut at the output limit'
        || coalesce(' of ' || (v_output ->> 'cut_at_tokens') || ' tokens', ''),
      'step_seq', p_step -> 'seq'
    );
  end if;
  if v_output ? 'unread' then
    v_warnings := v_warnings || jsonb_build_object(
      'code', 'MODEL_OUTPUT_INVALID',
      'message', left('The model''s answer lacks what could not be read: '
        || (select string_agg(what, '; ') from jsonb_array_elements_text(v_output -> 'unread') as what), 500),
      'step_seq', p_step -> 'seq'
    );
  end if;
  return v_warnings;
end;
$$;
comment on function private.with_answer_end(jsonb, jsonb) is
  'The warnings of a task after an answer of its model: that it was cut, or that parts of it could not be read, is listed until an answer is whole.';

create type private.ended_steps as (
  task_id uuid,
  master_task_id uuid,
  events private.task_event[],
  input_tokens bigint,
  output_tokens bigint,
  cost_micro_usd bigint
);
comment on type private.ended_steps is
  'What ended steps of a task leave to the transaction: their events, and the sums of their model calls, which are null when there was none. A null cost: none of them has a price.';

create function private.end_steps(p_task public.tasks, p_steps jsonb)
returns private.ended_steps
language plpgsql
set search_path = ''
as $$
declare
  v_step record;
  v_type text;
  v_is_skill boolean;
  v_output jsonb;
  v_usage jsonb;
  v_has_files boolean;
  v_warnings jsonb := p_task.warnings;
  v_used public.usage_events;
  v_ended private.ended_steps := row(p_task.id, p_task.master_task_id, '{}', null, null, null);
begin
  for v_step in
    select *
    from jsonb_to_recordset(p_steps) as step (
      seq int, kind text, state text, name text, call_id text, input jsonb, output jsonb,
      usage jsonb, data jsonb, storage_path text
    )
    order by seq
  loop
    v_is_skill := v_step.kind = 'system' and v_step.name = 'load_skill' and v_step.state = 'done';
    v_output := case when v_is_skill
      -- The text of a skill is visible to its authors, not to the owners of tasks.
      then v_step.output - 'text' else coalesce(v_step.output, 'null') end;
    v_usage := v_step.usage - '{provider_id,key_source}'::text[];
    update public.task_steps
    set state = v_step.state,
        output = v_output,
        usage = v_usage,
        epoch = p_task.epoch,
        ended_at = clock_timestamp(),
        -- A call whose prompt was too long may have become a summary, or may have omitted more.
        input = case kind when 'model' then v_step.input else input end
    where task_id = p_task.id and seq = v_step.seq and state = 'started';
    if not found then
      insert into public.task_steps (
        task_id, seq, kind, state, name, call_id, input, output, usage, epoch, ended_at
      )
      values (
        p_task.id, v_step.seq, v_step.kind, v_step.state, v_step.name, v_step.call_id, v_step.input,
        v_output, v_usage, p_task.epoch, clock_timestamp()
      )
      on conflict (task_id, seq) do nothing;
    end if;
    -- A step that has ended keeps its first result.
    continue when not found;
    if v_is_skill then
      insert into private.hidden_step_outputs (task_id, seq, output)
      values (p_task.id, v_step.seq, v_step.output);
    end if;

    if v_step.kind = 'model' and v_step.output -> 'provider_tool_calls' @> '[{"name": "web_search"}]' then
      perform private.record_data_flows(p_task.master_task_id, '["reads_outside"]');
    end if;
    if v_step.kind = 'tool' and (v_step.state = 'failed' or v_warnings <> '[]') then
      v_warnings := private.with_tool_end(v_warnings, to_jsonb(v_step));
    elsif v_step.kind = 'model'
        and (v_step.output ->> 'finish_reason' = 'length' or v_step.output ? 'unread' or v_warnings <> '[]') then
      v_warnings := private.with_answer_end(v_warnings, to_jsonb(v_step));
    end if;
    if v_step.usage is not null then
      v_used := private.insert_usage(v_step.usage || jsonb_build_object(
        'user_id', p_task.created_by, 'task_id', p_task.id, 'step_seq', v_step.seq, 'agent_slug', p_task.agent_slug,
        'agent_revision', p_task.agent_revision));
      v_ended.input_tokens := coalesce(v_ended.input_tokens, 0) + v_used.input_tokens;
      v_ended.output_tokens := coalesce(v_ended.output_tokens, 0) + v_used.output_tokens;
      v_ended.cost_micro_usd := coalesce(
        v_ended.cost_micro_usd + v_used.cost_micro_usd, v_ended.cost_micro_usd, v_used.cost_micro_usd);
    end if;
    v_has_files := v_step.kind = 'tool' and v_step.output ? 'files';
    if v_step.data is not null or v_step.storage_path is not null or v_has_files then
      update public.tasks
      set intermediate_data = intermediate_data || coalesce(v_step.data, '{}'),
          storage_paths = storage_paths || array(
            select path from private.stored_by_step(v_step.kind, v_step.output, v_step.storage_path)
            where path <> all (storage_paths)
          )
      where id = p_task.id;
      perform private.record_stored(p_task, 'data:' || entry.key, octet_length(entry.value::text))
      from jsonb_each(coalesce(v_step.data, '{}')) as entry;
      perform private.record_stored(p_task, stored.path, stored.byte_count)
      from private.stored_by_step(v_step.kind, v_step.output, v_step.storage_path) as stored;
    end if;
    v_type := private.step_ended_event(v_step.kind, v_step.name, v_step.state);
    if v_step.kind in ('model', 'tool') then
      v_ended.events := private.add_step_event(v_ended.events, p_task.id, p_task.master_task_id, v_type, v_step.seq);
    elsif v_type is not null then
      v_ended.events := array_append(v_ended.events, row(p_task.id, p_task.master_task_id, v_type, jsonb_build_object(
        'step_seq', v_step.seq,
        'name', v_step.name,
        'call_id', v_step.call_id,
        'guardrail', case v_step.kind when 'guardrail' then v_step.input -> 'stage' end,
        'error_code', v_step.output -> 'error_code',
        'skill_id', v_step.output -> 'skill_id',
        'key', v_step.output -> 'key',
        'storage_path', v_step.storage_path
      ))::private.task_event);
    end if;
  end loop;
  if v_warnings <> p_task.warnings then
    update public.tasks set warnings = v_warnings where id = p_task.id;
  end if;
  return v_ended;
end;
$$;
comment on function private.end_steps(public.tasks, jsonb) is
  'Writes results [{seq, kind, state, name, call_id, input, output, usage, data, storage_path}], and records their usage, data and files. The caller writes the events, and adds the usage to the job.';

create function private.begin_steps(p_task_id uuid, p_epoch bigint, p_lease_seconds int, p_steps jsonb)
returns table (seq int, state text, output jsonb)
language plpgsql
set search_path = ''
as $$
declare
  v_task constant public.tasks := private.hold_task(p_task_id, p_epoch, p_lease_seconds);
begin
  perform private.emit_events(private.start_steps(v_task, p_steps));
  perform private.debit_job(v_task.master_task_id, v_task.created_by, pg_column_size(p_steps));
  return query
    select step.seq, step.state, coalesce(hidden.output, step.output)
    from public.task_steps as step
    left join private.hidden_step_outputs as hidden on hidden.task_id = step.task_id and hidden.seq = step.seq
    join jsonb_to_recordset(p_steps) as intent (seq int) on intent.seq = step.seq
    where step.task_id = p_task_id
    order by step.seq;
end;
$$;
comment on function private.begin_steps(uuid, bigint, int, jsonb) is
  'Writes intents and returns the stored steps. Raises LEASE_LOST and the codes of start_steps(). Called by workers.';

create function private.begin_again(p_task_id uuid, p_epoch bigint, p_lease_seconds int, p_seqs jsonb)
returns void
language plpgsql
set search_path = ''
as $$
begin
  perform private.hold_task(p_task_id, p_epoch, p_lease_seconds);
  update public.task_steps as step
  set epoch = p_epoch, started_at = clock_timestamp()
  where step.task_id = p_task_id
    and step.state = 'started'
    and step.epoch <> p_epoch
    and p_seqs @> to_jsonb(step.seq);
end;
$$;
comment on function private.begin_again(uuid, bigint, int, jsonb) is
  'Records that started steps [seq] run again with an approval. This uses the approval up: if this worker dies too, the approval cannot be used again. Raises LEASE_LOST. Called by workers.';

create function private.record_progress(p_task public.tasks, p_goes_on boolean)
returns void
language plpgsql
set search_path = ''
as $$
begin
  -- The caller has locked the row that it passes.
  if p_task.deliveries <= 1
    and not p_task.runs_exclusively
    and p_task.yields = 0
    and not (p_goes_on and (p_task.attempts > 0 or p_task.rate_limit_waits > 0))
  then
    return;
  end if;
  update public.tasks
  set deliveries = 1,
      yields = 0,
      runs_exclusively = false,
      attempts = case when p_goes_on then 0 else attempts end,
      failing_since = case when p_goes_on then null else failing_since end,
      rate_limit_waits = case when p_goes_on then 0 else rate_limit_waits end
  where id = p_task.id;
end;
$$;
comment on function private.record_progress(public.tasks, boolean) is
  'Resets the counters of a task after a step ended: its earlier deliveries were not a crash loop. When the next step begins (p_goes_on), it begins with all its attempts. A step that has ended never runs again, so the resets are bounded by the number of steps.';

create function private.write_checkpoint(p_task public.tasks, p_steps jsonb, p_next jsonb)
returns private.task_event[]
language plpgsql
set search_path = ''
as $$
declare
  v_ended constant private.ended_steps := private.end_steps(p_task, p_steps);
  v_events private.task_event[] := v_ended.events;
begin
  if v_ended.input_tokens is not null then
    perform private.add_usage(p_task.master_task_id, v_ended.input_tokens, v_ended.output_tokens, v_ended.cost_micro_usd);
  end if;
  if jsonb_array_length(p_steps) > 0 then
    perform private.record_progress(p_task, jsonb_array_length(p_next) > 0);
  end if;
  if p_task.cancel_requested_at is null then
    v_events := private.start_steps(p_task, p_next, v_events);
  end if;
  perform private.debit_job(p_task.master_task_id, p_task.created_by,
    pg_column_size(p_steps) + coalesce(pg_column_size(p_next), 0) + coalesce(pg_column_size(v_events), 0));
  return v_events;
end;
$$;
comment on function private.write_checkpoint(public.tasks, jsonb, jsonb) is
  'Stores results and the next intents of a task, and returns their events for emit_events(). The caller holds the task. Raises the codes of start_steps().';

create function private.record_steps(
  p_task_id uuid, p_epoch bigint, p_lease_seconds int, p_steps jsonb, p_next jsonb default '[]'
)
returns boolean
language plpgsql
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
declare
  v_task constant public.tasks := private.hold_task(p_task_id, p_epoch, p_lease_seconds);
begin
  perform private.emit_events(private.write_checkpoint(v_task, p_steps, p_next));
  return v_task.cancel_requested_at is not null;
end;
$$;
comment on function private.record_steps(uuid, bigint, int, jsonb, jsonb) is
  'The checkpoint: stores results and the next intents in one transaction. Returns true when the task is to be cancelled. Raises LEASE_LOST and the codes of start_steps(). Called by workers.';

create function private.record_checkpoints(p_checkpoints jsonb, p_lease_seconds int)
returns table (place bigint, task_id uuid, is_cancelled boolean)
language plpgsql
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
declare
  v_checkpoint record;
  v_task public.tasks;
  v_events private.task_event[] := '{}'::private.task_event[];
begin
  for v_checkpoint in
    -- One of a job, and jobs in one order: a transaction that held the totals of a job and then waited for another
    -- of its tasks could deadlock.
    select distinct on (task.master_task_id) checkpoint.*
    from rows from (
      jsonb_to_recordset(p_checkpoints) as (id uuid, held_epoch bigint, steps jsonb, next jsonb)
    ) with ordinality as checkpoint (id, held_epoch, steps, next, place)
    join public.tasks as task on task.id = checkpoint.id
    order by task.master_task_id, checkpoint.place
  loop
    -- A task that another session holds keeps no other one waiting: it is recorded alone.
    perform from public.tasks where id = v_checkpoint.id for no key update skip locked;
    continue when not found;
    v_task := private.hold_task(v_checkpoint.id, v_checkpoint.held_epoch, p_lease_seconds);
    v_events := v_events || private.write_checkpoint(v_task, v_checkpoint.steps, v_checkpoint.next);
    place := v_checkpoint.place;
    task_id := v_task.id;
    is_cancelled := v_task.cancel_requested_at is not null;
    return next;
  end loop;
  perform private.emit_events(v_events);
end;
$$;
comment on function private.record_checkpoints(jsonb, int) is
  'Does what record_steps() does for many tasks [{id, held_epoch, steps, next}] in one transaction: all of it, or nothing when one of them raises. The result names each that was recorded by its place in the array, from 1. The others have to be recorded alone: the second one of a job, and a task that another session holds. Called by workers.';
