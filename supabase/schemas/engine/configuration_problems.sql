-- What operators should correct although every row is valid by itself: missing scopes, secrets and names, and cron
-- jobs that do not run.

create function private.missing_scopes(p_agent_id uuid default null, p_tool_id uuid default null)
returns table (agent text, tool text, scope text, user_id uuid, account_count bigint, nobody_has_it boolean)
language sql
stable
set search_path = ''
as $$
  with given as (
    select agent.id as agent_id, agent.slug as agent, agent.audience, tool.slug as tool, 'mcp:' || tool.slug as scope
    from public.agent_tools as granted
    join public.agents as agent on agent.id = granted.agent_id and agent.is_active
    join public.tools as tool on tool.id = granted.tool_id and tool.is_active and tool.type <> 'internal'
      and tool.audience <> 'everyone'
    where (missing_scopes.p_agent_id is null or granted.agent_id = missing_scopes.p_agent_id)
      and (missing_scopes.p_tool_id is null or granted.tool_id = missing_scopes.p_tool_id)
  ),
  grants as (
    select given.user_id, given.scopes from public.mcp_grants as given where given.client_id is null
  ),
  -- Those to whom the default applies.
  others as (
    select count(*) as account_count
    from auth.users as account
    where not exists (select from grants where grants.user_id = account.id)
  ),
  needed as (
    select given.*,
      exists (
        select from grants where grants.user_id is null and grants.scopes && array[given.scope, 'admin:*']
      ) as is_default,
      exists (
        select from grants
        where grants.user_id is not null and grants.scopes && array[given.scope, 'admin:*']
          and (given.audience = 'everyone' or private.may_use_agent(given.agent_id, grants.user_id))
      ) as is_granted
    from given
  )
  select needed.agent, needed.tool, needed.scope, grants.user_id, 1, not (needed.is_default or needed.is_granted)
  from needed
  join grants on grants.user_id is not null and not grants.scopes && array[needed.scope, 'admin:*']
    and (needed.audience = 'everyone' or private.may_use_agent(needed.agent_id, grants.user_id))
  union all
  select needed.agent, needed.tool, needed.scope, named.user_id, 1, not needed.is_granted
  from needed
  join public.agent_audience as named on needed.audience = 'named' and named.agent_id = needed.agent_id
  where not needed.is_default and not exists (select from grants where grants.user_id = named.user_id)
  union all
  select needed.agent, needed.tool, needed.scope, null, others.account_count, not needed.is_granted
  from needed
  cross join others
  where needed.audience = 'everyone' and not needed.is_default
    -- A project without accounts will have some.
    and (others.account_count > 0 or not needed.is_granted);
$$;
comment on function private.missing_scopes(uuid, uuid) is
  'The accounts that may use an agent (null: of all) but lack the scope of one of its tools (null: of all). A null user_id stands for the account_count accounts without scopes of their own, which have the default. nobody_has_it: no account that may use the agent has the scope.';

create function private.scope_problems(p_agent_id uuid default null, p_tool_id uuid default null)
returns table (kind text, name text, field text, problem text, hint text)
language sql
stable
set search_path = ''
as $$
  select 'agent', missing.agent, 'tools.' || missing.tool,
    case
      when bool_and(missing.nobody_has_it)
        then format('cannot be called by any user: nobody of the agent''s audience has the scope %s', missing.scope)
      else format('cannot be called in jobs of users without the scope %s (%s now)', missing.scope, sum(missing.account_count))
    end,
    format('For everyone, write audience: everyone into the tool''s file and push. For some, grant the scope in the console under Setup, Access, Scopes, or with select public.grant_scopes(''<user id>'', ''{%s}'').',
      missing.scope)
  from private.missing_scopes(scope_problems.p_agent_id, scope_problems.p_tool_id) as missing
  group by missing.agent, missing.tool, missing.scope;
