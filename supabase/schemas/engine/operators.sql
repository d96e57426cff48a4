-- Operators: users whose grant has the scope swarm:operate. They read separate views, and their actions are
-- recorded.

create table private.operator_acts (
  id bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  -- No foreign keys: the record remains after the accounts and jobs are deleted.
  operator_id uuid,
  client_id text,
  act text not null check (act in (
    'job.opened', 'job.cancelled', 'task.retried', 'dead_letter.redriven', 'tool_definition.approved', 'schema.changed',
    'definition.saved', 'definition.removed', 'agent.rolled_back', 'secret.set', 'secret.removed', 'scopes.changed',
    'webhook.tested', 'webhook_message.resent', 'row_starts.retried', 'tool.tried', 'problems.acknowledged',
    'problems.reopened', 'work.paused', 'work.resumed'
  )),
  owner_id uuid,
  master_task_id uuid,
  task_id uuid,
  tool_slug text,
  tool_name text,
  reason text check (length(reason) between 1 and 2000),
  details jsonb not null default '{}' check (jsonb_typeof(details) = 'object')
);
create index operator_acts_master_task_id_idx on private.operator_acts (master_task_id) where master_task_id is not null;
comment on table private.operator_acts is 'The actions of operators: who, what, and for which owner. Rows are only added.';
comment on column private.operator_acts.operator_id is 'The operator; null for the service.';
comment on column private.operator_acts.client_id is 'OAuth client of the operator''s token.';
comment on column private.operator_acts.owner_id is 'The owner of the affected job or connection; null for the service.';
comment on column private.operator_acts.reason is 'The reason that the operator gave.';
comment on column private.operator_acts.details is 'The result, such as how many tasks ended; of job.opened {open_until}.';
alter table private.operator_acts enable row level security;

create function private.record_act(p_act text, p_object jsonb, p_reason text, p_details jsonb)
returns void
language sql
set search_path = ''
as $$
  insert into private.operator_acts (
    operator_id, client_id, act, owner_id, master_task_id, task_id, tool_slug, tool_name, reason, details
  )
  select auth.uid(), private.request_claims() ->> 'client_id', p_act, object.owner_id, object.master_task_id,
    object.task_id, object.tool_slug, object.tool_name, left(nullif(private.visible_text(p_reason), ''), 2000),
    jsonb_strip_nulls(p_details)
  from jsonb_populate_record(null::private.operator_acts, p_object) as object;
$$;
comment on function private.record_act(text, jsonb, text, jsonb) is
  'Records an action of the calling operator on {owner_id, master_task_id, task_id, tool_slug, tool_name}, in the transaction of the action.';

create function private.record_act_on_task(p_act text, p_task public.tasks, p_reason text default null, p_details jsonb default '{}')
returns void
language sql
set search_path = ''
as $$
  select private.record_act(
    p_act,
    jsonb_build_object('owner_id', p_task.created_by, 'master_task_id', p_task.master_task_id, 'task_id', p_task.id),
    p_reason,
    p_details
  );
$$;
comment on function private.record_act_on_task(text, public.tasks, text, jsonb) is
  'Records what the calling operator does to a task.';

create function private.record_approved_definition(p_connection_id uuid, p_tool_name text, p_definition_hash text)
returns void
language sql
set search_path = ''
as $$
  select private.record_act(
    'tool_definition.approved',
    jsonb_build_object('owner_id', connection.user_id, 'tool_slug', tool.slug, 'tool_name', p_tool_name),
    null,
    jsonb_build_object('connection_id', p_connection_id, 'definition_hash', p_definition_hash)
  )
  from public.agent_mcp_connections as connection
  join public.tools as tool on tool.id = connection.tool_id
  where connection.id = p_connection_id;
$$;
comment on function private.record_approved_definition(uuid, text, text) is
  'Records that an operator approves a tool''s definition.';

create function private.email_of(p_user_id uuid)
returns text
language plpgsql
stable
set search_path = ''
as $$
begin
  return (select account.email from auth.users as account where account.id = p_user_id);
end;
$$;
comment on function private.email_of(uuid) is 'The email address of an account, for operators; null for the service and for a deleted account.';

