-- Pausing and resuming over the API, and what users see of it.

create function private.assert_pausable(p_kind text, p_name text, p_attempt text)
returns void
language plpgsql
stable
set search_path = ''
as $$
declare
  v_known text[];
begin
  v_known := case p_kind
    when 'project' then '{""}'
    when 'agent' then array(select agent.slug from public.agents as agent)
    when 'server' then array(select tool.slug from public.tools as tool)
    when 'tool' then array(
      select tool.slug from public.tools as tool where tool.type in ('http_api', 'supabase_rpc')
      union
      select tool.slug || '/' || listed.tool_name
      from public.mcp_tools_cache as listed
      join public.agent_mcp_connections as connection on connection.id = listed.connection_id
      join public.tools as tool on tool.id = connection.tool_id
    )
    when 'provider' then array(select provider.name from public.llm_providers as provider)
    when 'schedule' then array(
      select schedule.id::text from public.schedules as schedule
      union
      select schedule.name from public.schedules as schedule where schedule.created_by is null
    )
    when 'key' then case when length(p_name) between 1 and 255 then array[p_name] end
  end;
  if (p_name = any (v_known)) is not true then
    perform private.raise_error('PAUSE_INVALID', format('Cannot %s: %s', p_attempt, case
        when p_kind = 'project' then 'the project has no name'
        when p_kind = 'key' then 'a concurrency key has 1 to 255 characters'
        when v_known is null then format('there is no kind "%s"', p_kind)
        else format('there is no %s "%s"', p_kind, p_name)
      end),
      private.did_you_mean(p_name, v_known)
        || 'The kinds are project (without a name), agent, tool (server/tool), server, provider, schedule and key.');
  end if;
end;
$$;
comment on function private.assert_pausable(text, text, text) is
  'Raises PAUSE_INVALID unless something of that kind has the name. p_attempt completes the sentence "Cannot …".';

create function private.pause_work(
  p_kind text, p_name text, p_reason text, p_running text, p_until timestamptz
)
returns timestamptz
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_name constant text := coalesce(p_name, '');
  v_attempt constant text := concat_ws(' ', 'pause the', p_kind, nullif(v_name, ''));
  v_reason text;
  v_paused_at timestamptz;
begin
  perform private.assert_operator(v_attempt);
  v_reason := private.given_reason(v_attempt, p_reason);
  perform private.assert_pausable(p_kind, v_name, v_attempt);
  if (p_running in ('finish', 'cut')) is not true or (p_running = 'cut' and p_kind in ('tool', 'server', 'schedule')) then
    perform private.raise_error('PAUSE_INVALID', format('Cannot %s: p_running is "%s"', v_attempt, p_running),
      'Send finish, or cut for the project, an agent, a provider or a key. Running calls of tools and jobs of schedules always end.');
  end if;
  if p_until <= clock_timestamp() then
    perform private.raise_error('PAUSE_INVALID', format('Cannot %s: p_until is in the past', v_attempt),
      'Send a later time, or null for a pause until somebody ends it.');
  end if;
  perform private.lock_pauses(true);
  insert into private.pauses as pause (kind, name, reason, running, paused_by, ends_at)
  values (p_kind, v_name, v_reason, p_running, auth.uid(), p_until)
  on conflict (kind, name) do update
  set reason = excluded.reason, running = excluded.running, paused_by = excluded.paused_by, ends_at = excluded.ends_at
  returning pause.paused_at into v_paused_at;
  perform private.record_act('work.paused', '{}', v_reason, jsonb_build_object(
    'kind', p_kind, 'name', nullif(v_name, ''), 'running', p_running, 'ends_at', p_until));
  if p_running = 'cut' then
    -- A worker that gets a wake sends a heartbeat immediately, whose answer names the tasks to return.
    perform private.wake_function('supaswarm-worker');
    perform pg_notify('supaswarm_tasks', 'cancel');
  end if;
  perform private.announce_pauses();
  return v_paused_at;
end;
$$;
comment on function private.pause_work(text, text, text, text, timestamptz) is
  'Pauses work. Definer: no role may write pauses; assert_operator() checks the caller.';

create function public.pause_work(
  p_kind text, p_name text, p_reason text, p_running text default 'finish', p_until timestamptz default null
)
returns timestamptz
language sql
set search_path = ''
as $$
  select private.pause_work(p_kind, p_name, p_reason, p_running, p_until);
$$;
comment on function public.pause_work(text, text, text, text, timestamptz) is
  'Lets new work wait until resume_work() or p_until, and returns since when it waits. p_kind and p_name: project and null, agent and its slug, server and its slug, tool and server/tool or the slug of an HTTP or function tool, provider and its name, schedule and its id (or the name of one of the service), key and a concurrency key. p_running: finish lets running tasks go on, cut has their workers return them, to continue after the pause; calls of tools always end. Pausing again replaces reason, p_running and p_until. The reason, of 1 to 2,000 characters, is in paused_work and in operator_acts. For operators and the service. Raises INSUFFICIENT_SCOPE, AGENT_NOT_ALLOWED, REASON_INVALID, PAUSE_INVALID.';
revoke all on function public.pause_work(text, text, text, text, timestamptz) from public, anon, authenticated, service_role;
grant execute on function private.pause_work(text, text, text, text, timestamptz),
  public.pause_work(text, text, text, text, timestamptz) to authenticated, service_role;

