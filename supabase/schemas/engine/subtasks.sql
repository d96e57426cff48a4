-- Handoffs: a task creates subtasks for named agents, which run in parallel, and waits for them. Also
-- tasks that agents create through tools, which belong to the same job.

create function private.assert_subtask_caps(p_task public.tasks, p_new_children int)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_max_children constant int := 1000;
  v_budget jsonb := (select budget from public.tasks where id = p_task.master_task_id);
  v_budget_job_id constant uuid := private.budget_job_of(p_task.master_task_id);
  v_max_depth numeric := private.cap(v_budget, 'max_depth', 32);
  v_max_tasks numeric := private.cap(v_budget, 'max_tasks', 10000);
  -- Forks of one job share this cap.
  v_max_shared_tasks constant numeric := private.cap(
    (select budget from public.tasks where id = v_budget_job_id), 'max_tasks', null);
begin
  if p_task.depth + 1 > v_max_depth then
    perform private.raise_error('DEPTH_EXCEEDED',
      format('Cannot create subtasks at depth %s: the maximum depth of the job is %s', p_task.depth + 1, v_max_depth),
      'Let the agent do the work itself, or create the job with a larger max_depth.');
  end if;
  if (select count(*) from public.tasks where parent_id = p_task.id) + p_new_children > v_max_children then
    perform private.raise_error('CHILDREN_EXCEEDED',
      format('Cannot create %s more subtasks: a task may have at most %s', p_new_children, v_max_children),
      'Group the work into fewer subtasks, or let subtasks create their own.');
  end if;
  if (select task_count from private.job_totals where master_task_id = p_task.master_task_id)
      + p_new_children > v_max_tasks
  then
    perform private.raise_error('TASKS_EXCEEDED',
      format('Cannot create %s more subtasks: the job may have at most %s tasks', p_new_children, v_max_tasks),
      'Create the job with a larger max_tasks, or with null for no cap.');
  end if;
  if v_max_shared_tasks is not null then
    perform private.lock_shared_budget(v_budget_job_id);
    if (private.shared_spending(v_budget_job_id)).task_count + p_new_children > v_max_shared_tasks then
      perform private.raise_error('TASKS_EXCEEDED',
        format('Cannot create %s more subtasks: the job and its forks together may have at most %s tasks',
          p_new_children, v_max_shared_tasks),
        'Create a new job with a larger max_tasks, or with null for no cap.');
    end if;
  end if;
  perform private.assert_may_wait(p_task.created_by, p_new_children, format('create %s more subtasks', p_new_children));
end;
$$;
comment on function private.assert_subtask_caps(public.tasks, int) is
  'Raises DEPTH_EXCEEDED, CHILDREN_EXCEEDED, TASKS_EXCEEDED or QUOTA_EXCEEDED. The caller holds the job''s lock.';

create function private.handoff_error(
  p_agent_id uuid, p_target_slug text, p_user_id uuid, p_input jsonb, p_problem text default null
)
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
declare
  v_target public.agents;
  v_problem text;
begin
  select * into v_target from public.agents where slug = p_target_slug;
  v_problem := coalesce(p_problem, private.input_problem(v_target, p_input));
  return case
    when v_target.id is null then jsonb_build_object(
      'code', 'AGENT_NOT_FOUND',
      'message', format('Cannot hand off: no agent has the slug %L', p_target_slug)
        || coalesce('. Did you mean ' || private.nearest_agents(p_target_slug, p_user_id) || '?', ''))
    when not v_target.is_active then jsonb_build_object(
      'code', 'AGENT_INACTIVE',
      'message', format('Cannot hand off: the agent %L is not active', p_target_slug))
    when not private.may_use_agent(v_target.id, p_user_id) then jsonb_build_object(
      'code', 'AGENT_HANDOFF_FORBIDDEN',
      'message', format('Cannot hand off: the owner of this job may not use the agent %L', p_target_slug))
    when not private.can_hand_off(p_agent_id, v_target.id, p_user_id) then jsonb_build_object(
      'code', 'AGENT_HANDOFF_FORBIDDEN',
      'message', format('Cannot hand off: this agent may not hand off to %L', p_target_slug))
    when v_problem is not null then jsonb_build_object(
      'code', 'TASK_INPUT_INVALID',
      'message', format('Cannot hand off: %s, as the agent %L requires', v_problem, p_target_slug))
  end;
