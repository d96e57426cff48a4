-- Claims: whose turn it is gets a lease and a new epoch. The claim takes the task's message out of the
-- queue, and from then on the lease is the only clock.

create function private.pick_expired(p_limit int)
returns setof uuid
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_now constant timestamptz := clock_timestamp();
begin
  return query
    select task.id
    from public.tasks as task
    where task.status = 'running' and task.lease_expires_at <= v_now
      and task.cancel_requested_at is null
      and task.deliveries < task.max_deliveries
      and not private.is_calling_model(task.id)
    order by task.lease_expires_at
    limit p_limit
    for no key update skip locked;
end;
$$;
comment on function private.pick_expired(int) is
  'Locks up to p_limit tasks whose workers died, those first that have waited longest. They count as running already, so no limit holds them back.';

create function private.pick_in_turn(p_limit int)
returns setof uuid
language plpgsql
set search_path = ''
-- A handful of tasks by their ids, whatever the planner makes of how many are pending.
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  -- More than are wanted: claims at the same moment look at the same tasks.
  v_turn constant uuid[] := array(
    select turn.task_id from private.next_in_turn(4 * p_limit) as turn order by turn.place
  );
begin
  return query
    select task.id
    from public.tasks as task
    where task.id = any (v_turn)
      and task.status = 'pending'
      and not task.works_alone
      and task.cancel_requested_at is null
      and task.deliveries < task.max_deliveries
    order by array_position(v_turn, task.id)
    limit p_limit
    for no key update skip locked;
end;
$$;
comment on function private.pick_in_turn(int) is 'Locks up to p_limit tasks whose turn it is.';

create function private.pick_of_only_owner(p_limit int)
returns setof uuid
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_now constant timestamptz := clock_timestamp();
  v_owner_id uuid;
  v_first uuid;
  v_last uuid;
  v_max_running bigint;
begin
  select task.created_by, task.owner_key into v_owner_id, v_first
  from public.tasks as task
  where task.status = 'pending' and task.message_id is not null
  order by task.owner_key
  limit 1;
  select task.owner_key into v_last
  from public.tasks as task
  where task.status = 'pending' and task.message_id is not null
  order by task.owner_key desc
  limit 1;
  if v_first is distinct from v_last then
    return;
  end if;
  v_max_running := private.quota('running_tasks', v_owner_id);
  return query
    select task.id
    from public.tasks as task
    where task.status = 'pending' and task.message_id is not null
      and task.owner_key = v_first
      and (task.run_after is null or task.run_after <= v_now)
      and not task.works_alone
      and task.cancel_requested_at is null
      and task.deliveries < task.max_deliveries
    order by array_position(array['high', 'normal', 'low'], task.priority), task.message_id
    limit case
      when v_max_running is null then p_limit
      else greatest(0, least(p_limit, v_max_running - private.running_count(v_owner_id)))
    end
    for no key update skip locked;
end;
$$;
comment on function private.pick_of_only_owner(int) is
  'pick_in_turn() for the usual case, in a quarter of its time: where one owner alone waits, turns need no counting. Picks nothing in any other case. The caller knows that no concurrency key has a limit.';

create function private.has_room_for_one(p_created_by uuid, p_concurrency_key text)
returns boolean
language plpgsql
set search_path = ''
set enable_seqscan = off
set jit = off
as $$
declare
  v_max_running constant int := (
    select max_running from private.concurrency_limits
    where concurrency_key = p_concurrency_key or (concurrency_key = '*' and p_concurrency_key is not null)
    order by concurrency_key = '*'
    limit 1
  );
begin
  return coalesce(private.running_count(p_created_by) < private.quota('running_tasks', p_created_by), true)
    and (
      v_max_running is null
      or v_max_running > (
        select count(*) from public.tasks as task
        where task.status = 'running'
          and task.concurrency_key = p_concurrency_key
          and task.created_by is not distinct from p_created_by
      )
    );
end;
$$;
comment on function private.has_room_for_one(uuid, text) is
  'True when quotas and concurrency_limits let one more task of that owner and key run.';

