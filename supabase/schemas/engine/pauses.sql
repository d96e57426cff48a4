-- Pauses: new work of the project, an agent, a tool, a server, a provider, a schedule or a concurrency key waits.
--
-- Claims, tool calls, model calls and due schedules look here before they begin. While the project is paused,
-- nothing is claimed. A task that waits for another pause is outside the lines until the pause ends, so that
-- thousands of them cost a claim nothing. Waiting counts as no attempt, delivery or failure.

create table private.pauses (
  kind text not null check (kind in ('project', 'agent', 'tool', 'server', 'provider', 'schedule', 'key')),
  name text not null,
  reason text not null check (length(reason) between 1 and 2000),
  running text not null default 'finish' check (running in ('finish', 'cut')),
  -- No foreign key: the pause remains after the account is deleted.
  paused_by uuid,
  paused_at timestamptz not null default clock_timestamp(),
  ends_at timestamptz,
  primary key (kind, name),
  constraint pauses_project_has_no_name check ((kind = 'project') = (name = ''))
);
comment on table private.pauses is
  'What is paused, and why. Written by pause_work() and resume_work(); operator_acts has the history.';
comment on column private.pauses.name is
  'Slug of the agent or server, server/tool or the slug of an HTTP or function tool, name of the provider, id of a schedule or name of one of the service, or concurrency key; empty for the project.';
comment on column private.pauses.running is
  'What happens to running tasks. finish: they go on until they end, wait or are returned to the queue. cut: their workers return them, and they continue after the pause.';
comment on column private.pauses.paused_by is 'Null for the service.';
comment on column private.pauses.ends_at is 'When the pause ends by itself, within 15 seconds; null: never.';
alter table private.pauses enable row level security;
grant select on private.pauses to service_role;

create table private.paused_tasks (
  task_id uuid primary key references public.tasks (id) on delete cascade,
  kind text not null,
  name text not null,
  foreign key (kind, name) references private.pauses (kind, name) on delete cascade
);
create index paused_tasks_pause_idx on private.paused_tasks (kind, name);
comment on table private.paused_tasks is
  'Tasks outside the lines, and the pause that each waits for. Tasks that wait for the project remain in the lines and have no row.';
alter table private.paused_tasks enable row level security;

create function private.end_of_pauses()
returns timestamptz
language sql
immutable
set search_path = ''
as $$
  -- Not infinity, which clients cannot read as a time.
  select timestamptz '9999-01-01 00:00:00+00';
$$;
comment on function private.end_of_pauses() is
  'tasks.run_after of a task that waits for a pause; nobody else may ask for a time more than a year away.';

create function private.lock_pauses(p_is_change boolean)
returns void
language plpgsql
set search_path = ''
as $$
declare
  c_key constant bigint := hashtextextended('supaswarm:pauses', 0);
begin
  if p_is_change then
    perform pg_advisory_xact_lock(c_key);
  else
    perform pg_advisory_xact_lock_shared(c_key);
  end if;
end;
$$;
comment on function private.lock_pauses(boolean) is
  'Keeps the pauses as they are until the transaction ends, or waits for the transactions that rely on them: after a pause has begun, no claim commits that has not seen it.';

create function private.is_project_paused()
returns boolean
language plpgsql
stable
set search_path = ''
as $$
begin
  return exists (select from private.pauses where kind = 'project');
end;
$$;
comment on function private.is_project_paused() is 'True while new work of the project waits.';
-- stuck_tasks runs with the rights of its caller.
grant execute on function private.is_project_paused() to service_role;

create function private.pause_in_force(p_kind text, p_name text)
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
begin
  return (
    select jsonb_build_object('kind', pause.kind, 'name', pause.name, 'reason', pause.reason)
    from private.pauses as pause
    where pause.kind = p_kind and pause.name = p_name
  );
end;
$$;
comment on function private.pause_in_force(text, text) is
  'The pause {kind, name, reason} of that name; null when it is not paused.';

create function private.pause_of_call(p_server text, p_tool_name text)
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
begin
  return coalesce(
    private.pause_in_force('server', p_server),
    private.pause_in_force('tool', p_server),
    private.pause_in_force('tool', p_server || '/' || p_tool_name)
  );
