-- Spending caps: what calls with the organization's key may cost under a policy, per day or month.

create table private.model_spending (
  policy_id uuid primary key references public.model_policies (id) on delete cascade,
  period_start timestamptz not null,
  spent_micro_usd bigint not null check (spent_micro_usd >= 0)
);
comment on table private.model_spending is
  'What the calls under a capped policy have cost in the policy''s current period. A reservation locks the row, so that reservations are serialized.';
alter table private.model_spending enable row level security;

create table private.model_reservations (
  id uuid primary key default gen_random_uuid(),
  policy_id uuid not null references public.model_policies (id) on delete cascade,
  period_start timestamptz not null,
  amount_micro_usd bigint not null check (amount_micro_usd >= 0),
  is_settled boolean not null default false,
  expires_at timestamptz not null
);
create index model_reservations_policy_id_idx on private.model_reservations (policy_id);
comment on table private.model_reservations is
  'Calls under a capped policy: the estimated cost of a running call, or (is_settled) the actual cost of a finished one, until the next reservation adds it to model_spending. Recording a cost inserts a row here and therefore waits for no lock.';
comment on column private.model_reservations.expires_at is 'When a call whose cost was never recorded counts as lost.';
alter table private.model_reservations enable row level security;

create function private.cap_period_start(p_cap_period text)
returns timestamptz
language sql
stable
set search_path = ''
as $$
  select date_trunc(p_cap_period, clock_timestamp() at time zone 'utc') at time zone 'utc';
$$;
comment on function private.cap_period_start(text) is 'When the current day or month began, in UTC.';

create function private.begin_spending(p_policy public.model_policies)
returns private.model_spending
language plpgsql
set search_path = ''
as $$
declare
  v_start timestamptz := private.cap_period_start(p_policy.cap_period);
  v_spending private.model_spending;
begin
  select * into v_spending from private.model_spending where policy_id = p_policy.id for no key update;
  if not found then
    -- The cap is new: earlier spending in this period counts too.
    insert into private.model_spending (policy_id, period_start, spent_micro_usd)
    select p_policy.id, v_start, coalesce(sum(usage.cost_micro_usd), 0)
    from public.usage_events as usage
    where usage.provider_id = p_policy.provider_id
      and usage.key_source = 'organisation'
      and usage.created_at >= v_start
      and (private.model_policy(usage.user_id, usage.provider_id, usage.model)).id = p_policy.id
    on conflict (policy_id) do nothing;
    select * into strict v_spending from private.model_spending where policy_id = p_policy.id for no key update;
  end if;
  -- Others may have begun the next period while this one waited for the lock.
  v_start := private.cap_period_start(p_policy.cap_period);
  if v_spending.period_start is distinct from v_start then
    v_spending.period_start := v_start;
    v_spending.spent_micro_usd := 0;
  end if;
  with over as (
    delete from private.model_reservations
    where id in (
      select id from private.model_reservations
      where policy_id = p_policy.id and (is_settled or expires_at < clock_timestamp())
      for update skip locked
    )
    returning *
  )
  select v_spending.spent_micro_usd + coalesce(sum(over.amount_micro_usd) filter (
    where over.is_settled and over.period_start = v_start), 0)
  into v_spending.spent_micro_usd
  from over;
  update private.model_spending
  set period_start = v_spending.period_start, spent_micro_usd = v_spending.spent_micro_usd
  where policy_id = p_policy.id;
  return v_spending;
end;
$$;
comment on function private.begin_spending(public.model_policies) is
  'What was spent under a capped policy in its current period, brought up to date. Locks the row until the transaction ends.';

create function private.current_spending(
  p_policy public.model_policies, out spent_micro_usd bigint, out reserved_micro_usd bigint
)
language sql
stable
set search_path = ''
as $$
  select case when spending.policy_id is not null then
      case when spending.period_start = period.start_at then spending.spent_micro_usd else 0 end
        + coalesce(reserved.settled_micro_usd, 0)
    end::bigint,
    coalesce(reserved.open_micro_usd, 0)::bigint
  from (select private.cap_period_start(p_policy.cap_period) as start_at) as period
  left join private.model_spending as spending on spending.policy_id = p_policy.id
  left join lateral (
    select sum(one.amount_micro_usd) filter (where one.is_settled) as settled_micro_usd,
      sum(one.amount_micro_usd) filter (where not one.is_settled and one.expires_at >= clock_timestamp()) as open_micro_usd
    from private.model_reservations as one
    where one.policy_id = p_policy.id and one.period_start = period.start_at
  ) as reserved on true;
$$;
comment on function private.current_spending(public.model_policies) is
  'What was spent under a capped policy in its current period, null until the first call under the cap, which counts what was spent before it; and what running calls have reserved.';