create function private.pick_lone()
returns setof uuid
language plpgsql
set search_path = ''
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
begin
  return query
    select task.id
    from public.tasks as task
    where task.works_alone
      and task.status = 'pending'
      and task.message_id is not null
      and (task.run_after is null or task.run_after <= clock_timestamp())
      and task.cancel_requested_at is null
      and task.deliveries < task.max_deliveries
      and private.has_room_for_one(task.created_by, task.concurrency_key)
    order by task.message_id
    limit 1
    for no key update skip locked;
end;
$$;
comment on function private.pick_lone() is
  'Locks the task that has waited longest for a worker of its own.';

create function private.pick_tasks(p_limit int, p_has_key_limits boolean)
returns setof uuid
language plpgsql
set search_path = ''
as $$
begin
  if not p_has_key_limits then
    return query select private.pick_of_only_owner(p_limit);
    if found then
      return;
    end if;
  end if;
  return query select private.pick_in_turn(p_limit);
end;
$$;
comment on function private.pick_tasks(int, boolean) is 'Locks up to p_limit tasks that wait, to be claimed.';

create function private.take_tasks(p_task_ids uuid[], p_worker_id text, p_lease_seconds int, p_is_ahead boolean)
returns public.tasks[]
language plpgsql
set search_path = ''
as $$
begin
  if cardinality(p_task_ids) = 0 then
    return '{}'::public.tasks[];
  end if;
  perform private.delete_messages(array(
    select task.message_id from public.tasks as task where task.id = any (p_task_ids) and task.message_id is not null
  ));
  return array(
    select started
    from private.start_tasks(p_task_ids, p_worker_id, p_lease_seconds, p_is_ahead) as started
    order by array_position(p_task_ids, started.id)
  );
end;
$$;
comment on function private.take_tasks(uuid[], text, int, boolean) is
  'Gives locked tasks to a worker, takes their messages out of the queue and returns the tasks as they are now.';

create function private.trace_claims(
  p_tasks public.tasks[], p_worker_id text, p_begins_first_steps boolean, p_are_new boolean default false
)
returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_begun jsonb := '{}'::jsonb;
begin
  if p_begins_first_steps then
    with begun as (
      insert into public.task_steps (task_id, seq, kind, state, name, idempotency_key, epoch)
      select task.id, 1, 'model', 'started', coalesce(agent.model, provider.default_model), task.id || ':1', task.epoch
      from unnest(p_tasks) as task
      join public.agents as agent on agent.id = task.agent_id
      join public.llm_providers as provider on provider.id = agent.provider_id
      where provider.is_active
        -- What the job may spend is for the worker to ask, who can tell the task of a refusal.
        and case
          when task.parent_id is null then task.budget
          else (select master.budget from public.tasks as master where master.id = task.master_task_id)
        end is null
        and not exists (select from public.task_steps as step where step.task_id = task.id)
      returning task_id, name
    )
    select coalesce(jsonb_object_agg(task_id, name), '{}') into v_begun from begun;
  end if;
  insert into public.task_events (task_id, master_task_id, type, payload)
  select task.id, task.master_task_id, event.type, event.payload
  from unnest(p_tasks) with ordinality as task
  cross join lateral (
    values
      (0, 'task.created', jsonb_build_object('agent', task.agent_slug)),
      (
        1,
        case when task.epoch = 1 then 'task.started' else 'task.resumed' end,
        jsonb_build_object('worker_id', p_worker_id, 'epoch', task.epoch, 'deliveries', task.deliveries)
      ),
      (2, 'model.started', jsonb_strip_nulls(jsonb_build_object('step_seq', 1, 'name', v_begun -> task.id::text)))
  ) as event (place, type, payload)
  where case event.place when 0 then p_are_new when 1 then true else v_begun ? task.id::text end
  order by task.ordinality, event.place;
end;
$$;
comment on function private.trace_claims(public.tasks[], text, boolean, boolean) is
  'The events of claimed tasks, after those of their creation with p_are_new. With p_begins_first_steps it writes the first step of those that have none, which always is a call of the model, and so saves each of them a round trip. The caller has just claimed the tasks.';

