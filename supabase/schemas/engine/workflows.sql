-- Workflows: agents whose decisions come from a user's code. A runner, which is an edge function or a process, serves
-- workflows and claims their tasks as workers claim those of other agents. Here: who serves what, and who wakes.

create table private.runners (
  name text primary key check (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
  workflows text[] not null,
  registered_at timestamptz not null default clock_timestamp()
);
comment on table private.runners is
  'Who serves workflows, and which ones: what its newest code said when it started. Tasks of other workflows of a runner wait.';
alter table private.runners enable row level security;

create function private.register_workflows(p_runner text, p_workflows jsonb)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_taken text;
begin
  select workflow.name into v_taken
  from public.agents as agent
  join jsonb_to_recordset(p_workflows) as workflow (name text) on workflow.name in (agent.slug, agent.name)
  where agent.runner is distinct from p_runner
  limit 1;
  if v_taken is not null then
    perform private.raise_error('WORKFLOW_NAME_TAKEN',
      format('Cannot serve the workflow "%s" from "%s": an agent, or a workflow of another function, has this name', v_taken, p_runner),
      'Choose another name, or delete that agent.');
  end if;
  insert into private.wake_gate (name) values (p_runner) on conflict do nothing;
  insert into private.runners as runner (name, workflows)
  values (p_runner, array(select workflow.name from jsonb_to_recordset(p_workflows) as workflow (name text)))
  on conflict (name) do update set workflows = excluded.workflows, registered_at = clock_timestamp();
  insert into public.agents as agent (name, slug, description, system_prompt, runner, input_schema, output_schema)
  select workflow.name, workflow.name, workflow.description, '', p_runner, workflow.input_schema, workflow.output_schema
  from jsonb_to_recordset(p_workflows) as workflow (name text, description text, input_schema jsonb, output_schema jsonb)
  on conflict (slug) do update
  set description = excluded.description, input_schema = excluded.input_schema, output_schema = excluded.output_schema
  where (agent.description, agent.input_schema, agent.output_schema)
    is distinct from (excluded.description, excluded.input_schema, excluded.output_schema);
end;
$$;
comment on function private.register_workflows(text, jsonb) is
  'Makes the workflows [{name, description, input_schema, output_schema}] of a runner known, so that jobs can start with them. Raises WORKFLOW_NAME_TAKEN. Called by runners when they start.';

create function private.workflow_problems()
returns table (kind text, name text, field text, problem text, hint text)
language sql
stable
set search_path = ''
set enable_seqscan = off
as $$
  select 'workflow', agent.slug, 'runner',
    format('WORKFLOW_UNKNOWN: the function "%s" does not have this workflow any more, and %s tasks wait for it', agent.runner, waiting.task_count),
    'Deploy code that has it beside the new one, or cancel the jobs.'
  from public.agents as agent
  join private.runners as runner on runner.name = agent.runner
  cross join lateral (
    select count(*) as task_count from public.tasks as task where task.agent_id = agent.id and task.finished_at is null
  ) as waiting
  where agent.slug <> all (runner.workflows) and waiting.task_count > 0;
$$;
comment on function private.workflow_problems() is
  'Workflows with tasks that have not ended and that their runner no longer has.';

-- Wakes -----------------------------------------------------------------------------------------------------------

create function private.wake_runner_at_commit()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  if new.runner = any (private.pass_wake_gates(array[new.runner])) then
    perform private.wake_function(new.runner);
  end if;
  return null;
end;
$$;
comment on function private.wake_runner_at_commit() is
  'Deferred row trigger of tasks: wakes the runner of a workflow that can go on, as wake_at_commit() wakes workers. Definer: it runs at commit as the role that commits.';
-- Each fires once per transaction and runner, as those of the workers do.
create constraint trigger tasks_wake_runner_on_insert after insert on public.tasks
  deferrable initially deferred for each row
  when (case
    when (new.runner <> '' and new.status = 'pending' and new.run_after is null) is not true then false
    when current_setting('supaswarm.wakes_runner_at_commit', true) = new.runner then false
    else set_config('supaswarm.wakes_runner_at_commit', new.runner, true) = new.runner
  end)
  execute function private.wake_runner_at_commit();
create constraint trigger tasks_wake_runner_on_update after update of status, run_after on public.tasks
  deferrable initially deferred for each row
  when (case
    when (
      new.runner <> '' and new.status = 'pending' and new.run_after is null
      and (old.status <> 'pending' or old.run_after is not null)
    ) is not true then false
    when current_setting('supaswarm.wakes_runner_at_commit', true) = new.runner then false
    else set_config('supaswarm.wakes_runner_at_commit', new.runner, true) = new.runner
  end)
  execute function private.wake_runner_at_commit();

create function private.wake_due_runners()
returns int
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_name text;
  v_count int := 0;
begin
  for v_name in
    select runner.name
    from private.runners as runner
    where exists (
      select from public.tasks as task
      where task.runner = runner.name and task.status = 'pending' and task.run_after is null
        and task.agent_slug = any (runner.workflows)
    ) or exists (
      select from public.tasks as task
      where task.status = 'pending' and task.run_after <= clock_timestamp()
        and task.runner = runner.name and task.agent_slug = any (runner.workflows)
    ) or exists (
      select from public.tasks as task
      where task.status = 'running' and task.runner = runner.name
        and task.lease_expires_at <= clock_timestamp() + interval '15 seconds'
    )
  loop
    perform private.wake_function(v_name);
    v_count := v_count + 1;
  end loop;
  return v_count;
end;
$$;
comment on function private.wake_due_runners() is
  'Wakes the runners that have a workflow that is due, or whose lease will expire before the next tick. Returns how many. Called by cron, through tick().';

create function private.wake_workflow(p_task_id uuid, p_run_after timestamptz default null)
returns void
language sql
set search_path = ''
as $$
  update public.tasks
  set status = 'pending', run_after = wake_workflow.p_run_after
  where id = wake_workflow.p_task_id and runner <> '' and epoch > 0 and cancel_requested_at is null
    and (status in ('pending_subtask', 'needs_human_review') or status = 'pending' and run_after is not null);
$$;
comment on function private.wake_workflow(uuid, timestamptz) is
  'Queues a parked workflow, one of whose waits has ended, not to be claimed before p_run_after (null: now). The caller holds the job''s lock.';