end;
$$;
comment on function private.pause_of_call(text, text) is
  'The pause {kind, name, reason} that a call of a server''s tool waits for, or null.';

create function private.pauses_of_task(p_task public.tasks)
returns setof private.pauses
language plpgsql
stable
set search_path = ''
as $$
begin
  return query
    select pause.*
    from private.pauses as pause
    where pause.kind = 'project'
      or (pause.kind = 'agent' and pause.name = p_task.agent_slug)
      or (pause.kind = 'key' and pause.name = p_task.concurrency_key)
      or (pause.kind = 'provider' and pause.name = (
        select provider.name
        from private.model_of_task(p_task) as called
        join public.llm_providers as provider on provider.id = called.provider_id
      ))
    order by pause.paused_at;
end;
$$;
comment on function private.pauses_of_task(public.tasks) is
  'The pauses of the project, of a task''s agent, provider and key. What its tools wait for, only a call can tell.';

create function private.is_cut(p_task public.tasks)
returns boolean
language plpgsql
stable
set search_path = ''
as $$
begin
  return exists (select from private.pauses_of_task(p_task) as pause where pause.running = 'cut');
end;
$$;
comment on function private.is_cut(public.tasks) is 'True when a pause asks the worker of a running task to return it.';

create function private.without_paused(p_ids uuid[])
returns uuid[]
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
declare
  c_most constant int := 1000;
  v_agents constant text[] := array(
    select pause.name from private.pauses as pause where pause.kind = 'agent'
    union
    select agent.slug
    from private.pauses as pause
    join public.llm_providers as provider on provider.name = pause.name
    join public.agents as agent on agent.provider_id = provider.id
    where pause.kind = 'provider'
  );
  v_keys constant text[] := array(select pause.name from private.pauses as pause where pause.kind = 'key');
  -- The others of these owners would stop one of the next claims.
  v_owners constant uuid[] := array(
    select distinct task.owner_key from public.tasks as task
    where task.id = any (p_ids) and (task.agent_slug = any (v_agents) or task.concurrency_key = any (v_keys))
  );
  v_ids uuid[];
begin
  if cardinality(v_owners) = 0 then
    return p_ids;
  end if;
  v_ids := array(
    select waiting.id
    from unnest(v_owners) as owner (key)
    cross join lateral (
      select task.id from public.tasks as task
      where task.status = 'pending' and task.run_after is null and task.owner_key = owner.key
        and (task.agent_slug = any (v_agents) or task.concurrency_key = any (v_keys))
      -- The order of the line, whose index has none of the tasks that are set aside already.
      order by array_position(array['high', 'normal', 'low'], task.priority), task.id
      limit c_most
      for no key update skip locked
    ) as waiting
    limit c_most
  );
  with noted as (
    insert into private.paused_tasks (task_id, kind, name)
    select task.id, pause.kind, pause.name
    from public.tasks as task
    cross join lateral (select * from private.pauses_of_task(task) where kind <> 'project' limit 1) as pause
    where task.id = any (p_ids || v_ids)
    on conflict (task_id) do update set kind = excluded.kind, name = excluded.name
    returning paused_tasks.task_id
  )
  select array_agg(noted.task_id) into v_ids from noted;
  update public.tasks set run_after = private.end_of_pauses() where id = any (v_ids);
  return array(
    select listed.id from unnest(p_ids) with ordinality as listed (id, place)
    join public.tasks as task on task.id = listed.id and task.run_after is null
    order by listed.place
  );
end;
$$;
comment on function private.without_paused(uuid[]) is
  'Those of these tasks whose agent, provider and key are not paused, in the same order. Takes the others out of the lines, with up to 1,000 more of their owners. Called by claims while there are pauses.';

create function private.wait_for_pause(p_task_id uuid, p_pause jsonb)
returns timestamptz
language plpgsql
set search_path = ''
as $$
begin
  perform private.lock_pauses(false);
  insert into private.paused_tasks (task_id, kind, name)
  select p_task_id, pause.kind, pause.name
  from private.pauses as pause
  where pause.kind = p_pause ->> 'kind' and pause.name = p_pause ->> 'name'
  on conflict (task_id) do update set kind = excluded.kind, name = excluded.name;
  return case when found then private.end_of_pauses() end;