-- Views for operators ---------------------------------------------------------------------------

-- Each view reads from a function that checks the caller once. A policy on the tables would make every list
-- of an owner pay for this check.

create function private.operator_queue_health()
returns setof public.queue_health
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  perform private.assert_operator('read the state of the queue');
  return query select * from public.queue_health;
end;
$$;
comment on function private.operator_queue_health() is
  'queue_health for operators. Definer: it reads the tasks of all owners; assert_operator() checks the caller.';

create function private.operator_workers()
returns table (
  id text, started_at timestamptz, seen_at timestamptz, stopped_at timestamptz, is_live boolean, running_task_count bigint
)
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  perform private.assert_operator('list the workers');
  return query
    select worker.id, worker.started_at, worker.seen_at, worker.stopped_at,
      worker.stopped_at is null and worker.seen_at > clock_timestamp() - interval '1 minute',
      coalesce(running.task_count, 0)
    from private.workers as worker
    left join (
      select task.worker_id, count(*) as task_count
      from public.tasks as task
      where task.status = 'running'
      group by task.worker_id
    ) as running on running.worker_id = worker.id
    where worker.seen_at > clock_timestamp() - interval '1 day' or running.task_count > 0
    order by worker.seen_at desc;
end;
$$;
comment on function private.operator_workers() is
  'The workers of the last day, for operators. Definer: it reads the tasks of all owners; assert_operator() checks the caller.';

create function private.operator_stuck_tasks()
returns table (
  task_id uuid, master_task_id uuid, created_by uuid, owner_email text, agent_slug text, status text,
  reason text, since timestamptz, worker_id text, attempts int, deliveries int
)
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  perform private.assert_operator('list the stuck tasks');
  return query
    select stuck.task_id, stuck.master_task_id, stuck.created_by, private.email_of(stuck.created_by),
      stuck.agent_slug, stuck.status, stuck.reason, stuck.since, stuck.worker_id, stuck.attempts, stuck.deliveries
    from public.stuck_tasks as stuck
    order by stuck.since;
end;
$$;
comment on function private.operator_stuck_tasks() is
  'stuck_tasks with their owners, for operators. Definer: it reads the tasks of all owners; assert_operator() checks the caller.';

create function private.operator_maintenance_failures()
returns setof public.maintenance_failures
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  perform private.assert_operator('list the failures of maintenance');
  return query select * from public.maintenance_failures;
end;
$$;
comment on function private.operator_maintenance_failures() is
  'maintenance_failures for operators. Definer: only the service may read the table; assert_operator() checks the caller.';

create function private.operator_dead_letters()
returns table (
  id bigint, task_id uuid, master_task_id uuid, created_by uuid, owner_email text, agent_slug text,
  reason text, error jsonb, created_at timestamptz, retried_at timestamptz
)
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  perform private.assert_operator('list the dead letters');
  return query
    select letter.id, letter.task_id, letter.master_task_id, letter.created_by, private.email_of(letter.created_by),
      letter.agent_slug, letter.reason, letter.error, letter.created_at, letter.retried_at
    from public.dead_letters as letter
    order by letter.id desc;
end;
$$;
comment on function private.operator_dead_letters() is
  'dead_letters with their owners, for operators. Definer: it reads the tasks of all owners; assert_operator() checks the caller.';

create function private.operator_servers()
returns table (
  tool_id uuid, slug text, type text, is_active boolean, connection_count bigint, failing_count bigint,
  waiting_definition_count bigint, last_success_at timestamptz, retry_at timestamptz,
  listing_failed_at timestamptz, listing_error_code text
)
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  perform private.assert_operator('list the tool servers');
  return query
    select tool.id, tool.slug, tool.type, tool.is_active, count(connection.id),
      count(*) filter (where connection.health = 'failing'),
      (select count(*) from private.waiting_definitions() as waiting where waiting.tool_id = tool.id),
      max(connection.last_success_at), max(connection.retry_at), max(connection.listing_failed_at),
      -- Only the code: the message may contain the name of a secret.
      (array_agg(connection.listing_error ->> 'code' order by connection.listing_failed_at desc nulls last)
        filter (where connection.listing_error is not null))[1]
    from public.tools as tool
    left join public.agent_mcp_connections as connection on connection.tool_id = tool.id
    group by tool.id
    order by tool.slug;