end;
$$;
comment on function private.handoff_error(uuid, text, uuid, jsonb, text) is
  'Why an agent that works for a user (null: the service) may not hand off this input to this slug; null when it may. p_problem is what the caller has found wrong with the input.';

create function private.input_schemas(p_slugs jsonb)
returns table (slug text, input_schema jsonb)
language sql
stable
set search_path = ''
as $$
  select agent.slug, agent.input_schema
  from public.agents as agent
  where agent.slug in (select jsonb_array_elements_text(input_schemas.p_slugs)) and agent.input_schema is not null;
$$;
comment on function private.input_schemas(jsonb) is
  'The input_schema of those of these agents [slug] that have one. Called by workers, which check the inputs of subtasks.';

create function private.spawn_one(
  p_parent public.tasks, p_seq int, p_agent_slug text, p_input jsonb, p_traceparent text,
  p_options jsonb default '{}'
)
returns uuid
language plpgsql
set search_path = ''
as $$
declare
  v_agent_id uuid;
  v_revision int;
  v_runner text;
  v_id uuid := private.new_id();
  v_priority text := coalesce(p_options ->> 'priority', p_parent.priority);
  v_run_after timestamptz := (p_options ->> 'run_after')::timestamptz;
  v_changes jsonb;
begin
  select id, revision, coalesce(runner, '') into v_agent_id, v_revision, v_runner
  from public.agents where slug = p_agent_slug;
  if v_agent_id = p_parent.agent_id then
    v_changes := p_parent.agent_changes;
  end if;
  if v_revision > 1 then
    v_revision := private.revision_of_job(v_agent_id, p_parent.master_task_id);
  end if;
  insert into public.tasks (
    id, master_task_id, parent_id, parent_step_seq, agent_id, agent_slug, agent_revision, agent_changes, runner, input, created_by,
    idempotency_key, run_after, priority, concurrency_key, metadata,
    traceparent, tracestate, output_schema, max_attempts, depth, logs
  )
  values (
    v_id, p_parent.master_task_id, p_parent.id, p_seq, v_agent_id, p_agent_slug, v_revision, v_changes, v_runner, p_input,
    p_parent.created_by, p_options ->> 'idempotency_key', v_run_after, v_priority,
    coalesce(p_options ->> 'concurrency_key', p_parent.concurrency_key),
    coalesce(p_options -> 'metadata', '{}'),
    coalesce(p_traceparent, p_parent.traceparent), p_parent.tracestate, p_options -> 'output_schema',
    coalesce((p_options ->> 'max_attempts')::int, p_parent.max_attempts), p_parent.depth + 1,
    array[private.log_line('created for agent ' || p_agent_slug)]
  );
  insert into private.task_events (task_id, master_task_id, type, payload)
  values
    (
      v_id, p_parent.master_task_id, 'task.created',
      private.agent_fact(p_agent_slug, v_revision, v_changes) || jsonb_build_object('parent_id', p_parent.id)
    ),
    (
      p_parent.id, p_parent.master_task_id, 'subtask.created',
      jsonb_build_object('step_seq', p_seq, 'subtask_id', v_id, 'agent', p_agent_slug)
    );
  return v_id;
end;
$$;
comment on function private.spawn_one(public.tasks, int, text, jsonb, text, jsonb) is
  'Creates the subtask of a create_subtask step. With a null step it creates the task that a tool requested, with its {idempotency_key, run_after, priority, concurrency_key, metadata, output_schema, max_attempts}. The caller holds the job''s lock.';

create function private.create_child_task(p_parent_id uuid, p_request jsonb, p_traceparent text)
returns table (task_id uuid, master_task_id uuid, status text, is_new boolean)
language plpgsql
set search_path = ''
as $$
#variable_conflict use_column
declare
  v_parent public.tasks;
  v_error jsonb;
  v_child_id uuid;
