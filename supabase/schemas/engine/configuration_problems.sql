-- What operators should correct although every row is valid by itself: missing scopes, secrets and names.

create function private.scope_problems(p_agent_id uuid default null, p_tool_id uuid default null)
returns table (kind text, name text, field text, problem text, hint text)
language sql
stable
set search_path = ''
as $$
  with given as (
    select agent.id as agent_id, agent.slug as agent, agent.audience, tool.slug as tool, 'mcp:' || tool.slug as scope
    from public.agent_tools as granted
    join public.agents as agent on agent.id = granted.agent_id and agent.is_active
    join public.tools as tool on tool.id = granted.tool_id and tool.is_active and tool.type <> 'internal'
    where (scope_problems.p_agent_id is null or granted.agent_id = scope_problems.p_agent_id)
      and (scope_problems.p_tool_id is null or granted.tool_id = scope_problems.p_tool_id)
  ),
  holders as (
    select grants.user_id, grants.scopes
    from public.mcp_grants as grants
    where grants.client_id is null
  ),
  counted as (
    select given.*,
      coalesce((
        select holder.scopes && array[given.scope, 'admin:*'] from holders as holder where holder.user_id is null
      ), false) as is_default,
      (
        select count(*) from holders as holder
        where holder.user_id is not null and holder.scopes && array[given.scope, 'admin:*']
          and private.may_use_agent(given.agent_id, holder.user_id)
      ) as with_scope,
      (
        select count(*) from holders as holder
        where holder.user_id is not null and not holder.scopes && array[given.scope, 'admin:*']
          and private.may_use_agent(given.agent_id, holder.user_id)
      ) as without_scope,
      (
        select count(*) from public.agent_audience as named
        where given.audience = 'named' and named.agent_id = given.agent_id
          and not exists (select from holders as holder where holder.user_id = named.user_id)
      ) as by_default
    from given
  )
  select 'agent', counted.agent, 'tools.' || counted.tool,
    case
      when not counted.is_default and counted.with_scope = 0
        then format('cannot be called by any user: nobody of the agent''s audience has the scope %s', counted.scope)
      when counted.audience = 'everyone' and not counted.is_default
        then format('can be called only in jobs of users with the scope %s (%s now): the default scopes lack it',
          counted.scope, counted.with_scope)
      else format('cannot be called in jobs of users without the scope %s (%s now)', counted.scope,
        counted.without_scope + case when counted.is_default then 0 else counted.by_default end)
    end,
    format('Grant it in the console under Setup, Access, Scopes, to everyone with select public.grant_scopes(null, ''{%s}''), or to one user with select public.grant_scopes(''<user id>'', ''{%s}'').',
      counted.scope, counted.scope)
  from counted
  where counted.without_scope > 0 or not counted.is_default and (counted.audience = 'everyone' or counted.by_default > 0);
$$;
comment on function private.scope_problems(uuid, uuid) is
  'The tools of agents (null: of all, or of all agents) that users of the agent cannot use because they lack the scope.';
revoke all on function private.scope_problems(uuid, uuid) from public;

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
    select 'provider', provider.name, 'api_key_secret_name', provider.api_key_secret_name
    from public.llm_providers as provider
    where provider.is_active and provider.requires_api_key
      and exists (select from public.agents as agent where agent.provider_id = provider.id and agent.is_active)
  )
  select named.kind, named.name, named.field, format('is %s, but Vault has no secret with this name', to_json(named.secret)),
    format('Store it in the console under Setup, Access, Keys, or with select vault.create_secret(''…'', %L).', named.secret)
  from named
  where not exists (select from vault.secrets as stored where stored.name = named.secret);
$$;
comment on function private.secret_problems() is 'Names of secrets in active tools, and in providers of active agents, that Vault does not have.';
revoke all on function private.secret_problems() from public;

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
revoke all on function private.tool_name_problems() from public;

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
revoke all on function private.row_problems() from public;

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
revoke all on function private.price_problems() from public;

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
  order by 1, 2, 3;
$$;
comment on function private.configuration_problems() is
  'Everything in the registry that will fail or be missing when a task needs it.';
revoke all on function private.configuration_problems() from public;
grant execute on function private.configuration_problems() to service_role;

create function private.operator_configuration_problems()
returns table (kind text, name text, field text, problem text, hint text)
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  perform private.assert_operator('list the problems of the configuration');
  return query select * from private.configuration_problems();
end;
$$;
comment on function private.operator_configuration_problems() is
  'configuration_problems() for operators. Definer: it reads all agents, tools and grants; assert_operator() checks the caller.';
revoke all on function private.operator_configuration_problems() from public;

create view public.operator_configuration_problems with (security_invoker = true) as
  select * from private.operator_configuration_problems();
revoke all on public.operator_configuration_problems from anon, authenticated, service_role;
comment on view public.operator_configuration_problems is
  'What in the registry will fail or be missing when a task needs it: tools of agents whose users lack the scope, secrets that Vault does not have, tool names that a server does not list, models without a price under a cap, invalid rows. Each row names the field and what to do. For operators and the service; INSUFFICIENT_SCOPE for all others.';
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
revoke all on function private.warn_of_missing_scope() from public;
create trigger agent_tools_warn_of_missing_scope after insert or update on public.agent_tools
  for each row execute function private.warn_of_missing_scope();