$$;
comment on function private.scope_problems(uuid, uuid) is
  'The tools of agents (null: of all, or of all agents) that users of the agent cannot use because they lack the scope.';

create function private.secret_problems()
returns table (kind text, name text, field text, problem text, hint text)
language sql
stable
set search_path = ''
as $$
  with named as (
    select 'tool' as kind, tool.slug as name, 'credential_secret_name' as field, tool.credential_secret_name as secret
    from public.tools as tool
    where tool.is_active and tool.credential_secret_name is not null
    union all
    select 'tool', tool.slug, format('config.%s.%s', part.name, entry.key), entry.value ->> 'secret'
    from public.tools as tool
    cross join (values ('headers'), ('query')) as part (name)
    cross join lateral jsonb_each(
      case jsonb_typeof(tool.config -> part.name) when 'object' then tool.config -> part.name else '{}' end
    ) as entry
    where tool.is_active and tool.type = 'mcp_server' and jsonb_typeof(entry.value) = 'object'
    union all
    select 'tool', tool.slug, 'config.oauth.client_secret', tool.config #>> '{oauth,client_secret,secret}'
    from public.tools as tool
    where tool.is_active and tool.type = 'mcp_server' and tool.config #> '{oauth,client_secret,secret}' is not null
    union all
    select 'provider', provider.name, 'api_key_secret_name', provider.api_key_secret_name
    from public.llm_providers as provider
    where provider.is_active and provider.requires_api_key
      and exists (select from public.agents as agent where agent.provider_id = provider.id and agent.is_active)
  )
  select named.kind, named.name, named.field, format('is %s, but Vault has no secret with this name', to_json(named.secret)),
    private.hint_to_store(named.secret)
  from named
  where not exists (select from vault.secrets as stored where stored.name = named.secret)
  union all
  select named.kind, named.name, named.field, format('is %s, whose present value nobody has given to it', to_json(named.secret)),
    private.hint_to_bind(named.secret)
  from named
  where exists (select from vault.secrets as stored where stored.name = named.secret)
    and exists (
      select from private.awaited_secrets as awaited
      where awaited.name = named.secret and substring(awaited.used_by from ' (.*)$') = named.name
        and private.is_awaited_secret(awaited.used_by, awaited.name)
    );
$$;
comment on function private.secret_problems() is 'Names of secrets in active tools, and in providers of active agents, that Vault does not have or that these wait for.';

create function private.tool_name_problems()
returns table (kind text, name text, field text, problem text, hint text)
language sql
stable
set search_path = ''
as $$
  with named as (
    select granted.agent_id, granted.tool_id, 'allowed_tools' as field, allowed.name, null::text[] as callable
    from public.agent_tools as granted
    cross join lateral unnest(granted.allowed_tools) as allowed (name)
    union all
    select guardrail.agent_id, guardrail.tool_id, 'guardrails', guardrail.tool_name, null
    from public.agent_guardrails as guardrail
    union all
    -- Also before the server has listed its tools: a mistyped rule would ask nobody.
    select rule.agent_id, rule.tool_id, 'approvals', rule.tool_name, granted.allowed_tools
    from public.agent_approvals as rule
    left join public.agent_tools as granted on granted.agent_id = rule.agent_id and granted.tool_id = rule.tool_id
    where rule.tool_id is not null and rule.tool_name <> '*'
  ),
  known as (
    select connection.tool_id, array_agg(distinct cached.tool_name) as names
    from public.agent_mcp_connections as connection
    join public.mcp_tools_cache as cached on cached.connection_id = connection.id
    group by connection.tool_id
  )
  select 'agent', agent.slug, format('%s.%s', named.field, tool.slug),
    format('names the tool %s, which the %s', to_json(named.name),
      case when named.callable is null then 'server does not list' else 'agent may not call' end),
    private.did_you_mean(named.name, valid.names)
      || format('It %s %s.', case when named.callable is null then 'lists' else 'may call' end, array_to_string(valid.names[:20], ', '))
  from named
  left join known on known.tool_id = named.tool_id
  cross join lateral (select coalesce(named.callable, known.names) as names) as valid
  join public.agents as agent on agent.id = named.agent_id and agent.is_active
  join public.tools as tool on tool.id = named.tool_id
  where named.name <> all (valid.names);
