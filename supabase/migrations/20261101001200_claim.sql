-- Claims: the next tasks get a lease and a new epoch. The claim deletes the task's message from the queue;
-- after that, only the lease decides when the task can be claimed again.

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
  'Locks up to p_limit tasks whose workers died, those with the oldest leases first. No limit applies to them, because they already count as running.';

create function private.pick_in_turn(p_limit int)
returns setof uuid
language plpgsql
set search_path = ''
-- A few tasks by id: the plan must not depend on estimates of how many tasks are pending.
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  -- More than needed, because concurrent claims look at the same tasks.
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
comment on function private.pick_in_turn(int) is 'Locks up to p_limit tasks that run next.';

create function private.claimed_until(p_owner_key uuid)
returns bigint
language plpgsql
set search_path = ''
as $$
declare
  v_stored constant text[] := string_to_array(current_setting('supaswarm.claimed_until', true), ' ');
begin
  if v_stored[1] = p_owner_key::text and v_stored[3]::float8 > extract(epoch from clock_timestamp()) - 5 then
    return v_stored[2]::bigint;
  end if;
  perform set_config('supaswarm.claimed_until', '', false);
  return 0;
end;
$$;
comment on function private.claimed_until(uuid) is
  'The message of the last task that this session claimed from an owner''s line, or 0. Forgotten after 5 seconds, because tasks with earlier messages may be due by then.';

create function private.remember_claimed_until(p_owner_key uuid, p_message_id bigint)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_looked_at constant text := coalesce(
    (string_to_array(nullif(current_setting('supaswarm.claimed_until', true), ''), ' '))[3],
    extract(epoch from clock_timestamp())::text
  );
begin
  perform set_config('supaswarm.claimed_until', concat_ws(' ', p_owner_key, p_message_id, v_looked_at), false);
end;
$$;
comment on function private.remember_claimed_until(uuid, bigint) is
  'Stores in the session up to which message an owner''s line was claimed, and when the line was last read from its beginning.';

create function private.pick_of_only_owner(p_limit int, p_of_users boolean)
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
  v_owner_key uuid;
  v_max_running bigint;
  v_limit bigint := p_limit;
  v_claimed_until bigint;
  v_task_ids uuid[];
  v_message_ids bigint[];
begin
  -- From the end of the lines: while a session holds an old snapshot, entries of tasks that were
  -- claimed cannot be removed from their beginning.
  select task.created_by, task.owner_key into v_owner_id, v_owner_key
  from public.tasks as task
  where task.status = 'pending' and task.message_id is not null
  order by task.owner_key desc
  limit 1;
  -- Not exists(): without the order, its plan may read every waiting task.
  if v_owner_key is null or (v_owner_id is not null and not p_of_users) or (
    select task.owner_key
    from public.tasks as task
    where task.status = 'pending' and task.message_id is not null and task.owner_key < v_owner_key
    order by task.owner_key desc
    limit 1
  ) is not null then
    return;
  end if;
  v_max_running := private.quota('running_tasks', v_owner_id);
  if v_max_running is not null then
    v_limit := greatest(0, least(p_limit, v_max_running - private.running_count(v_owner_id)));
  end if;
  v_claimed_until := private.claimed_until(v_owner_key);
  loop
    -- The index contains the message, so earlier entries are skipped without reading their tasks.
    select array_agg(line.id), array_agg(line.message_id) into v_task_ids, v_message_ids
    from (
      select task.id, task.message_id
      from public.tasks as task
      where task.status = 'pending' and task.message_id > v_claimed_until
        and task.owner_key = v_owner_key
        and (task.run_after is null or task.run_after <= v_now)
        and not task.works_alone
        and task.cancel_requested_at is null
        and task.deliveries < task.max_deliveries
      order by array_position(array['high', 'normal', 'low'], task.priority), task.message_id
      limit v_limit
      for no key update skip locked
    ) as line;
    exit when v_claimed_until = 0 or cardinality(v_task_ids) = v_limit;
    -- Tasks with earlier messages may be due now.
    v_claimed_until := 0;
    perform set_config('supaswarm.claimed_until', '', false);
  end loop;
  if cardinality(v_task_ids) = v_limit then
    perform private.remember_claimed_until(v_owner_key, v_message_ids[v_limit]);
  end if;
  return query select unnest(v_task_ids);
end;
$$;
comment on function private.pick_of_only_owner(int, boolean) is
  'A faster pick_in_turn(), in a quarter of its time, for the usual case that only one owner has waiting tasks. Returns nothing in any other case, and without p_of_users only tasks of the service. The caller has checked that no concurrency key has a limit.';

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
  'True when quotas and concurrency_limits allow one more running task of this owner and key.';

create function private.pick_lone(p_of_users boolean)
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
      and (p_of_users or task.created_by is null)
      and (task.run_after is null or task.run_after <= clock_timestamp())
      and task.cancel_requested_at is null
      and task.deliveries < task.max_deliveries
      and private.has_room_for_one(task.created_by, task.concurrency_key)
    order by task.message_id
    limit 1
    for no key update skip locked;
end;
$$;
comment on function private.pick_lone(boolean) is
  'Locks the task with works_alone that has waited longest, without p_of_users of the service''s.';

