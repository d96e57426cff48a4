-- One lease, one clock: visibility of the message and lease of the task move together.

create function private.task_id_of(p_message jsonb)
returns uuid
language plpgsql
immutable
set search_path = ''
as $$
begin
  return substring(
    p_message ->> 'task_id' from '^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$'
  )::uuid;
end;
$$;
comment on function private.task_id_of(jsonb) is
  'The task that a queue message {"task_id"} names; null for a malformed one, which must not keep its queue from being read.';

create function private.settle_unclaimed(p_queue text, p_message_id bigint, p_task_id uuid)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_is_current boolean := exists (
    select from public.tasks
    where id = p_task_id and message_id = p_message_id and private.queue_of(priority) = p_queue
  );
begin
  if v_is_current then
    -- Busy in another transaction, or waiting for the reconciler: look again soon.
    perform pgmq.set_vt(p_queue, p_message_id, 1);
  else
    perform pgmq.delete(p_queue, p_message_id);
  end if;
end;
$$;
comment on function private.settle_unclaimed(text, bigint, uuid) is
  'What becomes of a message that was read but whose task could not be claimed.';

create function private.pick_in_turn(p_limit int)
returns table (task_id uuid, message_id bigint, priority text)
language plpgsql
set search_path = ''
-- A handful of tasks by their ids, whatever the planner makes of how many are pending.
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_turn uuid[] := array(
    select id
    from public.tasks
    where status = 'running' and lease_expires_at <= clock_timestamp()
    order by lease_expires_at
    limit 4 * p_limit
  );
begin
  -- More than are wanted: claims at the same moment look at the same tasks.
  v_turn := v_turn || array(
    select turn.task_id from private.next_in_turn(4 * p_limit) as turn order by turn.place
  );
  return query
    select task.id, task.message_id, task.priority
    from public.tasks as task
    where task.id = any (v_turn)
      and task.cancel_requested_at is null
      and task.deliveries < task.max_deliveries
      and (
        (task.status = 'pending' and not task.works_alone)
        or (
          task.status = 'running'
          and task.lease_expires_at <= clock_timestamp()
          and not private.is_calling_model(task.id)
        )
      )
    order by array_position(v_turn, task.id)
    limit p_limit
    for no key update skip locked;
end;
$$;
comment on function private.pick_in_turn(int) is
  'Locks up to p_limit tasks, those of dead workers first and then those whose turn it is.';

create function private.pick_of_only_owner(p_limit int)
returns table (task_id uuid, message_id bigint, priority text)
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
  if v_first is distinct from v_last
    or exists (select from public.tasks as task where task.status = 'running' and task.lease_expires_at <= v_now)
  then
    return;
  end if;
  v_max_running := private.quota('running_tasks', v_owner_id);
  return query
    select task.id, task.message_id, task.priority
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
  'pick_in_turn() for the usual case, in a quarter of its time: where one owner alone waits and no lease has expired, turns need no counting. Picks nothing in any other case. The caller knows that no concurrency key has a limit.';

create function private.start_claimed(
  p_task_ids uuid[], p_message_ids bigint[], p_worker_id text, p_lease_expires_at timestamptz
)
returns uuid[]
language plpgsql
set search_path = ''
as $$
declare
  v_started uuid[];
begin
  with started as (
    update public.tasks as task
    set status = 'running',
        epoch = task.epoch + 1,
        deliveries = task.deliveries + 1,
        worker_id = p_worker_id,
        lease_expires_at = p_lease_expires_at,
        run_after = null,
        started_at = coalesce(task.started_at, clock_timestamp()),
        logs = task.logs || private.log_line(
          case when task.epoch = 0 then 'started' else 'resumed' end || ' by worker ' || p_worker_id
        )
    where task.id = any (p_task_ids) and task.message_id = any (p_message_ids)
    returning task.id
  )
  select array_agg(id) into v_started from started;
  return coalesce(v_started, '{}');
end;
$$;
comment on function private.start_claimed(uuid[], bigint[], text, timestamptz) is
  'Gives tasks to a worker until the time to which their messages have been moved. The caller has locked them.';

create function private.claim_strays(p_priority text, p_worker_id text, p_limit int, p_lease_seconds int)
returns uuid[]
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_lease_expires_at constant timestamptz := clock_timestamp() + make_interval(secs => p_lease_seconds);
  v_messages jsonb;
  v_task_ids uuid[];
  v_message_ids bigint[];
  v_claimed uuid[];