create function private.is_user_waiting()
returns boolean
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
begin
  return (
    -- The service stands first in the order of owner_key.
    select task.created_by is not null
    from public.tasks as task
    where task.status = 'pending' and task.message_id is not null
    order by task.owner_key desc
    limit 1
  );
end;
$$;
comment on function private.is_user_waiting() is
  'True when a task of a user is in line, to which quotas apply; tasks of the service have none. Null when nothing waits.';

create function private.claim_tasks(
  p_worker_id text, p_limit int, p_lease_seconds int, p_begins_first_steps boolean default false,
  p_lone text default 'any', p_is_ahead boolean default false, p_free_slot_count int default null
)
returns table (task_id uuid, epoch bigint, context json)
language plpgsql
set search_path = ''
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_has_key_limits constant boolean := exists (select from private.concurrency_limits);
  v_claimed public.tasks[] := '{}'::public.tasks[];
  v_has_expired boolean := false;
  v_is_alone boolean := false;
begin
  if p_free_slot_count is not null then
    v_claimed := private.fetch_handed(p_worker_id);
    if cardinality(v_claimed) > 0 then
      return query select * from private.task_contexts(v_claimed);
      return;
    end if;
  end if;
  if p_limit <= 0 then
    return;
  end if;
  if v_has_key_limits or private.is_user_waiting() then
    -- One claim at a time, before it locks anything else: two that count at once would both start
    -- the last task allowed.
    perform pg_advisory_xact_lock(hashtextextended('supaswarm:concurrency_limits', 0));
  end if;
  if exists (select from public.tasks where status = 'running' and lease_expires_at <= clock_timestamp()) then
    v_has_expired := true;
    perform private.release_cut_calls(p_lease_seconds);
  end if;
  if p_lone <> 'skip' and exists (select from public.tasks where works_alone and status = 'pending') then
    v_claimed := private.take_tasks(array(select private.pick_lone()), p_worker_id, p_lease_seconds, p_is_ahead);
    v_is_alone := p_lone = 'first' and cardinality(v_claimed) > 0;
  end if;
  if not v_is_alone and v_has_expired then
    v_claimed := v_claimed || private.take_tasks(
      array(select private.pick_expired(p_limit - cardinality(v_claimed))), p_worker_id, p_lease_seconds, p_is_ahead
    );
  end if;
  if not v_is_alone and cardinality(v_claimed) < p_limit
    and exists (select from public.tasks where status = 'pending' and message_id is not null)
  then
    v_claimed := v_claimed || private.take_tasks(
      array(select private.pick_tasks(p_limit - cardinality(v_claimed), v_has_key_limits)),
      p_worker_id, p_lease_seconds, p_is_ahead
    );
  end if;
  if cardinality(v_claimed) < p_limit then
    if cardinality(v_claimed) = 0 then
      -- Nobody may wait for the disk on account of a hint.
      perform set_config('synchronous_commit', 'off', true);
    end if;
    perform private.open_wake_gate('supaswarm_tasks');
  end if;
  if p_free_slot_count is not null then
    perform private.offer_slots(p_worker_id, greatest(p_free_slot_count - cardinality(v_claimed), 0), p_lease_seconds);
  end if;
  if cardinality(v_claimed) = 0 then
    return;
  end if;

  perform private.trace_claims(v_claimed, p_worker_id, p_begins_first_steps);
  return query select * from private.task_contexts(v_claimed);
end;
$$;
comment on function private.claim_tasks(text, int, int, boolean, text, boolean, int) is
  'Claims up to p_limit tasks, those of dead workers first and then in turn among owners, an owner''s of high priority first, and within quotas and concurrency_limits, each with a lease of p_lease_seconds and a new epoch. p_lone says what becomes of tasks that work alone: skip leaves them, first claims one of them and then nothing else, any takes one before the others. p_is_ahead: more are asked for than there are free slots, so the tasks may wait in the worker; a first such claim of a task does not count as a delivery. p_free_slot_count, from a worker that listens: it may be handed so many new tasks; those that it was handed since its last claim come instead of others. Called by workers.';
