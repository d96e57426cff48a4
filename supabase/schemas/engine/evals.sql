-- Evals: runs of the tests of an agent, each test in one or more jobs. deno task eval writes them and reads them
-- again to compare runs.

create table public.eval_runs (
  id uuid primary key default gen_random_uuid(),
  created_by uuid not null references auth.users (id) on delete cascade,
  agent_id uuid not null references public.agents (id) on delete cascade,
  agent_slug text not null,
  agent_revision int,
  provider text,
  model text,
  agent_changes jsonb,
  answered_by jsonb,
  result_count int not null default 0,
  passed_count int not null default 0,
  created_at timestamptz not null default clock_timestamp(),
  finished_at timestamptz
);
revoke all on public.eval_runs from anon, authenticated, service_role;
create index eval_runs_created_by_idx on public.eval_runs (created_by, created_at);
create index eval_runs_agent_id_idx on public.eval_runs (agent_id, created_at);
comment on table public.eval_runs is
  'Runs of the tests in agents/<slug>.evals.yaml. The jobs of a run have {"tag": "eval:<id>"} in their metadata. Written by deno task eval.';
comment on column public.eval_runs.created_by is 'The user whose jobs they are.';
comment on column public.eval_runs.agent_revision is 'The newest revision when the run began.';
comment on column public.eval_runs.model is 'The model that the run tests: the one of agent_changes, else the agent''s, or its provider''s default, when the run began.';
comment on column public.eval_runs.agent_changes is 'What the jobs of the run change of the agent, as in tasks.agent_changes. Null: nothing.';
comment on column public.eval_runs.answered_by is 'A list of the models that answered the agent''s calls in the jobs of the run, such as "demo of demo" while a script stands in for a provider without a key. Null before the run ends.';
comment on column public.eval_runs.result_count is 'Jobs that have ended, of which passed_count passed.';
comment on column public.eval_runs.finished_at is 'Null while it runs, and if it was interrupted.';
alter table public.eval_runs enable row level security;
create policy "owners read their eval runs" on public.eval_runs
  for select to authenticated using (created_by = (select auth.uid()) and (select private.has_scope('swarm:run')));
comment on policy "owners read their eval runs" on public.eval_runs is
  'The owner of a run''s jobs reads the run; operators read operator_eval_runs.';
grant select on public.eval_runs to authenticated, service_role;

create table public.eval_results (
  run_id uuid not null references public.eval_runs (id) on delete cascade,
  test text not null check (length(test) between 1 and 200),
  repeat int not null check (repeat > 0),
  task_id uuid references public.tasks (id) on delete set null,
  passed boolean not null,
  score real not null check (score between 0 and 1),
  assertions jsonb not null check (jsonb_typeof(assertions) = 'array'),
  error text,
  cost_micro_usd bigint,
  latency_ms int,
  created_at timestamptz not null default clock_timestamp(),
  primary key (run_id, test, repeat)
);
revoke all on public.eval_results from anon, authenticated, service_role;
create index eval_results_task_id_idx on public.eval_results (task_id);
comment on table public.eval_results is 'The results of the jobs of eval runs.';
comment on column public.eval_results.test is 'The test''s description, under which runs are compared.';
comment on column public.eval_results.repeat is 'Which job of the test this is, counted from 1.';
comment on column public.eval_results.task_id is 'The job; null when it was deleted.';
comment on column public.eval_results.score is 'The scores of the assertions, weighted: 0 to 1.';
comment on column public.eval_results.assertions is 'A list of {type, passed, score, weight, reason}; empty for a job that did not complete.';
comment on column public.eval_results.error is 'Why the job did not complete.';
comment on column public.eval_results.cost_micro_usd is 'Of the job with its subtasks, in millionths of a US dollar; null for a model without a price.';
comment on column public.eval_results.latency_ms is 'From the start of the job to its end.';
alter table public.eval_results enable row level security;
create policy "owners read the results of their eval runs" on public.eval_results
  for select to authenticated using (exists (select from public.eval_runs as run where run.id = run_id));
comment on policy "owners read the results of their eval runs" on public.eval_results is
  'Whoever reads a run reads its results.';
grant select on public.eval_results to authenticated, service_role;

create function private.begin_eval_run(p_agent text, p_user_id uuid, p_agent_changes jsonb default null)
returns public.eval_runs
language plpgsql
set search_path = ''
as $$
declare
  v_attempt constant text := format('run the evals of "%s"', p_agent);
  v_agent_id constant uuid := private.id_of('agent', p_agent, v_attempt);
  v_run public.eval_runs;
begin
  insert into public.eval_runs (created_by, agent_id, agent_slug, agent_revision, provider, model, agent_changes)
  select p_user_id, agent.id, agent.slug, agent.revision,
    coalesce(changed.parts ->> 'provider', provider.name),
    coalesce(changed.parts ->> 'model', agent.model, provider.default_model),
    changed.parts
  from public.agents as agent
  left join public.llm_providers as provider on provider.id = agent.provider_id
  cross join lateral private.resolved_agent_changes(agent, p_agent_changes, v_attempt) as changed (parts)
  where agent.id = v_agent_id
  returning * into v_run;
  return v_run;