create function private.reserve_spending(
  p_policy public.model_policies, p_provider public.llm_providers, p_model text,
  p_input_tokens bigint, p_output_tokens bigint, p_reservation_id uuid default null
)
returns uuid
language plpgsql
set search_path = ''
as $$
declare
  c_usual_tokens constant bigint := 1000;
  c_lost_after constant interval := interval '15 minutes';
  v_price constant public.model_prices := private.price_at(p_provider.id, p_model, p_input_tokens);
  v_spending private.model_spending;
  v_reserved bigint;
  v_id uuid;
begin
  if p_policy.spending_cap_micro_usd is null then
    return p_reservation_id;
  end if;
  if v_price.model is null then
    perform private.raise_error('PRICE_UNKNOWN',
      format('Cannot call the model: a policy caps spending at provider %L, and %s has no price',
        p_provider.name, coalesce(p_model, 'the model')),
      'Insert the model''s price into model_prices, name a model that has one, or store your own key.');
  end if;
  v_spending := private.begin_spending(p_policy);
  select coalesce(sum(amount_micro_usd), 0) into v_reserved
  from private.model_reservations
  where policy_id = p_policy.id and period_start = v_spending.period_start;
  if v_spending.spent_micro_usd + v_reserved >= p_policy.spending_cap_micro_usd then
    perform private.raise_error('SPENDING_CAP_REACHED',
      format('Cannot call the model: the spending cap of %s micro-USD a %s at provider %L is reached',
        p_policy.spending_cap_micro_usd, p_policy.cap_period, p_provider.name),
      format('Try again in %s seconds, when the next %s begins in UTC, store your own key with set_provider_key(), or ask the operator to raise model_policies.spending_cap_micro_usd.',
        ceil(extract(epoch from v_spending.period_start + ('1 ' || p_policy.cap_period)::interval - clock_timestamp()))::bigint,
        p_policy.cap_period));
  end if;
  insert into private.model_reservations (id, policy_id, period_start, amount_micro_usd, expires_at)
  values (
    coalesce(p_reservation_id, gen_random_uuid()), p_policy.id, v_spending.period_start,
    ceil((coalesce(p_input_tokens, c_usual_tokens) * v_price.input_micro_usd_per_mtok::numeric
      + coalesce(p_output_tokens, c_usual_tokens) * v_price.output_micro_usd_per_mtok) / 1000000),
    clock_timestamp() + c_lost_after
  )
  returning id into v_id;
  return v_id;
end;
$$;
comment on function private.reserve_spending(public.model_policies, public.llm_providers, text, bigint, bigint, uuid) is
  'Reserves the estimated cost of a call with the organization''s key (null tokens: 1,000) and returns the reservation (p_reservation_id if given, also without a cap). A call is allowed while spent and reserved amounts are below the cap, so that only running calls can exceed it. Raises PRICE_UNKNOWN, SPENDING_CAP_REACHED. Called by resolve_provider_secret().';

create function private.settle_spending(p_used public.usage_events, p_reservation_id uuid)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_policy public.model_policies;
begin
  if p_reservation_id is not null then
    update private.model_reservations
    set amount_micro_usd = coalesce(p_used.cost_micro_usd, amount_micro_usd), is_settled = true
    where id = p_reservation_id and not is_settled;
    if found then
      return;
    end if;
  end if;
  if p_used.key_source <> 'organisation' then
    return;
  end if;
  if not exists (
    select from public.model_policies
    where provider_id = p_used.provider_id and spending_cap_micro_usd is not null
  ) then
    return;
  end if;
  -- Estimates of lost calls, calls that outlived their reservation, and models that tools called directly.
  v_policy := private.model_policy(p_used.user_id, p_used.provider_id, p_used.model);
  insert into private.model_reservations (policy_id, period_start, amount_micro_usd, is_settled, expires_at)
  select v_policy.id, private.cap_period_start(v_policy.cap_period), p_used.cost_micro_usd, true, clock_timestamp()
  where v_policy.spending_cap_micro_usd is not null and p_used.cost_micro_usd is not null
    -- The first reservation under a cap counts what was recorded before it.
    and exists (select from private.model_spending where policy_id = v_policy.id);
end;
$$;
comment on function private.settle_spending(public.usage_events, uuid) is
  'Replaces a call''s reservation by its actual cost. The cost of a call without a reservation that falls under a cap is added. Called by record_usage().';

create function private.release_spending(p_reservation_id uuid)
returns void
language sql
set search_path = ''
as $$
  delete from private.model_reservations where id = release_spending.p_reservation_id and not is_settled;
  delete from private.job_reservations where id = release_spending.p_reservation_id;
$$;
comment on function private.release_spending(uuid) is
  'Releases the reservation of a call that its provider did not answer. Called by the model port.';