begin
  -- A statement of its own: the one that follows sees the task of every message read here, however
  -- recently it was committed.
  select coalesce(jsonb_agg(jsonb_build_object(
    'message_id', read.msg_id, 'task_id', private.task_id_of(read.message)
  )), '[]')
  into v_messages
  from pgmq.read(private.queue_of(p_priority), p_lease_seconds, p_limit) as read;

  select array_agg(claimable.id), array_agg(claimable.message_id) into v_task_ids, v_message_ids
  from (
    select task.id, task.message_id
    from public.tasks as task
    join jsonb_to_recordset(v_messages) as message (message_id bigint, task_id uuid)
      on message.task_id = task.id and message.message_id = task.message_id
    where task.id = any (
        array(select listed.task_id from jsonb_to_recordset(v_messages) as listed (task_id uuid))
      )
      and task.priority = p_priority
      and task.cancel_requested_at is null
      and task.deliveries < task.max_deliveries
      and (
        -- What a limit holds back waits for its turn.
        (
          task.status = 'pending'
          and not task.works_alone
          and not private.is_limited(task.created_by, task.concurrency_key, jsonb_array_length(v_messages))
        )
        or (
          task.status = 'running'
          and task.lease_expires_at <= clock_timestamp()
          and not private.is_calling_model(task.id)
        )
      )
    -- Whoever has locked the task may be waiting for the message that we hold: pass on.
    for no key update of task skip locked
  ) as claimable;
  v_claimed := private.start_claimed(
    v_task_ids, private.move_messages(p_priority, v_message_ids, v_lease_expires_at), p_worker_id, v_lease_expires_at
  );

  perform private.settle_unclaimed(private.queue_of(p_priority), message.message_id, message.task_id)
  from jsonb_to_recordset(v_messages) as message (message_id bigint, task_id uuid)
  where not exists (
    select from public.tasks as task
    where task.id = any (v_claimed) and task.message_id = message.message_id
  );
  return v_claimed;
end;
$$;
comment on function private.claim_strays(text, text, int, int) is
  'Claims up to p_limit tasks by reading the queue itself, and settles the messages of those that it cannot.';

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
returns table (task_id uuid, message_id bigint, priority text)
language plpgsql
set search_path = ''
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
begin
  return query
    select task.id, task.message_id, task.priority
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
returns table (task_id uuid, message_id bigint, priority text)
language plpgsql
set search_path = ''
as $$
begin
  if not p_has_key_limits then
    return query select * from private.pick_of_only_owner(p_limit);
    if found then
      return;
    end if;
  end if;
  return query select * from private.pick_in_turn(p_limit);
end;
$$;
comment on function private.pick_tasks(int, boolean) is 'Locks up to p_limit tasks to be claimed.';

create function private.claim_in_turn(
  p_worker_id text, p_limit int, p_lease_seconds int, p_has_key_limits boolean, p_is_lone boolean
)
returns uuid[]
language plpgsql
set search_path = ''
as $$
declare
  v_lease_expires_at constant timestamptz := clock_timestamp() + make_interval(secs => p_lease_seconds);
  v_part record;
  v_claimed uuid[] := array[]::uuid[];
begin
  -- A message's id is known to the queue of its priority alone.
  for v_part in
    select picked.priority, array_agg(picked.task_id) as task_ids, array_agg(picked.message_id) as message_ids
    from (
      select * from private.pick_lone() where p_is_lone
      union all
      select * from private.pick_tasks(p_limit, p_has_key_limits) where not p_is_lone
    ) as picked
    group by picked.priority
    order by array_position(array['high', 'normal', 'low'], picked.priority)
  loop
    v_claimed := v_claimed || private.start_claimed(
      v_part.task_ids,
      -- Waits at most for a claim that has read the message, and no claim waits for a task.
      private.move_messages(v_part.priority, v_part.message_ids, v_lease_expires_at),
      p_worker_id,
      v_lease_expires_at
    );
  end loop;
  return v_claimed;
end;
$$;
comment on function private.claim_in_turn(text, int, int, boolean, boolean) is
  'Claims up to p_limit tasks whose turn it is for a worker and returns their ids: with p_is_lone those that it has to run alone, else the others.';