$$;
comment on function private.tool_name_problems() is
  'Names of tools in the rows of agents that the server, once it has listed its tools, does not have, and in rules for approvals that the agent may not call.';

create function private.row_problems()
returns table (kind text, name text, field text, problem text, hint text)
language sql
stable
set search_path = ''
as $$
  select checked.kind, checked.name, (checked.found).field, (checked.found).problem, (checked.found).hint
  from (
    select 'provider' as kind, provider.name, private.provider_problem(provider) as found from public.llm_providers as provider
    union all
    select 'agent', agent.slug, private.agent_problem(agent) from public.agents as agent where agent.is_active
    union all
    select 'agent', agent.slug, private.missing_provider(agent) from public.agents as agent
    union all
    select 'agent', agent.slug,
      row('provider', format('is "%s", which is not active', provider.name), 'Set llm_providers.is_active, or use another provider.')::private.row_problem
    from public.agents as agent
    join public.llm_providers as provider on provider.id = agent.provider_id and not provider.is_active
    where agent.is_active
    union all
    select 'tool', tool.slug, private.tool_problem(tool) from public.tools as tool where tool.is_active
    union all
    select 'tool', tool.slug, private.function_problem(tool.config)
    from public.tools as tool
    where tool.is_active and tool.type = 'supabase_rpc' and tool.config ? 'function'
    union all
    select 'skill', skill.skill_id, private.skill_problem(skill) from public.skills as skill where skill.is_active
    union all
    select 'schedule', coalesce(schedule.name, schedule.id::text),
      row('agent', format('is "%s", and the last run created no job: %s', schedule.agent, schedule.last_error ->> 'message'),
        coalesce(schedule.last_error ->> 'hint', 'Correct the schedule.'))::private.row_problem
    from public.schedules as schedule
    where schedule.is_active and schedule.last_error is not null
    union all
    -- Alerts that reach nobody. The receiver itself deactivates a webhook with the status 410.
    select 'webhook', coalesce(webhook.name, webhook.id::text),
      -- Without the address, which can contain a secret.
      row('url', format('did not get the last message: %s', webhook.last_error ->> 'message'),
        coalesce(webhook.last_error ->> 'hint', 'Correct the receiver.')
          || ' In the console, Setup, Webhooks sends a message again.')::private.row_problem
    from public.webhooks as webhook
    where webhook.created_by is null and webhook.last_error is not null
      and (webhook.is_active or webhook.last_error ->> 'message' like '%410 (Gone)%')
  ) as checked
  where (checked.found).field is not null;
$$;
comment on function private.row_problems() is
  'Rows of the registry that are not valid, or that failed when they were last used: written before a check existed, or changed by something else, such as a dropped function or a receiver that is down.';

create function private.price_problems()
returns table (kind text, name text, field text, problem text, hint text)
language plpgsql
stable
set search_path = ''
as $$
begin
  return query
    with capped (kind, name, field, provider_id, model) as (
      select 'policy', private.policy_slug(policy), 'spending_cap_usd', policy.provider_id, policy.model
      from public.model_policies as policy
      where policy.spending_cap_micro_usd is not null
      union all
      select 'quota', coalesce(private.account_name(quota.user_id), 'everyone'), quota.name, null, null
      from private.quotas as quota
      where quota.name = 'max_cost_micro_usd' and quota.amount is not null
    )
    select capped.kind, capped.name, capped.field,
      format('refuses the calls of %s of provider %s, which has no price (%s)',
        used.model, to_json(provider.name), string_agg(used.used_by, ', ' order by used.used_by)),
      'Add its price in the console under Setup, Models, Prices, or with a row of model_prices.'
    from capped
    join private.models_in_use() as used
      on (capped.provider_id is null or used.provider_id = capped.provider_id)
      and (capped.model is null or used.model = capped.model)
    join public.llm_providers as provider on provider.id = used.provider_id
    where used.used_by ~ '^(fallback of )?agent ' and (private.price_at(used.provider_id, used.model)).model is null
    group by capped.kind, capped.name, capped.field, provider.name, used.model;
