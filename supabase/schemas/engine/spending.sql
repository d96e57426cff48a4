-- The cost of model calls, and the check that a job's budget allows the next one.

create function private.price_at(p_provider_id uuid, p_model text, p_input_tokens bigint default 0)
returns public.model_prices
-- Not "language sql", which Postgres would plan again at every call.
language plpgsql
stable
set search_path = ''
as $$
declare
  v_price public.model_prices;
begin
  select * into v_price
  from public.model_prices as price
  where price.provider_id = p_provider_id
    and price.model = p_model
    and price.valid_from <= now()
    and (price.above_input_tokens = 0 or price.above_input_tokens < p_input_tokens)
  order by price.valid_from desc, price.above_input_tokens desc
  limit 1;
  if v_price.provider_id is null and exists (select from public.llm_providers where id = p_provider_id and is_free) then
    v_price.provider_id := p_provider_id;
    v_price.model := p_model;
    v_price.input_micro_usd_per_mtok := 0;
    v_price.cached_input_micro_usd_per_mtok := 0;
    v_price.output_micro_usd_per_mtok := 0;
    v_price.web_search_micro_usd_per_call := 0;
    v_price.code_execution_micro_usd_per_call := 0;
  end if;
  return v_price;
end;
$$;
comment on function private.price_at(uuid, text, bigint) is
  'The price of a model that is valid now for a call with this many input tokens, or null. A model without a price of a free provider costs 0.';

create function private.is_priced(p_agent_id uuid, p_provider_id uuid, p_model text)
returns boolean
language plpgsql
stable
set search_path = ''
as $$
declare
  v_price public.model_prices := private.price_at(p_provider_id, p_model);
begin
  return v_price.provider_id is not null and not exists (
    select
    from public.agents as agent
    cross join unnest(agent.provider_tools) as tool
    where agent.id = p_agent_id
      and case tool
        when 'web_search' then v_price.web_search_micro_usd_per_call
        else v_price.code_execution_micro_usd_per_call
      end is null
  );
end;
$$;
comment on function private.is_priced(uuid, uuid, text) is
  'True when the price of this model is known, including the prices of the provider''s tools that the agent may use.';

create function private.assert_budget_left(p_task public.tasks)
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
declare
  v_master public.tasks := p_task;
  v_totals private.job_totals;
  v_budget jsonb;
  v_budget_job_id uuid;
  v_exceeded text;
begin
  if p_task.parent_id is not null then
    select * into v_master from public.tasks where id = p_task.master_task_id;
  end if;
  if v_master.budget is null then
    return null;
  end if;
  select * into v_totals from private.job_totals where master_task_id = v_master.id;

  v_budget := v_master.budget;
  v_exceeded := private.spent_cap(v_budget, v_totals);
  if v_exceeded is null then
    -- Forks of one job spend its budget together.
    v_budget_job_id := private.budget_job_of(v_master.id);
    v_budget := coalesce((select budget from public.tasks where id = v_budget_job_id), '{}');
    v_exceeded := private.spent_cap(v_budget, private.shared_spending(v_budget_job_id));
  end if;
  if v_exceeded is null and extract(epoch from clock_timestamp() - coalesce(v_master.started_at, v_master.created_at))
      >= private.cap(v_master.budget, 'max_wall_seconds', null)
  then
    v_budget := v_master.budget;
    v_exceeded := 'max_wall_seconds';
  end if;
  if v_exceeded is not null then
    perform private.raise_error('BUDGET_EXCEEDED',
      format('Cannot call the model: the job has used up its %s of %s',
        v_exceeded, v_budget ->> v_exceeded),
      'Create the task with a larger budget, or with null for no cap.');
  end if;
  return v_master.budget;
end;
$$;
comment on function private.assert_budget_left(public.tasks) is
  'Raises BUDGET_EXCEEDED when the job has used up a cap on tokens, cost or time; otherwise returns the job''s budget, or null.';

create function private.assert_price_known(p_is_priced boolean)
returns void
language plpgsql
immutable
set search_path = ''
as $$
begin
  if not p_is_priced then
    perform private.raise_error('PRICE_UNKNOWN',
      'Cannot call the model: the job has a cost cap, and the model or a tool of its provider has no price',
      'Insert the model''s price into model_prices, or create the task without max_cost_micro_usd.');
  end if;
end;
$$;
comment on function private.assert_price_known(boolean) is
  'Raises PRICE_UNKNOWN for a model without a price. Called for jobs with a cost cap.';

create function private.assert_budget_allows_model_call(p_task public.tasks)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  perform private.assert_room_left('trace_bytes', p_task.created_by, 'call the model');
  if private.cap(private.assert_budget_left(p_task), 'max_cost_micro_usd', null) is not null then
    perform private.assert_price_known(exists (
      select from private.model_of_task(p_task) as called
      where private.is_priced(p_task.agent_id, called.provider_id, called.model)
    ));
  end if;
end;
$$;
comment on function private.assert_budget_allows_model_call(public.tasks) is
  'Raises BUDGET_EXCEEDED or PRICE_UNKNOWN when the job''s budget does not allow another model call, and QUOTA_EXCEEDED when its owner''s quota trace_bytes is used up.';

create function private.insert_usage(p_usage jsonb)
returns public.usage_events
language plpgsql
set search_path = ''
as $$
declare
  v_used public.usage_events := jsonb_populate_record(null::public.usage_events, p_usage);
  v_price public.model_prices := private.price_at(v_used.provider_id, v_used.model, v_used.input_tokens);