end;
$$;
comment on function private.begin_eval_run(text, uuid, jsonb) is
  'Begins a run of an agent''s tests with jobs of this user, who may create jobs with these changes of the agent until the run ends. Raises AGENT_NOT_FOUND, AGENT_CHANGES_INVALID, PROVIDER_NOT_FOUND.';

create function private.is_change_of_eval_run(p_user_id uuid, p_request jsonb)
returns boolean
language plpgsql
stable
set search_path = ''
as $$
begin
  return exists (
    select from public.eval_runs as run
    where run.created_by = p_user_id
      and run.agent_slug = p_request ->> 'agent'
      and run.agent_changes - 'fallbacks' = p_request -> 'agent_changes'
      and 'eval:' || run.id = p_request #>> '{metadata,tag}'
      and run.finished_at is null
      -- A run that was interrupted never ends.
      and run.created_at > clock_timestamp() - interval '1 day'
  );
end;
$$;
comment on function private.is_change_of_eval_run(uuid, jsonb) is
  'True when a request for a task changes the agent as an eval run of this user does, which only the service begins.';

create function private.record_eval_result(p_run_id uuid, p_result jsonb)
returns void
language sql
set search_path = ''
as $$
  with recorded as (
    insert into public.eval_results (
      run_id, test, repeat, task_id, passed, score, assertions, error, cost_micro_usd, latency_ms
    )
    select record_eval_result.p_run_id, result.test, result.repeat, result.task_id, result.passed, result.score,
      result.assertions, result.error, result.cost_micro_usd, result.latency_ms
    from jsonb_populate_record(null::public.eval_results, record_eval_result.p_result) as result
    returning passed
  )
  update public.eval_runs as run
  set result_count = run.result_count + 1, passed_count = run.passed_count + recorded.passed::int
  from recorded
  where run.id = record_eval_result.p_run_id;
$$;
comment on function private.record_eval_result(uuid, jsonb) is
  'Records the result of one job, an object with the columns of eval_results.';

create function private.end_eval_run(p_run_id uuid)
returns public.eval_runs
language sql
set search_path = ''
as $$
  update public.eval_runs as run
  set finished_at = clock_timestamp(),
    answered_by = (
      select coalesce(jsonb_agg(distinct format('%s of %s', usage.model, provider.name)), '[]')
      from public.eval_results as result
      join public.tasks as task on task.master_task_id = result.task_id
      join public.usage_events as usage on usage.task_id = task.id
      join public.llm_providers as provider on provider.id = usage.provider_id
      where result.run_id = run.id and usage.agent_slug = run.agent_slug and usage.mcp_name is null
    )
  where id = end_eval_run.p_run_id and finished_at is null
  returning run.*;
$$;
comment on function private.end_eval_run(uuid) is
  'Ends a run whose jobs all have results, and records which models answered. No row for a run that has ended.';

-- For operators -----------------------------------------------------------------------------------

create function private.operator_eval_runs()
returns setof public.eval_runs
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  perform private.assert_operator('list the eval runs');
  return query select * from public.eval_runs order by created_at desc;
end;
$$;
comment on function private.operator_eval_runs() is
  'The eval runs of all users, for operators. Definer: rows of other users are hidden; assert_operator() checks the caller.';
create view public.operator_eval_runs with (security_invoker = true) as select * from private.operator_eval_runs();
revoke all on public.operator_eval_runs from anon, authenticated, service_role;
comment on view public.operator_eval_runs is
  'The eval runs of all users, newest first. For operators and the service; INSUFFICIENT_SCOPE for all others.';
grant execute on function private.operator_eval_runs() to authenticated, service_role;
grant select on public.operator_eval_runs to authenticated, service_role;

-- A function, because a view would read the results of all runs before it is filtered.
create function private.operator_eval_results(p_run_id uuid)
returns setof public.eval_results
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  perform private.assert_operator('read the results of evals');
  return query select * from public.eval_results where run_id = p_run_id;
end;
$$;
comment on function private.operator_eval_results(uuid) is
  'See public.operator_eval_results(). Definer: rows of other users are hidden; assert_operator() checks the caller.';

create function public.operator_eval_results(p_run_id uuid)
returns setof public.eval_results
language sql
stable
set search_path = ''
as $$
  select * from private.operator_eval_results(p_run_id);
$$;
comment on function public.operator_eval_results(uuid) is
  'The results of an eval run of any user. For operators and the service. Raises INSUFFICIENT_SCOPE, AGENT_NOT_ALLOWED.';
revoke all on function public.operator_eval_results(uuid) from public, anon, authenticated, service_role;
grant execute on function private.operator_eval_results(uuid), public.operator_eval_results(uuid)
  to authenticated, service_role;
