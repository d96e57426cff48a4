-- A job and its forks share one budget.

create table private.budget_shares (
  job_id uuid primary key references public.tasks (id) on delete cascade,
  -- No foreign key: a fork can outlive its original job.
  budget_job_id uuid not null
);
create index budget_shares_budget_job_id_idx on private.budget_shares (budget_job_id);
comment on table private.budget_shares is 'Forks, and the job whose budget each fork spends.';
comment on column private.budget_shares.budget_job_id is 'Never a fork: a fork of a fork spends the budget of the original job.';
alter table private.budget_shares enable row level security;

create function private.budget_job_of(p_job_id uuid)
returns uuid
language sql
stable
set search_path = ''
as $$
  select coalesce((select share.budget_job_id from private.budget_shares as share where share.job_id = p_job_id), p_job_id);
$$;
comment on function private.budget_job_of(uuid) is 'The job whose budget a job spends: the original job of a fork, else the job itself.';

create function private.shared_spending(p_budget_job_id uuid)
returns private.job_totals
language plpgsql
stable
set search_path = ''
as $$
declare
  v_spent private.job_totals;
begin
  select p_budget_job_id,
    -- The master task of a fork replaces the task that it was forked from, so it is not counted twice.
    coalesce(sum(totals.task_count), 0) - count(*) filter (where totals.master_task_id <> p_budget_job_id),
    coalesce(sum(totals.input_tokens), 0), coalesce(sum(totals.output_tokens), 0), coalesce(sum(totals.cost_micro_usd), 0)
  into v_spent.master_task_id, v_spent.task_count, v_spent.input_tokens, v_spent.output_tokens, v_spent.cost_micro_usd
  from private.job_totals as totals
  where totals.master_task_id = p_budget_job_id
    or totals.master_task_id in (
      select share.job_id from private.budget_shares as share where share.budget_job_id = p_budget_job_id
    );
  return v_spent;
end;
$$;
comment on function private.shared_spending(uuid) is
  'What a job and its forks have spent together: tokens, cost and tasks.';

create function private.spent_cap(p_budget jsonb, p_spent private.job_totals)
returns text
language sql
immutable
set search_path = ''
as $$
  select case
    when p_spent.input_tokens >= private.cap(p_budget, 'max_input_tokens', null) then 'max_input_tokens'
    when p_spent.output_tokens >= private.cap(p_budget, 'max_output_tokens', null) then 'max_output_tokens'
    when coalesce(p_spent.cost_micro_usd, 0) >= private.cap(p_budget, 'max_cost_micro_usd', null) then 'max_cost_micro_usd'
  end;
$$;
comment on function private.spent_cap(jsonb, private.job_totals) is
  'The cap on tokens or cost that is used up, or null.';

create function private.lock_shared_budget(p_budget_job_id uuid)
returns void
language plpgsql
set search_path = ''
as $$
begin
  if exists (select from private.budget_shares where budget_job_id = p_budget_job_id) then
    perform pg_advisory_xact_lock(hashtextextended('supaswarm:budget:' || p_budget_job_id, 0));
  end if;
end;
$$;
comment on function private.lock_shared_budget(uuid) is
  'Serializes how a job and its forks use max_tasks; does nothing for a job without forks. To avoid deadlocks, call it after locking a job, never before.';