end;
$$;
comment on function private.operator_servers() is
  'The state of the registered tools over all users, for operators. Definer: it reads the connections of all users; assert_operator() checks the caller.';

create function private.waiting_definitions()
returns table (
  connection_id uuid, tool_id uuid, user_id uuid, tool_name text, state text, definition_hash text,
  approved_definition jsonb, waiting_definition jsonb
)
language plpgsql
stable
set search_path = ''
as $$
begin
  return query
    select connection.id, connection.tool_id, connection.user_id, cached.tool_name, cached.state,
      cached.held_definition ->> 'hash',
      -- A new tool has no approved definition.
      case when cached.state = 'quarantined' then cached.tool_schema end,
      cached.held_definition -> 'schema'
    from public.mcp_tools_cache as cached
    join public.agent_mcp_connections as connection on connection.id = cached.connection_id
    where cached.state <> 'approved'
    union all
    select connection.id, connection.tool_id, connection.user_id, '', 'quarantined',
      private.instructions_hash(connection), null, to_jsonb(private.instructions_of(connection))
    from public.agent_mcp_connections as connection
    where private.instructions_of(connection) is not null and not private.are_instructions_approved(connection);
end;
$$;
comment on function private.waiting_definitions() is
  'The definitions that wait for approve_tool_definition(), with its arguments and the previously approved definition; an empty name stands for the instructions of a server.';

create function private.operator_tool_definitions()
returns table (
  connection_id uuid, server text, tool_name text, user_id uuid, owner_email text, state text,
  definition_hash text, approved_definition jsonb, waiting_definition jsonb
)
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  perform private.assert_operator('list the tool definitions that wait for an approval');
  return query
    select waiting.connection_id, tool.slug, waiting.tool_name, waiting.user_id, private.email_of(waiting.user_id),
      waiting.state, waiting.definition_hash, waiting.approved_definition, waiting.waiting_definition
    from private.waiting_definitions() as waiting
    join public.tools as tool on tool.id = waiting.tool_id
    order by tool.slug, waiting.tool_name;
end;
$$;
comment on function private.operator_tool_definitions() is
  'Tool definitions that wait for an approval, for operators. Definer: it reads the connections of all users; assert_operator() checks the caller.';

create function private.operator_acts()
returns table (
  id bigint, at timestamptz, operator_id uuid, operator_email text, client_id text, act text, owner_id uuid,
  owner_email text, master_task_id uuid, task_id uuid, tool_slug text, tool_name text, reason text, details jsonb
)
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  perform private.assert_operator('list the acts of operators');
  return query
    select noted.id, noted.at, noted.operator_id, private.email_of(noted.operator_id), noted.client_id, noted.act,
      noted.owner_id, private.email_of(noted.owner_id), noted.master_task_id, noted.task_id, noted.tool_slug,
      noted.tool_name, noted.reason, noted.details
    from private.operator_acts as noted
    order by noted.id desc;
end;
$$;
comment on function private.operator_acts() is
  'The actions of operators, newest first, for operators. Definer: no role has a right to the table; assert_operator() checks the caller.';

create function private.models_in_use()
returns table (provider_id uuid, model text, used_by text)
language sql
stable
set search_path = ''
as $$
  with chosen (provider_id, model, used_by) as (
    select id, null, 'provider ' || name from public.llm_providers
    union all
    select provider_id, model, 'agent ' || slug from public.agents where is_active
    union all
    select fallback.provider_id, fallback.model, 'fallback of agent ' || agent.slug
    from public.agent_fallbacks as fallback
    join public.agents as agent on agent.id = fallback.agent_id and agent.is_active
    union all
    select provider.id, tool.default_model, format('tool %s/%s', tool.mcp_name, tool.tool_name)
    from public.mcp_tool_models as tool
    join public.llm_providers as provider on provider.name = tool.default_provider
    union all
    select provider.id, embedder.model, 'embedder ' || embedder.name
    from public.embedders as embedder
    join public.llm_providers as provider on provider.name = embedder.llm_provider
    where embedder.is_active
  )
  select provider.id, coalesce(chosen.model, provider.default_model), chosen.used_by
  from chosen
  join public.llm_providers as provider on provider.id = chosen.provider_id and provider.is_active;