begin
  perform private.lock_job_of(p_parent_id);
  select * into v_parent from public.tasks where id = p_parent_id for no key update;
  if v_parent.id is null or v_parent.finished_at is not null or v_parent.cancel_requested_at is not null then
    perform private.raise_error('TASK_CANCELLED',
      format('Cannot create the task: the task %s that asks for it has ended', p_parent_id),
      'Only a task that has not ended creates others.');
  end if;
  return query
    select task.id, task.master_task_id, task.status, false
    from public.tasks as task
    where task.master_task_id = v_parent.master_task_id
      and task.parent_id is not null
      and task.idempotency_key = p_request ->> 'idempotency_key';
  if found then
    return;
  end if;

  if p_request ? 'repeat_of' then
    perform private.raise_error('AGENT_NOT_ALLOWED', 'Cannot create the task: a task that an agent creates repeats no other one',
      'Omit repeat_of.');
  end if;
  if jsonb_typeof(p_request -> 'budget') = 'object' then
    perform private.raise_error('TASK_BUDGET_INVALID',
      'Cannot create the task: a task that an agent creates cannot have its own budget',
      'Omit budget: the task uses the rest of its job''s budget.');
  end if;
  if jsonb_typeof(p_request -> 'agent_changes') = 'object' then
    perform private.raise_error('AGENT_NOT_ALLOWED', 'Cannot create the task: an agent cannot change an agent',
      'Omit agent_changes.');
  end if;
  perform private.assert_task_is_valid(
    p_request -> 'input', coalesce(p_request ->> 'priority', 'normal'), (p_request ->> 'run_after')::timestamptz);
  v_error := private.handoff_error(
    v_parent.agent_id, p_request ->> 'agent', v_parent.created_by, p_request -> 'input');
  if v_error is not null then
    perform private.raise_error(v_error ->> 'code', v_error ->> 'message',
      'Name an agent that this task may hand off to.');
  end if;
  perform private.assert_subtask_caps(v_parent, 1);

  v_child_id := private.spawn_one(
    v_parent, null, p_request ->> 'agent', p_request -> 'input', p_traceparent,
    p_request - array['agent', 'input', 'budget']
  );
  update public.tasks set pending_children = pending_children + 1 where id = v_parent.id;
  update private.job_totals
  set task_count = task_count + 1
  where job_totals.master_task_id = v_parent.master_task_id;
  return query select v_child_id, v_parent.master_task_id, 'pending'::text, true;
end;
$$;
comment on function private.create_child_task(uuid, jsonb, text) is
  'Creates a task that an agent requested through a tool: a subtask of the agent''s task, under the caps and the budget of its job. Its result is not reported to the parent. A repeated idempotency key in the same job returns the existing task. Raises TASK_CANCELLED, TASK_BUDGET_INVALID, AGENT_NOT_ALLOWED, TASK_INPUT_INVALID, TASK_PRIORITY_INVALID, AGENT_NOT_FOUND, AGENT_INACTIVE, AGENT_HANDOFF_FORBIDDEN, DEPTH_EXCEEDED, CHILDREN_EXCEEDED, TASKS_EXCEEDED, QUOTA_EXCEEDED.';

create function private.schema_to_check(p_user_id uuid, p_request jsonb)
returns jsonb
language plpgsql
stable
set search_path = ''
-- A plan that was made while tasks was empty would read all of it later.
set enable_seqscan = off
as $$
declare
  v_key constant text := p_request ->> 'idempotency_key';
  v_schema constant jsonb := (
    select agent.input_schema
    from public.agents as agent
    where agent.slug = p_request ->> 'agent' and agent.is_active
      -- To all others the agent does not exist.
      and private.may_use_agent(agent.id, p_user_id)
  );
begin
  -- A repeated request returns its task, also after the schema has changed.
  return case when v_schema is not null and (v_key is null or not case
    when p_user_id is null then exists (
      select from public.tasks as task
      where task.parent_id is null and task.created_by is null and task.idempotency_key = v_key)
    else exists (
      select from public.tasks as task
      where task.parent_id is null and task.created_by = p_user_id and task.idempotency_key = v_key)
  end) then v_schema end;
