-- Claims: the next tasks get a lease and a new epoch.
--
-- Owners take turns, so that an owner with ten thousand waiting tasks does not delay an owner with ten, whatever
-- their priorities: priority only orders the tasks of one owner. Every read is an index probe. Its cost depends
-- on how many owners wait, up to a bound, and not on how many tasks wait.

create function private.release_due_tasks(p_runner text default '')
returns uuid
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  -- A value, because an index cannot be searched for a volatile function.
  v_now constant timestamptz := clock_timestamp();
begin
  -- Without starts, this is one probe of an index.
  if exists (select from private.row_starts where error is null) then
    perform private.start_row_jobs(p_limit => 20, p_max_duration => interval '100 milliseconds');
  end if;
  -- Not exists(): without the order, a plan may read entries of ended tasks that an old snapshot keeps.
  if (
    select run_after from public.tasks
    where status = 'pending' and run_after is not null and run_after <= v_now order by run_after limit 1
  ) is not null then
    update public.tasks set run_after = null where id in (
      select id from public.tasks
      where status = 'pending' and run_after is not null and run_after <= v_now
      order by run_after limit 200 for no key update skip locked
    );
  end if;
  return (
    select owner_key from public.tasks
    where status = 'pending' and run_after is null and runner = p_runner order by owner_key desc limit 1
  );
end;
$$;
comment on function private.release_due_tasks(text) is
  'Puts delayed tasks that are due, and jobs of changed rows, into the lines and returns the last owner_key of those of a runner: null when nothing waits, that of the service, which sorts first, when no user waits.';

create function private.owners_in_turn(p_limit int, p_of_users boolean, p_runner text default '')
returns table (owner_key uuid, running_count int, free_slot_count int)
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_max_owners constant int := 64;
  -- Owners with more running tasks than this get equal turns.
  v_max_counted constant int := 200;
  v_usual_quota constant bigint := (
    select usual.amount from private.quotas as usual where usual.name = 'running_tasks' and usual.user_id is null);
  -- A random start, so that every owner has a chance when more owners wait than are read. From this one, only the
  -- service follows.
  v_start constant uuid := case
    when p_of_users then gen_random_uuid() else uuid '00000000-0000-0000-0000-000000000001' end;
begin
  return query
    with recursive waiting (place, has_wrapped, owner_key, running_count, max_running, idle_count) as (
      values (0, false, v_start, 0, null::bigint, 0)
      union all
      select waiting.place + 1, following.has_wrapped, following.owner_key, use.running_count, quota.amount,
        waiting.idle_count + (use.running_count = 0 and coalesce(quota.amount, 1) > 0)::int
      from waiting
      cross join lateral (
        (
          select waiting.has_wrapped, task.owner_key, task.created_by from public.tasks as task
          where task.status = 'pending' and task.run_after is null and task.runner = p_runner
            and task.owner_key < waiting.owner_key
            and (not waiting.has_wrapped or task.owner_key >= v_start)
          order by task.owner_key desc limit 1
        )
        union all
        (
          select true, task.owner_key, task.created_by from public.tasks as task
          where p_of_users and not waiting.has_wrapped
            and task.status = 'pending' and task.run_after is null and task.runner = p_runner
            and task.owner_key >= v_start
          order by task.owner_key desc limit 1
        )
        limit 1
      ) as following
      left join private.quotas as own on own.name = 'running_tasks' and own.user_id = following.created_by
      -- Written out, as calls of quota() and of other functions took most of the time of a claim.
      cross join lateral (
        select case
          when own.name is not null then own.amount when following.created_by is not null then v_usual_quota
        end as amount
      ) as quota
      cross join lateral (
        select count(*)::int as running_count
        from (
          select from public.tasks as task where task.status = 'running' and task.owner_key = following.owner_key
          limit coalesce(quota.amount, v_max_counted)
        ) as running
      ) as use
      where waiting.place < v_max_owners
        -- No owner can come before those that run nothing, so as many of them as are wanted are enough.
        and waiting.idle_count < p_limit
    )
    select waiting.owner_key, waiting.running_count,
      least(p_limit, waiting.max_running - waiting.running_count)::int
    from waiting
    where waiting.place > 0 and waiting.running_count < coalesce(waiting.max_running, 2147483647)
    -- p_limit owners are enough: the first task of each comes before the second task of any other.
    order by waiting.running_count, random()
    limit p_limit;
end;
$$;
comment on function private.owners_in_turn(int, boolean, text) is
  'Up to p_limit owners with waiting tasks of a runner, those with the fewest running tasks first, and how many more each may have. Without p_of_users only the service.';

create function private.waiting_tasks_of_owner(
  p_owner_key uuid, p_limit int, p_is_idle boolean, p_has_key_limits boolean,
  p_runner text default '', p_workflows text[] default null
)
returns table (task_id uuid, runs_exclusively boolean, rank int)
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_max_keys constant int := 100;
  v_start constant text := md5(random()::text);
