-- One lease, one clock: visibility of the message and lease of the task move together.

create function private.task_id_of(p_message jsonb)
returns uuid
language sql
immutable
security invoker
set search_path = ''
as $$
  select substring(
    p_message ->> 'task_id' from '^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$'
  )::uuid;
$$;
comment on function private.task_id_of(jsonb) is
  'The task that a queue message {"task_id"} names; null for a malformed one, which must not keep its queue from being read.';
revoke all on function private.task_id_of(jsonb) from public;

create function private.settle_unclaimed(p_queue text, p_message_id bigint, p_task_id uuid)
returns void
language plpgsql
volatile
security invoker
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
revoke all on function private.settle_unclaimed(text, bigint, uuid) from public;

create function private.take_messages_in_turn(p_priority text, p_limit int, p_lease_seconds int)
returns jsonb
language plpgsql
volatile
security invoker
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
    where status = 'running' and lease_expires_at <= clock_timestamp() and priority = p_priority
    order by lease_expires_at
    limit 4 * p_limit
  );
begin
  -- More than are wanted: claims at the same moment look at the same tasks.
  v_turn := v_turn || array(
    select turn.task_id from private.next_in_turn(p_priority, 4 * p_limit) as turn order by turn.place
  );
  return (
    with picked as materialized (
      select task.id, task.message_id
      from public.tasks as task
      where task.id = any (v_turn)
        and task.cancel_requested_at is null
        and task.deliveries < task.max_deliveries
        and (
          task.status = 'pending'
          or (task.status = 'running' and task.lease_expires_at <= clock_timestamp())
        )
      order by array_position(v_turn, task.id)
      limit p_limit
      for no key update skip locked
    )
    select coalesce(jsonb_agg(jsonb_build_object(
      'message_id', message.msg_id, 'task_id', picked.id, 'visible_at', message.vt, 'is_in_turn', true
    )), '[]')
    from picked
    -- Waits at most for a claim that has read the message, and no claim waits for a task.
    cross join lateral pgmq.set_vt(private.queue_of(p_priority), picked.message_id, p_lease_seconds) as message
  );
end;
$$;
comment on function private.take_messages_in_turn(text, int, int) is
  'Locks up to p_limit tasks, those of dead workers first and then those whose turn it is, and takes their messages for the lease: [{message_id, task_id, visible_at, is_in_turn}].';
revoke all on function private.take_messages_in_turn(text, int, int) from public;

create function private.claim_of_priority(p_priority text, p_worker_id text, p_limit int, p_lease_seconds int)
returns uuid[]
language plpgsql
volatile
security invoker
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_queue text := private.queue_of(p_priority);
  v_messages jsonb := private.take_messages_in_turn(p_priority, p_limit, p_lease_seconds);
  v_claimed uuid[];
begin
  -- What the lines do not show is still in the queue. A statement of its own: the one that follows
  -- sees the task of every message read here, however recently it was committed.
  if jsonb_array_length(v_messages) < p_limit then
    v_messages := v_messages || (
      select coalesce(jsonb_agg(jsonb_build_object(
        'message_id', read.msg_id, 'task_id', private.task_id_of(read.message), 'visible_at', read.vt,
        'is_in_turn', false
      )), '[]')
      from pgmq.read(v_queue, p_lease_seconds, p_limit - jsonb_array_length(v_messages)) as read
    );
  end if;

  with message as materialized (
    select *
    from jsonb_to_recordset(v_messages) as read (
      message_id bigint, task_id uuid, visible_at timestamptz, is_in_turn boolean
    )
  ),
  claimable as materialized (
    select task.id, message.visible_at
    from public.tasks as task
    join message on message.task_id = task.id and message.message_id = task.message_id
    where task.id = any (array(select listed.task_id from message as listed))
      and task.priority = p_priority
      and task.cancel_requested_at is null
      and task.deliveries < task.max_deliveries
      and (
        (
          task.status = 'pending'
          -- What a limit holds back waits for its turn.
          and (message.is_in_turn or not private.is_limited(task.created_by, task.concurrency_key))
        )
        or (task.status = 'running' and task.lease_expires_at <= clock_timestamp())
      )
    -- Whoever has locked the task may be waiting for the message that we hold: pass on.
    for no key update of task skip locked
  ),
  claimed as (
    update public.tasks as task
    set status = 'running',
        epoch = task.epoch + 1,
        deliveries = task.deliveries + 1,
        worker_id = p_worker_id,
        lease_expires_at = claimable.visible_at,
        run_after = null,
        started_at = coalesce(task.started_at, clock_timestamp()),
        logs = task.logs || private.log_line(
          case when task.epoch = 0 then 'started' else 'resumed' end || ' by worker ' || p_worker_id
        )
    from claimable
    where task.id = claimable.id
    returning task.id
  )
  select coalesce(array_agg(id), array[]::uuid[]) into v_claimed from claimed;

  perform private.settle_unclaimed(v_queue, message.message_id, message.task_id)
  from jsonb_to_recordset(v_messages) as message (message_id bigint, task_id uuid)
  where not exists (
    select from public.tasks as task
    where task.id = any (v_claimed) and task.message_id = message.message_id
  );
  return v_claimed;
end;
$$;
comment on function private.claim_of_priority(text, text, int, int) is
  'Claims up to p_limit tasks of one priority for a worker and returns their ids.';
revoke all on function private.claim_of_priority(text, text, int, int) from public;

create function private.claim_tasks(p_worker_id text, p_limit int, p_lease_seconds int)
returns table (task_id uuid, epoch bigint, context jsonb)
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_priority text;
  v_claimed uuid[] := array[]::uuid[];
begin
  if exists (select from private.concurrency_limits) then
    -- One claim at a time, before it locks anything else: two that count at once would both start
    -- the last task allowed.
    perform pg_advisory_xact_lock(hashtextextended('supaswarm:concurrency_limits', 0));
  end if;
  foreach v_priority in array array['high', 'normal', 'low'] loop
    exit when cardinality(v_claimed) >= p_limit;
    v_claimed := v_claimed || private.claim_of_priority(
      v_priority, p_worker_id, p_limit - cardinality(v_claimed), p_lease_seconds
    );
  end loop;
  if cardinality(v_claimed) = 0 then
    return;
  end if;

  perform private.emit_event(
    task.id, task.master_task_id,
    case when task.epoch = 1 then 'task.started' else 'task.resumed' end,
    jsonb_build_object('worker_id', p_worker_id, 'epoch', task.epoch, 'deliveries', task.deliveries)
  )
  from public.tasks as task
  where task.id = any (v_claimed);

  return query
    select task.id, task.epoch, private.task_context(task.id)
    from public.tasks as task
    where task.id = any (v_claimed)
    order by array_position(v_claimed, task.id);
end;
$$;
comment on function private.claim_tasks(text, int, int) is
  'Claims up to p_limit tasks, high priority first, in turn among owners and within concurrency_limits, each with a lease of p_lease_seconds and a new epoch. Called by workers.';
revoke all on function private.claim_tasks(text, int, int) from public;