end;
$$;
comment on function private.wait_for_pause(uuid, jsonb) is
  'Records that a task waits for the pause {kind, name}, and returns its run_after: null, which is now, when the pause has ended in the meantime or none is named.';

create function private.return_resumed_tasks(p_limit int)
returns int
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
declare
  v_ids constant uuid[] := array(
    select task.id
    from public.tasks as task
    where task.status = 'pending' and task.run_after = private.end_of_pauses()
      and not exists (select from private.paused_tasks as paused where paused.task_id = task.id)
    -- Names the index of delayed tasks.
    order by task.run_after
    limit p_limit
    -- The next call returns what somebody is about to change.
    for no key update skip locked
  );
begin
  if cardinality(v_ids) > 0 then
    update public.tasks
    set run_after = null,
        -- The time of the pause does not count as time in which its provider was down.
        failing_since = failing_since + (clock_timestamp() - updated_at)
    where id = any (v_ids);
    perform private.wake_workers();
  end if;
  return cardinality(v_ids);
end;
$$;
comment on function private.return_resumed_tasks(int) is
  'Puts up to p_limit tasks whose pause has ended back into the lines, where each has its former place, and wakes workers. Called by resume_work() and by tick() for the rest.';

create function private.wake_workers()
returns void
language plpgsql
set search_path = ''
as $$
begin
  perform private.open_wake_gate('supaswarm_tasks');
  perform pg_notify('supaswarm_tasks', '');
  perform private.wake_function('supaswarm-worker');
  perform private.wake_due_runners();
end;
$$;
comment on function private.wake_workers() is 'Wakes the workers of tasks at commit, those that listen and one that starts, and the runners of workflows that wait.';

create function private.end_pause(p_kind text, p_name text)
returns boolean
language plpgsql
set search_path = ''
as $$
declare
  v_pause private.pauses;
begin
  perform private.lock_pauses(true);
  delete from private.pauses where kind = p_kind and name = p_name returning * into v_pause;
  if not found then
    return false;
  end if;
  if p_kind = 'project' then
    update public.tasks as task
    set failing_since = task.failing_since + (clock_timestamp() - greatest(v_pause.paused_at, task.updated_at))
    where task.id in (
      select waiting.id from public.tasks as waiting
      where waiting.status = 'pending' and waiting.failing_since is not null
      for no key update skip locked
    );
    perform private.wake_workers();
  else
    -- As many as a request has time for; tick() returns the others.
    perform private.return_resumed_tasks(2000);
  end if;
  perform private.announce_pauses();
  return true;
end;
$$;
comment on function private.end_pause(text, text) is
  'Ends a pause, so that the work that waited for it goes on. False when there is none.';

create function private.end_due_pauses()
returns int
language plpgsql
set search_path = ''
as $$
declare
  v_pause private.pauses;
  v_count int := 0;
begin
  for v_pause in select * from private.pauses where ends_at <= clock_timestamp() loop
    if private.end_pause(v_pause.kind, v_pause.name) then
      perform private.record_act('work.resumed', '{}', null, jsonb_build_object(
        'kind', v_pause.kind, 'name', v_pause.name, 'ends_at', v_pause.ends_at));
      v_count := v_count + 1;
    end if;
  end loop;
  return v_count;
end;
$$;
comment on function private.end_due_pauses() is 'Ends the pauses whose time is up. Called by tick().';

create function private.announce_pauses()
returns void
language plpgsql
set search_path = ''
as $$
begin
  if private.is_joined('supaswarm:project') and private.can_broadcast() then
    perform private.send_messages(
      array['supaswarm:project'], array['pauses.changed'],
      array[jsonb_build_object('at', clock_timestamp(), 'data', '{}'::jsonb)]
    );
  end if;
end;
$$;
comment on function private.announce_pauses() is
  'Tells the clients on the project''s channel to read paused_work again. The message names nothing, because not everybody may see each pause.';