end;
$$;
comment on function private.price_problems() is
  'The models of agents that a spending cap or a ceiling of the cost of jobs refuses, because they have no price.';

create function private.cron_problems(p_grace interval default '5 minutes')
returns table (kind text, name text, field text, problem text, hint text)
language plpgsql
stable
set search_path = ''
as $$
declare
  -- It finds what every wake has missed, and runs each 15 seconds.
  c_tick constant text := 'supaswarm-tick';
  v_last_run_at timestamptz;
begin
  kind := 'cron job';
  if to_regclass('cron.job') is null then
    return query select kind, c_tick, 'command', 'cannot run: the extension pg_cron is missing',
      'Enable it under Database, Extensions in the dashboard.';
    return;
  end if;
  return query
    select kind, wanted.name, 'job',
      case when exists (select from cron.job where job.jobname = wanted.name) then 'is inactive' else 'is missing' end,
      'Inactive: select cron.alter_job(jobid, active => true) from cron.job where starts_with(jobname, ''supaswarm-''). '
        'Missing: run its line select cron.schedule(…) of the release''s migration again.'
    from unnest(array[
      'supaswarm-delete-auth-events', 'supaswarm-delete-cron-runs', 'supaswarm-delete-old', 'supaswarm-delete-syncs',
      'supaswarm-delete-webhook-messages', 'supaswarm-drop-partitions', 'supaswarm-export', 'supaswarm-partitions',
      'supaswarm-quoth-finish-switches', 'supaswarm-quoth-tick', 'supaswarm-row-starts', 'supaswarm-schedules', c_tick
    ]) as wanted (name)
    where not exists (select from cron.job where job.jobname = wanted.name and job.active);

  v_last_run_at := (
    select max(run.start_time) from cron.job join cron.job_run_details as run using (jobid) where job.jobname = c_tick
  );
  if coalesce(v_last_run_at, '-infinity') < clock_timestamp() - interval '5 minutes'
    and greatest(pg_postmaster_start_time(), (select max(release.installed_at) from private.releases as release))
      <= clock_timestamp() - p_grace
    -- Otherwise runs leave no row.
    and current_setting('cron.log_run', true) is distinct from 'off'
  then
    return query select kind, c_tick, 'command',
      coalesce('has not run for ' || round(extract(epoch from clock_timestamp() - v_last_run_at)) || ' s', 'has never run'),
      'It runs each 15 seconds, and first so long after an installation or a start of the database. If it does not, tasks wait: '
        'let pg_cron read its jobs with select cron.alter_job(jobid, active => true) from cron.job where jobname = ''supaswarm-tick''; '
        'if that does not help, pg_cron has stopped, so restart the database (hosted: Project Settings, General), then look into '
        'cron.job_run_details.';
  end if;
end;
$$;
comment on function private.cron_problems(interval) is
  'The platform''s cron jobs that are missing or inactive, and the tick if it does not run. Says nothing of the tick for p_grace after an installation, an upgrade or a start of the database.';

create function private.configuration_problems()
returns table (kind text, name text, field text, problem text, hint text)
language sql
stable
set search_path = ''
as $$
  select * from private.row_problems()
  union all
  select * from private.scope_problems()
  union all
  select * from private.secret_problems()
  union all
  select * from private.tool_name_problems()
  union all
  select * from private.price_problems()
  union all
  select * from private.row_trigger_problems()
  union all
  select * from private.cron_problems()
  union all
  select * from private.workflow_problems()
  order by 1, 2, 3;