create function private.take_expired(p_limit int, p_worker_id text, p_lease_seconds int, p_is_ahead boolean)
returns public.tasks[]
language plpgsql
set search_path = ''
as $$
declare
  v_task_ids constant uuid[] := array(select private.pick_expired(p_limit));
begin
  -- The worker may have died before it wrote the trace of a task that was handed to it.
  perform private.trace_handed(task, p_begins_first_step => false)
  from public.tasks as task
  where task.id = any (v_task_ids) and task.epoch = 1;
  return private.take_tasks(v_task_ids, p_worker_id, p_lease_seconds, p_is_ahead);
end;
$$;
comment on function private.take_expired(int, text, int, boolean) is
  'Gives up to p_limit tasks whose workers died to another worker and returns the updated tasks.';

create function private.pick_tasks(p_limit int, p_of_users boolean, p_has_key_limits boolean)
returns setof uuid
language plpgsql
set search_path = ''
as $$
begin
  if not p_has_key_limits then
    return query select private.pick_of_only_owner(p_limit, p_of_users);
    if found or not p_of_users then
      return;
    end if;
  end if;
  return query select private.pick_in_turn(p_limit);
end;
$$;
comment on function private.pick_tasks(int, boolean, boolean) is
  'Locks up to p_limit waiting tasks for a claim. Without p_of_users, only when all of them are the service''s.';

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
  'Gives locked tasks to a worker, deletes their messages from the queue and returns the updated tasks.';

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
        -- A job with a budget is left to the worker, which can report a refusal to the task.
        and case
          when task.parent_id is null then task.budget
          else (select master.budget from public.tasks as master where master.id = task.master_task_id)
        end is null
        and not exists (select from public.task_steps as step where step.task_id = task.id)
      returning task_id, name
    )
    select coalesce(jsonb_object_agg(task_id, name), '{}') into v_begun from begun;
  end if;
  insert into public.task_events (task_id, master_task_id, type, payload, at)
  select task.id, task.master_task_id, event.type, event.payload,
    case event.place when 0 then task.created_at else clock_timestamp() end
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
  'Writes the events of claimed tasks. With p_begins_first_steps it also writes the first step of tasks that have none, which is always a model call; this saves each of them a round trip. With p_are_new it begins with the events of their creation. The caller holds the tasks.';

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
    -- The service sorts first by owner_key.
    select task.created_by is not null
    from public.tasks as task
    where task.status = 'pending' and task.message_id is not null
    order by task.owner_key desc
    limit 1
  );
end;
$$;
comment on function private.is_user_waiting() is
  'True when a task of a user is waiting; only tasks of users have quotas. Null when nothing waits.';

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
  v_of_users constant boolean := v_has_key_limits or coalesce(private.is_user_waiting(), false);
  v_claimed public.tasks[] := '{}'::public.tasks[];
  v_has_expired boolean := false;
  v_is_alone boolean := false;
begin
  if p_free_slot_count is not null then
    return query select * from private.fetch_handed(p_worker_id);
    if found then
      return;
    end if;
  end if;
  if p_limit <= 0 then
    return;
  end if;
  if v_of_users then
    -- One claim at a time, locked before anything else: two claims that count concurrently would both
    -- start the last task that a limit allows. A claim without the lock ignores tasks that users create
    -- meanwhile; the next claim finds them.
    perform pg_advisory_xact_lock(hashtextextended('supaswarm:concurrency_limits', 0));
  end if;
  if private.has_expired_lease() then
    v_has_expired := true;
    perform private.release_cut_calls(p_lease_seconds);
  end if;
  if p_lone <> 'skip' and exists (select from public.tasks where works_alone and status = 'pending') then
    v_claimed := private.take_tasks(array(select private.pick_lone(v_of_users)), p_worker_id, p_lease_seconds, p_is_ahead);
    v_is_alone := p_lone = 'first' and cardinality(v_claimed) > 0;
  end if;
  if not v_is_alone and v_has_expired then
    v_claimed := v_claimed || private.take_expired(
      p_limit - cardinality(v_claimed), p_worker_id, p_lease_seconds, p_is_ahead
    );
  end if;
  if not v_is_alone and cardinality(v_claimed) < p_limit and private.is_user_waiting() is not null then
    v_claimed := v_claimed || private.take_tasks(
      array(select private.pick_tasks(p_limit - cardinality(v_claimed), v_of_users, v_has_key_limits)),
      p_worker_id, p_lease_seconds, p_is_ahead
    );
  end if;
  if cardinality(v_claimed) < p_limit then
    if cardinality(v_claimed) = 0 then
      -- Opening the gate is only a hint, so the commit need not wait for the disk.
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
  'Claims up to p_limit tasks, each with a lease of p_lease_seconds and a new epoch: first the tasks of dead workers, then waiting tasks in turn among owners, within quotas and concurrency_limits. Priority orders the tasks of one owner. p_lone is for tasks with works_alone: skip claims none of them, first claims one of them and then nothing else, any claims one before the others. p_is_ahead: the worker claims more tasks than it has free slots; the first such claim of a task does not count as a delivery. p_free_slot_count, given by a worker that listens: how many new tasks create_task() may hand to it; if it was handed some since its last claim, this claim returns those and claims no others. Called by workers.';