begin
  if not p_has_key_limits then
    return query
      select task.id, task.runs_exclusively, array_position(array['high', 'normal', 'low'], task.priority)
      from public.tasks as task
      where task.status = 'pending' and task.run_after is null and task.runner = p_runner and task.owner_key = p_owner_key
        and (p_is_idle or not task.runs_exclusively)
        and (p_workflows is null or task.agent_slug = any (p_workflows))
      order by array_position(array['high', 'normal', 'low'], task.priority), task.id
      limit p_limit;
    return;
  end if;
  return query
    with recursive line as (
      select arm.half, 1 as place, first.digest
      from (values (1, v_start), (2, '')) as arm (half, from_digest)
      cross join lateral (
        select coalesce(md5(task.concurrency_key), '') as digest from public.tasks as task
        where task.status = 'pending' and task.run_after is null and task.runner = p_runner and task.owner_key = p_owner_key
          and coalesce(md5(task.concurrency_key), '') >= arm.from_digest
        order by coalesce(md5(task.concurrency_key), '') limit 1
      ) as first
      where arm.half = 1 or first.digest < v_start
      union all
      select line.half, line.place + 1, following.digest
      from line
      cross join lateral (
        select coalesce(md5(task.concurrency_key), '') as digest from public.tasks as task
        where task.status = 'pending' and task.run_after is null and task.runner = p_runner and task.owner_key = p_owner_key
          and coalesce(md5(task.concurrency_key), '') > line.digest
        order by coalesce(md5(task.concurrency_key), '') limit 1
      ) as following
      where line.place < v_max_keys and (line.half = 1 or following.digest < v_start)
    ),
    busy as materialized (
      select md5(task.concurrency_key) as digest, count(*) as running_count
      from public.tasks as task
      where task.status = 'running' and task.owner_key = p_owner_key and task.concurrency_key is not null
      group by 1
    ),
    -- A key without room is not read, however long its line is.
    room as materialized (
      select line.digest,
        least(p_limit, coalesce(own.max_running, usual.max_running) - coalesce(busy.running_count, 0)) as free_slot_count
      from line
      left join busy on busy.digest = line.digest
      left join private.concurrency_limits as own on md5(own.concurrency_key) = line.digest and own.concurrency_key <> '*'
      left join private.concurrency_limits as usual on usual.concurrency_key = '*' and line.digest <> ''
    )
    select candidate.id, candidate.runs_exclusively, candidate.rank
    from room
    cross join lateral (
      select task.id, task.runs_exclusively, array_position(array['high', 'normal', 'low'], task.priority) as rank
      from public.tasks as task
      where task.status = 'pending' and task.run_after is null and task.runner = p_runner and task.owner_key = p_owner_key
        and coalesce(md5(task.concurrency_key), '') = room.digest
        and (p_is_idle or not task.runs_exclusively)
        and (p_workflows is null or task.agent_slug = any (p_workflows))
      order by array_position(array['high', 'normal', 'low'], task.priority), task.id
      limit greatest(room.free_slot_count, 0)
    ) as candidate
    order by candidate.rank, candidate.id
    limit p_limit;
end;
$$;
comment on function private.waiting_tasks_of_owner(uuid, int, boolean, boolean, text, text[]) is
  'The first waiting tasks of an owner for a runner, by priority and age; with p_has_key_limits those whose concurrency keys are below their limits. p_workflows: only tasks of these workflows, which the runner has.';

create function private.next_tasks(
  p_limit int, p_is_idle boolean, p_of_users boolean, p_has_key_limits boolean,
  p_runner text default '', p_workflows text[] default null
)
returns setof uuid
language plpgsql
set search_path = ''
-- The plan must follow the indexes, whatever the planner estimates for a growing table.
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  -- Claims of users' tasks come one at a time; others look at the same tasks, so they need more of them.
  v_wanted constant int := case when p_of_users then p_limit else 4 * p_limit end;
  v_turn constant uuid[] := array(
    select task.id
    from private.owners_in_turn(v_wanted, p_of_users, p_runner) as owner
    cross join lateral private.waiting_tasks_of_owner(
      owner.owner_key, owner.free_slot_count, p_is_idle, p_has_key_limits, p_runner, p_workflows)
      with ordinality as task (id, runs_exclusively, rank, place)
    -- The owner with the fewest running tasks comes first. Ties are random, weighted by priority. If priority
    -- decided ties, an owner that marks everything urgent would always win.
    order by task.runs_exclusively desc, owner.running_count + task.place, random() * task.rank
    limit v_wanted
  );
begin
  return query
    select task.id from public.tasks as task
    where task.id = any (v_turn)
      -- "is true", so that no index of the statuses is read.
      and (task.status = 'pending') is true and task.cancel_requested_at is null and task.deliveries < task.max_deliveries
    order by array_position(v_turn, task.id)
    limit p_limit
    for no key update skip locked;