$$;
comment on function private.models_in_use() is
  'The models that active providers, agents, fallbacks, tools and embedders name or have by default, and who uses each.';

create function private.operator_retiring_models()
returns table (provider text, model text, retires_on date, used_by text[])
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  c_notice_days constant int := 60;
begin
  perform private.assert_operator('list the models that retire soon');
  return query
    with retiring as (
      select price.provider_id, price.model, min(price.retires_on) as retires_on
      from public.model_prices as price
      group by price.provider_id, price.model
    )
    select provider.name, retiring.model, retiring.retires_on, array_agg(used.used_by order by used.used_by)
    from retiring
    join public.llm_providers as provider on provider.id = retiring.provider_id
    join private.models_in_use() as used on used.provider_id = retiring.provider_id and used.model = retiring.model
    where retiring.retires_on <= current_date + c_notice_days
    group by provider.name, retiring.model, retiring.retires_on
    order by retiring.retires_on, provider.name, retiring.model;
end;
$$;
comment on function private.operator_retiring_models() is
  'Models in use whose provider may stop serving them within 60 days, or since, for operators. Definer: it reads all agents; assert_operator() checks the caller.';

create function private.operator_releases()
returns table (version text, installed_at timestamptz)
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  perform private.assert_operator('list the installed releases');
  return query
    select release.version, release.installed_at
    from private.releases as release
    order by release.installed_at desc;
end;
$$;
comment on function private.operator_releases() is
  'The installed releases of the database, newest first, for operators. Definer: no role has a right to the table; assert_operator() checks the caller.';

create view public.operator_queue_health with (security_invoker = true) as
  select * from private.operator_queue_health();
revoke all on public.operator_queue_health from anon, authenticated, service_role;
comment on view public.operator_queue_health is
  'One row per priority: how many tasks wait and for how long, how many run, and on how many workers. For operators and the service; INSUFFICIENT_SCOPE for all others.';
create view public.operator_workers with (security_invoker = true) as
  select * from private.operator_workers();
revoke all on public.operator_workers from anon, authenticated, service_role;
comment on view public.operator_workers is
  'Workers seen in the last day, and how many tasks each runs. For operators and the service; INSUFFICIENT_SCOPE for all others.';
create view public.operator_stuck_tasks with (security_invoker = true) as
  select * from private.operator_stuck_tasks();
revoke all on public.operator_stuck_tasks from anon, authenticated, service_role;
comment on view public.operator_stuck_tasks is
  'Tasks that have waited longer than they should, with the reason and the owner. For operators and the service; INSUFFICIENT_SCOPE for all others.';
create view public.operator_maintenance_failures with (security_invoker = true) as
  select * from private.operator_maintenance_failures();
revoke all on public.operator_maintenance_failures from anon, authenticated, service_role;
comment on view public.operator_maintenance_failures is
  'Repairs and other routines of cron that failed in the last seven days, with the last error. For operators and the service; INSUFFICIENT_SCOPE for all others.';
create view public.operator_dead_letters with (security_invoker = true) as
  select * from private.operator_dead_letters();
revoke all on public.operator_dead_letters from anon, authenticated, service_role;
comment on view public.operator_dead_letters is
  'Tasks that ran out of attempts or deliveries, with their owners. Pass their ids to operator_redrive(). For operators and the service; INSUFFICIENT_SCOPE for all others.';
create view public.operator_servers with (security_invoker = true) as
  select * from private.operator_servers();
revoke all on public.operator_servers from anon, authenticated, service_role;
comment on view public.operator_servers is
  'Registered tools: health, circuit breaker, listing and waiting definitions, over all users. For operators and the service; INSUFFICIENT_SCOPE for all others.';
create view public.operator_tool_definitions with (security_invoker = true) as
  select * from private.operator_tool_definitions();