$$;
comment on function private.configuration_problems() is
  'Everything in the registry that will fail or be missing when a task needs it, cron jobs that do not run, and workflows with jobs that their runner no longer has.';
grant execute on function private.configuration_problems() to service_role;

-- What operators see of it --------------------------------------------------------------------------

create table private.acknowledged_problems (
  kind text not null,
  name text not null,
  field text not null,
  cause text not null,
  reason text not null check (length(reason) between 1 and 2000),
  acknowledged_at timestamptz not null default now(),
  -- No foreign key: the record remains after the account is deleted.
  acknowledged_by uuid,
  primary key (kind, name, field, cause)
);
comment on table private.acknowledged_problems is
  'Problems of the configuration that operators know and accept. Those that have ended are deleted by the next operator_acknowledge_problems().';
comment on column private.acknowledged_problems.cause is 'The problem without its numbers, which change.';
alter table private.acknowledged_problems enable row level security;

create function private.listed_problems()
returns table (kind text, name text, field text, problem text, hint text, cause text)
language sql
stable
set search_path = ''
as $$
  select listed.*, regexp_replace(listed.problem, '[0-9]+', '#', 'g') from private.configuration_problems() as listed;
$$;
comment on function private.listed_problems() is 'configuration_problems() with what identifies an acknowledged one.';

create function private.operator_configuration_problems()
returns table (
  kind text, name text, field text, problem text, hint text, acknowledged_at timestamptz, acknowledged_by text, reason text
)
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  perform private.assert_operator('list the problems of the configuration');
  return query
    select listed.kind, listed.name, listed.field, listed.problem, listed.hint,
      known.acknowledged_at, private.email_of(known.acknowledged_by), known.reason
    from private.listed_problems() as listed
    left join private.acknowledged_problems as known using (kind, name, field, cause)
    order by listed.kind, listed.name, listed.field, listed.problem;
end;
$$;
comment on function private.operator_configuration_problems() is
  'configuration_problems() for operators. Definer: it reads all agents, tools and grants; assert_operator() checks the caller.';

create view public.operator_configuration_problems with (security_invoker = true) as
  select * from private.operator_configuration_problems();
revoke all on public.operator_configuration_problems from anon, authenticated, service_role;
comment on view public.operator_configuration_problems is
  'What in the registry will fail or be missing when a task needs it: tools of agents whose users lack the scope, secrets that Vault does not have, tool names that a server does not list, models without a price under a cap, invalid rows, row triggers that start no jobs, cron jobs that do not run, and jobs of workflows that their runner no longer has (WORKFLOW_UNKNOWN). Each row names the field and what to do. For operators and the service; INSUFFICIENT_SCOPE for all others.';
comment on column public.operator_configuration_problems.acknowledged_at is
  'When an operator acknowledged it with operator_acknowledge_problems(); null: nobody has.';
comment on column public.operator_configuration_problems.reason is 'Why it is acknowledged.';
grant execute on function private.operator_configuration_problems() to authenticated, service_role;
grant select on public.operator_configuration_problems to authenticated, service_role;

create function private.warn_of_missing_scope()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_found record;
begin
  for v_found in
    select * from private.scope_problems(new.agent_id, new.tool_id)
  loop
    raise warning using
      message = format('The tool "%s" of the agent "%s" %s', substr(v_found.field, 7), v_found.name, v_found.problem),
      hint = v_found.hint;
  end loop;
  return null;
end;
$$;
comment on function private.warn_of_missing_scope() is
  'Row trigger of agent_tools: warns at once when users of the agent lack the tool''s scope. Definer: the writers may not read the grants.';
create trigger agent_tools_warn_of_missing_scope after insert or update on public.agent_tools
  for each row execute function private.warn_of_missing_scope();
