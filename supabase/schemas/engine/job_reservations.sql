-- A job's cost cap is spent before the call: each model call reserves the most that it can cost, and its actual
-- cost replaces the reservation.

create table private.job_reservations (
  id uuid primary key,
  -- No foreign keys: a fork can outlive its original job.
  budget_job_id uuid not null,
  job_id uuid not null,
  task_id uuid not null references public.tasks (id) on delete cascade,
  epoch bigint not null,
  amount_micro_usd bigint not null check (amount_micro_usd >= 0),
  expires_at timestamptz not null
);
create index job_reservations_budget_job_id_idx on private.job_reservations (budget_job_id);
create index job_reservations_task_id_idx on private.job_reservations (task_id);
comment on table private.job_reservations is
  'What the running model calls of jobs with a cost cap can cost at most.';
comment on column private.job_reservations.id is 'Also the id of the call''s row in model_reservations, if it has one.';
comment on column private.job_reservations.budget_job_id is 'The job whose budget the call spends, see budget_shares.';
comment on column private.job_reservations.epoch is 'The run of the task that reserved. When another run has begun or the task has ended, the reservation no longer counts.';
comment on column private.job_reservations.expires_at is 'When a call whose cost was never recorded counts as lost.';
alter table private.job_reservations enable row level security;

create function private.job_cost_left(p_job_id uuid, p_budget_job_id uuid, p_reserved boolean)
returns numeric
language plpgsql
set search_path = ''
as $$
declare
  v_own_cap constant numeric := (
    select private.cap(budget, 'max_cost_micro_usd', null) from public.tasks where id = p_job_id);
  v_shared_cap constant numeric := (
    select private.cap(budget, 'max_cost_micro_usd', null) from public.tasks where id = p_budget_job_id);
  v_own_reserved numeric := 0;
  v_shared_reserved numeric := 0;
begin
  if p_reserved then
    select coalesce(sum(amount_micro_usd) filter (where job_id = p_job_id), 0), coalesce(sum(amount_micro_usd), 0)
    into v_own_reserved, v_shared_reserved
    from private.job_reservations
    where budget_job_id = p_budget_job_id;
  end if;
  return least(
    v_own_cap - v_own_reserved
      - coalesce((select cost_micro_usd from private.job_totals where master_task_id = p_job_id), 0),
    case when v_shared_cap is not null then
      v_shared_cap - v_shared_reserved
        - coalesce((private.shared_spending(p_budget_job_id)).cost_micro_usd, 0)
    end
  );
end;
$$;
comment on function private.job_cost_left(uuid, uuid, boolean) is
  'What is left of a job''s cost cap, in micro-USD, or of the cap of the job whose budget it shares if that is less. p_reserved: after the reservations of running calls. Null without a cap.';

create type private.job_reservation as (id uuid, max_output_tokens bigint, must_wait boolean);
comment on type private.job_reservation is
  'The reservation of a model call (null without a cost cap), and the output tokens that it covers. must_wait: running calls hold what the call needs.';

create function private.reserve_job_cost(
  p_task_id uuid, p_provider_id uuid, p_model text, p_input_tokens bigint, p_output_tokens bigint, p_may_wait boolean
)
returns private.job_reservation
language plpgsql
set search_path = ''
as $$
declare
  -- Few answers are longer, and most models write no more than this.
  c_usual_output_tokens constant bigint := 16384;
  -- The least that some providers accept as a limit.
  c_least_output_tokens constant bigint := 16;
  c_lost_after constant interval := interval '15 minutes';
  v_task public.tasks;
  v_budget_job_id uuid;
  v_price public.model_prices;
  v_input_cost numeric;
  v_wanted bigint := coalesce(p_output_tokens, c_usual_output_tokens);
  v_left numeric;
  v_possible bigint;
  v_free bigint;
  v_reservation private.job_reservation;