revoke all on public.operator_tool_definitions from anon, authenticated, service_role;
comment on view public.operator_tool_definitions is
  'Tool definitions that wait for approve_tool_definition(), next to the approved ones. For operators and the service; INSUFFICIENT_SCOPE for all others.';
create view public.operator_retiring_models with (security_invoker = true) as
  select * from private.operator_retiring_models();
revoke all on public.operator_retiring_models from anon, authenticated, service_role;
comment on view public.operator_retiring_models is
  'Models in use that may retire within 60 days (model_prices.retires_on), and what uses them. For operators and the service; INSUFFICIENT_SCOPE for all others.';
create view public.operator_acts with (security_invoker = true) as
  select * from private.operator_acts();
revoke all on public.operator_acts from anon, authenticated, service_role;
comment on view public.operator_acts is
  'The actions of operators: who, what, and for which owner. For operators and the service; INSUFFICIENT_SCOPE for all others.';
create view public.operator_releases with (security_invoker = true) as
  select * from private.operator_releases();
revoke all on public.operator_releases from anon, authenticated, service_role;
comment on view public.operator_releases is
  'The installed releases of the database, newest first. For operators and the service; INSUFFICIENT_SCOPE for all others.';

grant execute on function private.operator_queue_health(), private.operator_workers(), private.operator_stuck_tasks(),
  private.operator_maintenance_failures(), private.operator_dead_letters(), private.operator_servers(),
  private.operator_tool_definitions(), private.operator_retiring_models(), private.operator_acts(), private.operator_releases()
  to authenticated, service_role;
grant select on public.operator_queue_health, public.operator_workers, public.operator_stuck_tasks,
  public.operator_maintenance_failures, public.operator_dead_letters, public.operator_servers,
  public.operator_tool_definitions, public.operator_retiring_models, public.operator_acts, public.operator_releases
  to authenticated, service_role;

-- All jobs --------------------------------------------------------------------------------------

create function private.operator_job_filters(p_attempt text, p_filters jsonb)
returns private.job_filters
language plpgsql
stable
set search_path = ''
as $$
declare
  v_is_object constant boolean := jsonb_typeof(p_filters) is not distinct from 'object';
  v_owner constant text := case when v_is_object then p_filters ->> 'owner' end;
  v_filters private.job_filters;
begin
  perform private.assert_operator(p_attempt);
  v_filters := private.job_filters_of(p_attempt, case when v_is_object then p_filters - '{owner,cause}'::text[] else p_filters end);
  if v_is_object and coalesce(p_filters -> 'cause', 'null') <> 'null' then
    v_filters.causes := private.texts_of(p_filters -> 'cause');
    if v_filters.causes is null then
      perform private.raise_query_invalid(p_attempt, 'a filter has the wrong form', 'cause is a text or an array of texts.');
    end if;
  end if;
  if v_owner is not null then
    v_filters.owner_id := coalesce(
      (select account.id from auth.users as account where account.id::text = lower(v_owner) or lower(account.email) = lower(v_owner) limit 1),
      -- An id that no account has: an unknown owner has no jobs.
      '00000000-0000-0000-0000-000000000000'
    );
  end if;
  return v_filters;
end;
$$;
comment on function private.operator_job_filters(text, jsonb) is
  'The filters of a list of all jobs; owner, the id or email address of an account, limits it to that owner, cause to failures with that cause_of(). Raises INSUFFICIENT_SCOPE, AGENT_NOT_ALLOWED, QUERY_INVALID.';

create function private.operator_list_jobs(p_filters jsonb, p_before jsonb, p_limit int)
returns setof public.job_summary
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  v_filters constant private.job_filters := private.operator_job_filters('list all jobs', p_filters);
  v_job public.job_summary;
begin
  for v_job in select * from private.job_summaries(v_filters, p_before, p_limit) loop
    -- The content of a job is only for operators who open it.
    v_job.input_head := null;
    return next v_job;
  end loop;
end;
$$;
comment on function private.operator_list_jobs(jsonb, jsonb, int) is
  'A page of all jobs, without their inputs. Definer: it reads the tasks of all owners; operator_job_filters() checks the caller.';