begin
  v_used.input_tokens := coalesce(v_used.input_tokens, 0);
  v_used.cached_input_tokens := coalesce(v_used.cached_input_tokens, 0);
  v_used.cache_write_input_tokens := coalesce(v_used.cache_write_input_tokens, 0);
  v_used.output_tokens := coalesce(v_used.output_tokens, 0);
  v_used.web_search_calls := coalesce(v_used.web_search_calls, 0);
  v_used.code_execution_calls := coalesce(v_used.code_execution_calls, 0);
  v_used.cost_micro_usd := round((
    (v_used.input_tokens - v_used.cached_input_tokens - v_used.cache_write_input_tokens)
      * v_price.input_micro_usd_per_mtok::numeric
    + v_used.cache_write_input_tokens
      * coalesce(v_price.cache_write_input_micro_usd_per_mtok, v_price.input_micro_usd_per_mtok)
    + v_used.cached_input_tokens * v_price.cached_input_micro_usd_per_mtok
    + v_used.output_tokens * v_price.output_micro_usd_per_mtok
  ) / 1000000)
    -- Null when a tool was used that has no price, so that a partial cost is not taken for the total.
    + case v_used.web_search_calls when 0 then 0
      else v_used.web_search_calls * v_price.web_search_micro_usd_per_call end
    + case v_used.code_execution_calls when 0 then 0
      else v_used.code_execution_calls * v_price.code_execution_micro_usd_per_call end;

  insert into public.usage_events (
    user_id, task_id, step_seq, agent_slug, agent_revision, execution_id, mcp_name, tool_name, tool_version, provider_id, model, key_source,
    input_tokens, cached_input_tokens, cache_write_input_tokens, output_tokens, web_search_calls,
    code_execution_calls, cost_micro_usd, is_estimate
  )
  values (
    v_used.user_id, v_used.task_id, v_used.step_seq, v_used.agent_slug, v_used.agent_revision, v_used.execution_id,
    v_used.mcp_name, v_used.tool_name, v_used.tool_version,
    v_used.provider_id, v_used.model, v_used.key_source,
    v_used.input_tokens, v_used.cached_input_tokens, v_used.cache_write_input_tokens,
    v_used.output_tokens, v_used.web_search_calls, v_used.code_execution_calls, v_used.cost_micro_usd,
    coalesce(v_used.is_estimate, false)
  )
  returning id into v_used.id;
  -- Not by a trigger, which takes twice as long.
  perform private.debit_model_call(v_used.user_id);
  if p_usage ->> 'reservation_id' is not null then
    -- In the transaction that adds the cost to the job.
    delete from private.job_reservations where id = (p_usage ->> 'reservation_id')::uuid;
  end if;
  perform private.settle_spending(v_used, (p_usage ->> 'reservation_id')::uuid);
  return v_used;
end;
$$;
comment on function private.insert_usage(jsonb) is
  'Does what record_usage() does, except that the caller holds the task and adds the call to its job in the same transaction. Returns the call with its price.';

create function private.add_usage(
  p_master_task_id uuid, p_input_tokens bigint, p_output_tokens bigint, p_cost_micro_usd bigint
)
returns void
language plpgsql
set search_path = ''
as $$
begin
  update private.job_totals
  set input_tokens = input_tokens + p_input_tokens,
      output_tokens = output_tokens + p_output_tokens,
      cost_micro_usd = coalesce(cost_micro_usd + p_cost_micro_usd, cost_micro_usd, p_cost_micro_usd)
  where master_task_id = p_master_task_id;
end;
$$;
comment on function private.add_usage(uuid, bigint, bigint, bigint) is
  'Adds model calls of a running task to the totals of its job. p_cost_micro_usd: null when none of them has a price.';

create function private.sum_task_usage()
returns trigger
language plpgsql
set search_path = ''
as $$
begin
  select new.input_tokens + coalesce(sum(used.input_tokens), 0), new.output_tokens + coalesce(sum(used.output_tokens), 0),
    coalesce(new.cost_micro_usd + sum(used.cost_micro_usd), new.cost_micro_usd, sum(used.cost_micro_usd)),
    coalesce(max(used.id), new.summed_usage_id)
  into new.input_tokens, new.output_tokens, new.cost_micro_usd, new.summed_usage_id
  from public.usage_events as used
  -- Not all of them: retention deletes those of a task that lives long.
  where used.task_id = new.id and used.id > new.summed_usage_id;
  return new;
end;
$$;
comment on function private.sum_task_usage() is
  'Row trigger: adds the model calls of a task to it when it stops running, because its row is written then. Each call would write it once more.';
create trigger tasks_sum_usage before update of status on public.tasks
  for each row when (old.status = 'running' and new.status <> 'running')
  execute function private.sum_task_usage();

create function private.record_usage(p_usage jsonb)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_task public.tasks;
  v_used public.usage_events;
begin
  -- Before the call has an id: under this lock the calls of a task become visible in the order of their ids, so
  -- that the last one that is summed names them all.
  select * into v_task from public.tasks where id = (p_usage ->> 'task_id')::uuid for no key update;
  v_used := private.insert_usage(p_usage);
  if v_task.id is null then
    return;
  end if;
  perform private.add_usage(v_task.master_task_id, v_used.input_tokens, v_used.output_tokens, v_used.cost_micro_usd);
  -- The trigger tasks_sum_usage adds it to a task that runs.
  update public.tasks
  set input_tokens = input_tokens + v_used.input_tokens,
      output_tokens = output_tokens + v_used.output_tokens,
      cost_micro_usd = coalesce(cost_micro_usd + v_used.cost_micro_usd, cost_micro_usd, v_used.cost_micro_usd),
      summed_usage_id = v_used.id
  where id = v_task.id and status <> 'running';
end;
$$;
comment on function private.record_usage(jsonb) is
  'Records a model call at the price that is valid now. p_usage has columns of usage_events by name, and the reservation_id of resolve_provider_secret() if there is one. A call inside a task is also added to its job, and to the task when it does not run.';