begin
  select * into v_task from public.tasks where id = p_task_id;
  v_budget_job_id := private.budget_job_of(v_task.master_task_id);
  if not exists (
    select from public.tasks
    where id in (v_task.master_task_id, v_budget_job_id) and private.cap(budget, 'max_cost_micro_usd', null) is not null
  ) then
    return v_reservation;
  end if;
  v_price := private.price_at(p_provider_id, p_model, coalesce(p_input_tokens, 0));
  perform private.assert_price_known(v_price.model is not null);
  v_input_cost := ceil(coalesce(p_input_tokens, 0)
    * greatest(v_price.input_micro_usd_per_mtok, v_price.cache_write_input_micro_usd_per_mtok)::numeric / 1000000);

  -- Reservations of one budget are made one after another. Recording a cost does not wait for this lock, and
  -- nothing that holds a job takes it.
  perform pg_advisory_xact_lock(hashtextextended('supaswarm:cost:' || v_budget_job_id, 0));
  delete from private.job_reservations as reserved
  where reserved.budget_job_id = v_budget_job_id
    and (reserved.expires_at < clock_timestamp() or not exists (
      select from public.tasks as task
      where task.id = reserved.task_id and task.epoch = reserved.epoch and task.status = 'running'
    ));
  v_left := private.job_cost_left(v_task.master_task_id, v_budget_job_id, false);
  select
    least(v_wanted, floor(greatest((v_left - v_input_cost) * 1000000, 0) / nullif(v_price.output_micro_usd_per_mtok, 0))),
    least(v_wanted, floor(greatest((
      private.job_cost_left(v_task.master_task_id, v_budget_job_id, true) - v_input_cost
    ) * 1000000, 0) / nullif(v_price.output_micro_usd_per_mtok, 0)))
  into v_possible, v_free;
  -- Output without a price still needs the cost of the input.
  if v_price.output_micro_usd_per_mtok = 0 and v_left < v_input_cost then
    v_possible := 0;
  end if;
  if p_may_wait and v_free < v_possible and v_possible >= least(v_wanted, c_least_output_tokens) then
    v_reservation.must_wait := true;
    return v_reservation;
  end if;
  if least(v_free, v_possible) < least(v_wanted, c_least_output_tokens) then
    perform private.raise_error('BUDGET_EXCEEDED',
      format('Cannot call the model: %s of the job''s max_cost_micro_usd are left, and the call costs more',
        trunc(greatest(v_left, 0))),
      'Create the task with a larger budget, or with null for no cap.');
  end if;
  insert into private.job_reservations (id, budget_job_id, job_id, task_id, epoch, amount_micro_usd, expires_at)
  values (
    gen_random_uuid(), v_budget_job_id, v_task.master_task_id, p_task_id, v_task.epoch,
    v_input_cost + ceil(v_free * v_price.output_micro_usd_per_mtok::numeric / 1000000),
    clock_timestamp() + c_lost_after
  )
  returning id into v_reservation.id;
  v_reservation.max_output_tokens := v_free;
  return v_reservation;
end;
$$;
comment on function private.reserve_job_cost(uuid, uuid, text, bigint, bigint, boolean) is
  'Reserves the most that a model call of a task can cost under the job''s cost cap: the estimated input, and the output up to p_output_tokens (null: 16,384) or to what the cap still allows. A call that could be longer if running calls of the job had ended waits for them (p_may_wait), so that reservations that prove too high refuse nothing. Raises BUDGET_EXCEEDED for a call that the cap does not allow, PRICE_UNKNOWN. Called by resolve_provider_secret().';

create function private.end_job_reservations(p_task_id uuid)
returns void
language sql
set search_path = ''
as $$
  delete from private.job_reservations where task_id = end_job_reservations.p_task_id;
$$;
comment on function private.end_job_reservations(uuid) is
  'Releases the reservations of a task, whose model call was cut off and is recorded with an estimate.';