end;
$$;
comment on function private.schema_to_check(uuid, jsonb) is
  'The input_schema of a request''s agent; null if it has none, or if the request will not be refused or accepted because of its input.';

create function private.request_task(
  p_caller jsonb, p_request jsonb, p_traceparent text, p_tracestate text, p_is_checked boolean default true
)
returns table (task_id uuid, master_task_id uuid, status text, is_new boolean, unchecked_schema jsonb)
language plpgsql
set search_path = ''
as $$
#variable_conflict use_column
declare
  v_user_id uuid := (p_caller ->> 'user_id')::uuid;
  v_client_id text := p_caller ->> 'client_id';
  v_parent_id uuid := (p_caller ->> 'task_id')::uuid;
  v_created record;
  v_schema jsonb;
begin
  -- The token of a client is limited to its scopes, also when a tool of an agent sends it.
  if v_client_id is not null then
    perform private.assert_client_has_scope(v_user_id, v_client_id, 'create the task', 'swarm:run');
    if p_request -> 'metadata' ? 'conversation_id' then
      perform private.assert_client_has_scope(v_user_id, v_client_id, 'answer in the conversation', 'conv:write');
    end if;
  end if;
  if not p_is_checked then
    v_schema := private.schema_to_check(v_user_id, p_request);
    if v_schema is not null then
      return query select null::uuid, null::uuid, 'unchecked'::text, false, v_schema;
      return;
    end if;
  end if;
  if p_caller ->> 'actor' = 'agent' then
    if v_parent_id is null then
      perform private.raise_error('AGENT_NOT_ALLOWED',
        'Cannot create the task: the calling agent does not run in a task',
        'Create the task as a user, or with a secret key that names no agent.');
    end if;
    return query select created.*, null::jsonb from private.create_child_task(v_parent_id, p_request, p_traceparent) as created;
    return;
  end if;
  if jsonb_typeof(p_request -> 'agent_changes') = 'object' then
    perform private.assert_may_change_agent(p_caller, p_request);
  end if;
  if p_request ? 'repeat_of' then
    perform private.assert_may_repeat(v_user_id, (p_request ->> 'repeat_of')::uuid);
  end if;
  select * into v_created from private.create_task(
    p_agent => p_request ->> 'agent',
    p_input => p_request -> 'input',
    p_created_by => v_user_id,
    p_idempotency_key => p_request ->> 'idempotency_key',
    p_run_after => (p_request ->> 'run_after')::timestamptz,
    p_priority => coalesce(p_request ->> 'priority', 'normal'),
    p_concurrency_key => p_request ->> 'concurrency_key',
    p_metadata => coalesce(p_request -> 'metadata', '{}'),
    p_budget => p_request -> 'budget',
    p_traceparent => p_traceparent,
    p_tracestate => p_tracestate,
    p_output_schema => p_request -> 'output_schema',
    p_max_attempts => (p_request ->> 'max_attempts')::int,
    p_agent_changes => p_request -> 'agent_changes'
  );
  if v_created.is_new then
    perform private.record_job_client(v_created.task_id, v_client_id, v_user_id);
    insert into private.task_repeats (repeat_id, source_task_id)
    select v_created.task_id, (p_request ->> 'repeat_of')::uuid where p_request ? 'repeat_of';
  end if;
  return query select v_created.task_id, v_created.master_task_id, v_created.status, v_created.is_new, null::jsonb;
end;
$$;
comment on function private.request_task(jsonb, jsonb, text, text, boolean) is
  'Creates the task that a caller {actor, user_id, client_id, task_id} requested: for an agent a subtask of its task, for any other caller a master task of that user. An OAuth client needs the scope swarm:run (and conv:write for metadata.conversation_id), and its job has no more scopes than the client. assert_may_change_agent() says who may send agent_changes. If the input is not checked yet (p_is_checked) and the agent has an input_schema, it creates nothing and returns that as unchecked_schema: the caller checks the input and calls again. Raises what create_task() and create_child_task() raise, INSUFFICIENT_SCOPE, AGENT_NOT_ALLOWED. Called by supaswarm-create-task, supaswarm-chat and the swarm server.';