create function private.trace_claims(p_task_ids uuid[], p_worker_id text, p_begins_first_steps boolean)
returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
begin
  with begun as (
    insert into public.task_steps (task_id, seq, kind, state, name, idempotency_key, epoch)
    select task.id, 1, 'model', 'started', coalesce(agent.model, provider.default_model), task.id || ':1', task.epoch
    from public.tasks as task
    join public.tasks as master on master.id = task.master_task_id
    join public.agents as agent on agent.id = task.agent_id
    join public.llm_providers as provider on provider.id = agent.provider_id
    where p_begins_first_steps
      and task.id = any (p_task_ids)
      and provider.is_active
      -- What the job may spend is for the worker to ask, who can tell the task of a refusal.
      and master.budget is null
      and not exists (select from public.task_steps as step where step.task_id = task.id)
    returning task_id, name
  )
  insert into public.task_events (task_id, master_task_id, type, payload)
  select task.id, task.master_task_id, event.type, event.payload
  from public.tasks as task
  left join begun on begun.task_id = task.id
  cross join lateral (
    values
      (
        1,
        case when task.epoch = 1 then 'task.started' else 'task.resumed' end,
        jsonb_build_object('worker_id', p_worker_id, 'epoch', task.epoch, 'deliveries', task.deliveries)
      ),
      (2, 'model.started', jsonb_strip_nulls(jsonb_build_object('step_seq', 1, 'name', begun.name)))
  ) as event (place, type, payload)
  where task.id = any (p_task_ids) and (event.place = 1 or begun.task_id is not null)
  order by array_position(p_task_ids, task.id), event.place;
end;
$$;
comment on function private.trace_claims(uuid[], text, boolean) is
  'The events of claimed tasks. With p_begins_first_steps it writes the first step of those that have none, which always is a call of the model, and so saves each of them a round trip. The caller has just claimed the tasks.';

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
  p_lone text default 'any'
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
  v_priority text;
  v_claimed uuid[] := array[]::uuid[];
  v_is_alone boolean := false;
begin
  if v_has_key_limits or private.is_user_waiting() then
    -- One claim at a time, before it locks anything else: two that count at once would both start
    -- the last task allowed.
    perform pg_advisory_xact_lock(hashtextextended('supaswarm:concurrency_limits', 0));
  end if;
  if exists (select from public.tasks where status = 'running' and lease_expires_at <= clock_timestamp()) then
    perform private.release_cut_calls(p_lease_seconds);
  end if;
  if p_lone <> 'skip' and exists (select from public.tasks where works_alone and status = 'pending') then
    v_claimed := private.claim_in_turn(p_worker_id, 1, p_lease_seconds, v_has_key_limits, true);
    v_is_alone := p_lone = 'first' and cardinality(v_claimed) > 0;
  end if;
  -- A dead worker's task shows by its message, which can be read again. What a limit held back has a
  -- message that is out of sight for a second, and may be due now.
  if not v_is_alone and cardinality(v_claimed) < p_limit and (
    exists (select from public.tasks where status = 'pending' and message_id is not null)
    or cardinality(private.priorities_with_messages()) > 0
  ) then
    v_claimed := v_claimed || private.claim_in_turn(
      p_worker_id, p_limit - cardinality(v_claimed), p_lease_seconds, v_has_key_limits, false
    );
  end if;
  if not v_is_alone and cardinality(v_claimed) < p_limit then
    -- What the lines do not show is still in a queue. Read after every turn was given: who reads
    -- holds messages for which a turn waits, and waits for nobody.
    foreach v_priority in array private.priorities_with_messages() loop
      exit when cardinality(v_claimed) >= p_limit;
      v_claimed := v_claimed || private.claim_strays(
        v_priority, p_worker_id, p_limit - cardinality(v_claimed), p_lease_seconds
      );
    end loop;
  end if;
  if cardinality(v_claimed) < p_limit then
    if cardinality(v_claimed) = 0 then
      -- Nobody may wait for the disk on account of a hint.
      perform set_config('synchronous_commit', 'off', true);
    end if;
    perform private.open_listener_gate();
  end if;
  if cardinality(v_claimed) = 0 then
    return;
  end if;

  perform private.trace_claims(v_claimed, p_worker_id, p_begins_first_steps);
  return query select * from private.task_contexts(v_claimed);
end;
$$;
comment on function private.claim_tasks(text, int, int, boolean, text) is
  'Claims up to p_limit tasks, in turn among owners, an owner''s of high priority first, and within quotas and concurrency_limits, each with a lease of p_lease_seconds and a new epoch. p_lone says what becomes of tasks that work alone: skip leaves them, first claims one of them and then nothing else, any takes one before the others. Called by workers.';