create function private.resume_work(p_kind text, p_name text)
returns boolean
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_name constant text := coalesce(p_name, '');
begin
  perform private.assert_operator(concat_ws(' ', 'resume the', p_kind, nullif(v_name, '')));
  if not private.end_pause(p_kind, v_name) then
    return false;
  end if;
  perform private.record_act('work.resumed', '{}', null, jsonb_build_object('kind', p_kind, 'name', nullif(v_name, '')));
  return true;
end;
$$;
comment on function private.resume_work(text, text) is
  'Resumes work. Definer: no role may write pauses; assert_operator() checks the caller.';

create function public.resume_work(p_kind text, p_name text default null)
returns boolean
language sql
set search_path = ''
as $$
  select private.resume_work(p_kind, p_name);
$$;
comment on function public.resume_work(text, text) is
  'Ends a pause with the same p_kind and p_name as in pause_work(): the work that waited goes on within seconds. False when nothing was paused under this name. operator_acts records it. For operators and the service. Raises INSUFFICIENT_SCOPE, AGENT_NOT_ALLOWED.';
revoke all on function public.resume_work(text, text) from public, anon, authenticated, service_role;
grant execute on function private.resume_work(text, text), public.resume_work(text, text) to authenticated, service_role;

create function private.paused_work()
returns table (
  kind text, name text, reason text, running text, paused_at timestamptz, ends_at timestamptz, paused_by text,
  waiting_count bigint
)
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  v_is_operator constant boolean := private.is_operator();
begin
  return query
    select pause.kind, pause.name, pause.reason, pause.running, pause.paused_at, pause.ends_at,
      case when v_is_operator then private.email_of(pause.paused_by) end,
      case when v_is_operator then (
        select count(*) from private.paused_tasks as waiting
        join public.tasks as task on task.id = waiting.task_id
        where waiting.kind = pause.kind and waiting.name = pause.name
          and task.status = 'pending' and task.run_after = private.end_of_pauses()
      ) end
    from private.pauses as pause
    where v_is_operator
      or pause.kind in ('project', 'tool', 'server', 'provider')
      or (pause.kind = 'agent' and exists (
        select from public.agents as agent
        where agent.slug = pause.name and private.may_use_agent(agent.id, auth.uid())
      ))
      or (pause.kind = 'schedule' and exists (
        select from public.schedules as schedule
        where schedule.id::text = pause.name and schedule.created_by = auth.uid()
      ))
      or (pause.kind = 'key' and exists (
        select from private.paused_tasks as waiting
        join public.tasks as task on task.id = waiting.task_id
        where waiting.kind = 'key' and waiting.name = pause.name and task.created_by = auth.uid()
      ))
    order by pause.kind <> 'project', pause.paused_at;
end;
$$;
comment on function private.paused_work() is
  'The pauses that concern the caller. Definer: no role has a right to the table; the function selects the rows itself.';
create view public.paused_work with (security_invoker = true) as
  select * from private.paused_work();
revoke all on public.paused_work from anon, authenticated, service_role;
comment on view public.paused_work is
  'What is paused: the project first, then the longest pause. Users see the project, tools, servers and providers, the agents that they may use, their schedules, and the keys that their tasks wait for; operators and the service see everything.';
comment on column public.paused_work.name is 'As in pause_work(); empty for the project.';
comment on column public.paused_work.paused_by is
  'The operator''s address, for operators only; null for the service and for all others.';
comment on column public.paused_work.waiting_count is
  'Tasks that claims and calls have set aside for this pause, for operators only. Of a paused project all tasks wait; none is counted here.';
grant execute on function private.paused_work() to authenticated, service_role;
grant select on public.paused_work to authenticated, service_role;

create function private.paused_tasks(p_master_task_id uuid)
returns table (task_id uuid, kind text, name text, reason text, paused_at timestamptz)
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  perform private.assert_has_scope('list the paused tasks', 'swarm:run');
  return query
    select task.id, pause.kind, pause.name, pause.reason, pause.paused_at
    from public.tasks as task
    left join private.paused_tasks as waiting
      on waiting.task_id = task.id and task.run_after = private.end_of_pauses()
    join private.pauses as pause on case
      when waiting.task_id is null then pause.kind = 'project' and (task.run_after is null or task.run_after <= clock_timestamp())
      else pause.kind = waiting.kind and pause.name = waiting.name
    end
    where task.master_task_id = p_master_task_id and task.status = 'pending'
      and (task.created_by = auth.uid() or private.may_read_as_operator(task))
    order by task.id;
end;
$$;
comment on function private.paused_tasks(uuid) is
  'The tasks of a job that wait for a pause. Definer: no role has a right to the tables; the function selects the caller''s tasks, and those of jobs that an operator has opened.';

create function public.paused_tasks(p_master_task_id uuid)
returns table (task_id uuid, kind text, name text, reason text, paused_at timestamptz)
language sql
stable
set search_path = ''
as $$
  select * from private.paused_tasks(p_master_task_id);
$$;
comment on function public.paused_tasks(uuid) is
  'The tasks of a job that wait for a pause, with kind, name and reason of the pause and since when it lasts; none for a job that is not the caller''s. A task whose agent or key was paused lately may be missing until a worker looks for work. Raises INSUFFICIENT_SCOPE.';
revoke all on function public.paused_tasks(uuid) from public, anon, authenticated, service_role;
grant execute on function private.paused_tasks(uuid), public.paused_tasks(uuid) to authenticated, service_role;