create function private.spawn_subtasks(
  p_task_id uuid, p_epoch bigint, p_lease_seconds int, p_subtasks jsonb
)
returns table (seq int, task_id uuid, error jsonb)
language plpgsql
set search_path = ''
as $$
#variable_conflict use_column
declare
  v_task public.tasks;
  v_subtask record;
  v_error jsonb;
  v_child_id uuid;
  v_created int := 0;
begin
  perform private.lock_job_of(p_task_id);
  v_task := private.hold_task(p_task_id, p_epoch, p_lease_seconds);
  if v_task.cancel_requested_at is not null then
    perform private.raise_error('TASK_CANCELLED', 'Cannot create subtasks: the task is being cancelled',
      'Finish the task; it will be recorded as cancelled.');
  end if;
  perform private.assert_subtask_caps(v_task, (
    select count(*)::int
    from jsonb_to_recordset(p_subtasks) as wanted (seq int)
    where not exists (
      select from public.tasks as child
      where child.parent_id = p_task_id and child.parent_step_seq = wanted.seq
    )
  ));

  for v_subtask in
    select wanted.seq, wanted.agent, wanted.input, wanted.problem, wanted.traceparent, child.id as child_id
    from jsonb_to_recordset(p_subtasks) as wanted (
      seq int, agent text, input jsonb, problem text, traceparent text
    )
    left join public.tasks as child on child.parent_id = p_task_id and child.parent_step_seq = wanted.seq
    order by wanted.seq
  loop
    v_child_id := v_subtask.child_id;
    v_error := null;
    if v_child_id is null then
      v_error := private.handoff_error(
        v_task.agent_id, v_subtask.agent, v_task.created_by, v_subtask.input, v_subtask.problem);
      if v_error is null then
        v_child_id := private.spawn_one(
          v_task, v_subtask.seq, v_subtask.agent, v_subtask.input, v_subtask.traceparent
        );
        v_created := v_created + 1;
      else
        perform private.emit_events((
          private.end_steps(v_task, jsonb_build_array(jsonb_build_object(
            'seq', v_subtask.seq, 'kind', 'system', 'name', 'create_subtask', 'state', 'failed',
            'output', jsonb_build_object('agent', v_subtask.agent, 'status', 'failed', 'error', v_error)
          )))).events);
      end if;
    end if;
    return query select v_subtask.seq, v_child_id, v_error;
  end loop;

  update public.tasks set pending_children = pending_children + v_created where id = p_task_id;
  update private.job_totals
  set task_count = task_count + v_created
  where master_task_id = v_task.master_task_id;
end;
$$;
comment on function private.spawn_subtasks(uuid, bigint, int, jsonb) is
  'Creates the subtasks [{seq, agent, input, problem, traceparent}] of create_subtask steps; a repeated call returns the existing ones. problem is what the worker has found wrong with the input. A handoff that is not allowed ends its step with an error. Raises LEASE_LOST, TASK_CANCELLED, DEPTH_EXCEEDED, CHILDREN_EXCEEDED, TASKS_EXCEEDED, QUOTA_EXCEEDED. Called by workers.';

create function private.park(p_task public.tasks, p_status text)
returns void
language plpgsql
set search_path = ''
as $$
begin
  update public.tasks
  set status = p_status,
      lease_expires_at = null,
      worker_id = null,
      deliveries = 0,
      logs = logs || private.log_line('parked: ' || p_status)
  where id = p_task.id;
  perform private.emit_event(p_task.id, p_task.master_task_id, 'task.parked',
    jsonb_build_object('status', p_status));
end;
$$;
comment on function private.park(public.tasks, text) is
  'Makes a running task wait without a lease, message or slot. The caller holds the job''s lock.';

create function private.park_task(p_task_id uuid, p_epoch bigint)
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
  -- Read under the lock: the last child may have ended since the worker read it.
  if v_task.pending_children = 0 then
    return 'continue';
  end if;
  perform private.park(v_task, 'pending_subtask');
  return 'parked';
end;
$$;
comment on function private.park_task(uuid, bigint) is
  'Parks a task until its subtasks end. Returns parked, continue (all of them have ended) or cancelled. Raises LEASE_LOST. Called by workers.';