create function public.operator_list_jobs(p_filters jsonb default '{}', p_before jsonb default null, p_limit int default 50)
returns setof public.job_summary
language sql
stable
set search_path = ''
as $$
  select * from private.operator_list_jobs(p_filters, p_before, p_limit);
$$;
comment on function public.operator_list_jobs(jsonb, jsonb, int) is
  'All jobs with their owners, in the form of list_jobs(), without the beginnings of inputs; the filter owner takes the id or email address of an account, cause one of operator_failure_groups(). For operators and the service. Raises INSUFFICIENT_SCOPE, AGENT_NOT_ALLOWED, QUERY_INVALID.';
revoke all on function public.operator_list_jobs(jsonb, jsonb, int) from public, anon, authenticated, service_role;
grant execute on function private.operator_list_jobs(jsonb, jsonb, int), public.operator_list_jobs(jsonb, jsonb, int)
  to authenticated, service_role;

create function private.operator_job_counts(p_filters jsonb)
returns setof public.job_status_count
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  return query
    select * from private.job_status_counts(private.operator_job_filters('count all jobs', p_filters));
end;
$$;
comment on function private.operator_job_counts(jsonb) is
  'Counts of all jobs. Definer: it reads the tasks of all owners; operator_job_filters() checks the caller.';

create function public.operator_job_counts(p_filters jsonb default '{}')
returns setof public.job_status_count
language sql
stable
set search_path = ''
as $$
  select * from private.operator_job_counts(p_filters);
$$;
comment on function public.operator_job_counts(jsonb) is
  'How many jobs of all owners have each status, among those that match the filters of operator_list_jobs(). For operators and the service. Raises INSUFFICIENT_SCOPE, AGENT_NOT_ALLOWED, QUERY_INVALID.';
revoke all on function public.operator_job_counts(jsonb) from public, anon, authenticated, service_role;
grant execute on function private.operator_job_counts(jsonb), public.operator_job_counts(jsonb)
  to authenticated, service_role;

create type public.failure_group as (
  agent_slug text,
  error_code text,
  cause text,
  job_count bigint,
  last_failed_at timestamptz,
  days jsonb
);
comment on type public.failure_group is
  'A row of operator_failure_groups(): failed jobs of one agent with one error code and cause, which is the message with … for ids and # for numbers. days is {"2026-11-27": 3}, by UTC day of the failure.';

create function private.operator_failure_groups(p_filters jsonb)
returns setof public.failure_group
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  v_filters private.job_filters := private.operator_job_filters('group the failures', p_filters);
begin
  v_filters.statuses := '{failed}';
  return query execute format(
    $sql$
      with failures_of_day as (
        select job.agent_slug, job.error ->> 'code' as error_code, private.cause_of(job.error) as cause,
          (job.finished_at at time zone 'UTC')::date as day,
          count(*) as job_count, max(job.finished_at) as last_failed_at
        from public.tasks as job
        where %s
        group by 1, 2, 3, 4
      )
      select agent_slug, error_code, cause, sum(job_count)::bigint, max(last_failed_at), jsonb_object_agg(day, job_count)
      from failures_of_day
      group by agent_slug, error_code, cause
      order by 4 desc, 5 desc
      limit 200
    $sql$,
    private.job_conditions()
  )
  using v_filters;
end;
$$;
comment on function private.operator_failure_groups(jsonb) is
  'Groups of failed jobs. Definer: it reads the tasks of all owners; operator_job_filters() checks the caller.';

create function public.operator_failure_groups(p_filters jsonb default '{}')
returns setof public.failure_group
language sql
stable
set search_path = ''
as $$
  select * from private.operator_failure_groups(p_filters);
$$;
comment on function public.operator_failure_groups(jsonb) is
  'The failed jobs of all owners that match the filters of operator_list_jobs(), grouped by agent, error code and cause, the 200 largest groups first, with the number of each day. The filter cause of operator_list_jobs() lists a group. For operators and the service. Raises INSUFFICIENT_SCOPE, AGENT_NOT_ALLOWED, QUERY_INVALID.';
revoke all on function public.operator_failure_groups(jsonb) from public, anon, authenticated, service_role;
grant execute on function private.operator_failure_groups(jsonb), public.operator_failure_groups(jsonb)
  to authenticated, service_role;