end;
$$;
comment on function private.next_tasks(int, boolean, boolean, boolean, text, text[]) is
  'Locks up to p_limit waiting tasks of a runner that run next: in turn among owners, by priority and age within each, within quotas and concurrency_limits. Tasks with runs_exclusively come first, and only with p_is_idle. Without p_of_users only tasks of the service, which have no quota.';

create function private.claim_tasks(
  p_worker_id text, p_limit int, p_lease_seconds int, p_is_idle boolean default true,
  p_runner text default '', p_workflows text[] default null
)
returns table (task_id uuid, epoch bigint, context json)
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_least constant uuid := uuid '00000000-0000-0000-0000-000000000000';
  v_has_key_limits constant boolean := exists (select from private.concurrency_limits);
  v_last_owner constant uuid := private.release_due_tasks(p_runner);
  v_has_pauses boolean;
  v_of_users constant boolean := v_has_key_limits or v_last_owner > v_least;
  v_ids uuid[] := array[]::uuid[];
  v_new_ids uuid[];
  v_tasks public.tasks[];
begin
  -- A claim that a crash of the server undoes is made again, with a later epoch, so its commit need not wait for
  -- the disk. The first write that something outside the database follows waits, except for a model call.
  perform set_config('synchronous_commit', 'off', true);
  perform private.lock_pauses(false);
  v_has_pauses := exists (select from private.pauses);
  if v_last_owner is not null and p_limit > 0 and not (v_has_pauses and private.is_project_paused()) then
    if v_of_users then
      -- One claim at a time: two that count concurrently would both start the last task that a limit allows. A
      -- claim without the lock ignores tasks that users create meanwhile; the next claim finds them.
      perform pg_advisory_xact_lock(hashtextextended('supaswarm:concurrency_limits', 0));
    end if;
    v_ids := array(select private.next_tasks(
      p_limit, p_is_idle, v_of_users, v_has_key_limits, p_runner, p_workflows));
    if v_has_pauses then
      v_ids := private.without_paused(v_ids);
    end if;
  end if;
  if cardinality(v_ids) < p_limit then
    perform private.open_wake_gate(coalesce(nullif(p_runner, ''), 'supaswarm_tasks'));
  end if;
  if cardinality(v_ids) = 0 then
    return;
  end if;
  if (select task.runs_exclusively from public.tasks as task where task.id = v_ids[1]) then
    v_ids := v_ids[1:1];
  end if;

  v_new_ids := array(select task.id from public.tasks as task where task.id = any (v_ids) and task.epoch = 0);
  v_tasks := array(
    select started
    from private.start_tasks(v_ids, p_worker_id, p_lease_seconds) as started
    order by array_position(v_ids, started.id)
  );
  with begun as (
    insert into public.task_steps (task_id, seq, kind, state, name, epoch)
    select task.id, 1, 'model', 'started', coalesce(agent.model, provider.default_model), task.epoch
    from unnest(v_tasks) as task
    join public.agents as agent on agent.id = task.agent_id
    join public.llm_providers as provider on provider.id = agent.provider_id
    where provider.is_active
      -- The worker knows which model a changed agent has.
      and task.agent_changes is null
      -- A job with a budget is left to the worker, which can report a refusal to the task.
      and case
        when task.parent_id is null then task.budget
        else (select master.budget from public.tasks as master where master.id = task.master_task_id)
      end is null
      and not exists (select from public.task_steps as step where step.task_id = task.id)
    returning task_steps.task_id
  )
  insert into private.task_events (task_id, master_task_id, type, payload)
  select task.id, task.master_task_id, event.type, event.payload
  from unnest(v_tasks) with ordinality as task
  left join begun on begun.task_id = task.id
  cross join lateral (
    values
      (
        1, case when task.id = any (v_new_ids) then 'task.started' else 'task.resumed' end,
        jsonb_build_object('worker_id', p_worker_id, 'epoch', task.epoch, 'deliveries', task.deliveries)
      ),
      (2, null, '{"model.started": [1]}')
  ) as event (place, type, payload)
  where event.place = 1 or begun.task_id is not null
  order by task.ordinality, event.place;
  if p_runner = '' then
    return query select * from private.task_contexts(v_tasks);
  else
    return query select * from private.workflow_contexts(v_tasks);
  end if;
end;
$$;
comment on function private.claim_tasks(text, int, int, boolean, text, text[]) is
  'Claims up to p_limit tasks for a worker, each with a lease of p_lease_seconds and a new epoch, and writes the first steps of agents, which are always model calls. Tasks of agents by default; p_runner claims those of its workflows p_workflows. With p_is_idle, which says that the worker runs nothing and has most of its lifetime left, it may be given one task with runs_exclusively, and then nothing else. Called by workers.';
