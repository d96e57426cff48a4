-- Definitions: a row of the registry with everything that belongs to it as one JSON document, in the words of the
-- files in agents/. push writes them, pull reads them, and revisions keep them.

create function private.definition_kinds()
returns text[]
language sql
immutable
set search_path = ''
as $$
  select '{tool,skill,agent,schedule,webhook,alert,trigger}'::text[];
$$;
comment on function private.definition_kinds() is 'The kinds of definitions, in the order in which they refer to each other.';

create function private.without_nulls(p_object jsonb)
returns jsonb
language sql
immutable
set search_path = ''
as $$
  select coalesce(jsonb_object_agg(key, value), '{}')
  from jsonb_each(without_nulls.p_object)
  where value <> 'null';
$$;
comment on function private.without_nulls(jsonb) is 'An object without its own members that are null; unlike jsonb_strip_nulls(), inner values stay.';

create function private.agent_definition(p_agent public.agents)
returns jsonb
language sql
stable
set search_path = ''
as $$
  select private.without_nulls(jsonb_build_object(
    'display_name', agent.name,
    'description', agent.description,
    'prompt', agent.system_prompt,
    'provider', (select provider.name from public.llm_providers as provider where provider.id = agent.provider_id),
    'model', agent.model,
    'temperature', agent.temperature,
    'max_tokens', agent.max_tokens,
    'max_turns', agent.max_turns,
    'max_continuations', nullif(agent.max_continuations, 3),
    'reasoning_effort', agent.reasoning_effort,
    'provider_tools', nullif(to_jsonb(agent.provider_tools), '[]'),
    'input_schema', agent.input_schema,
    'output_schema', agent.output_schema,
    'must_complete', nullif(agent.must_complete, false),
    'budget', agent.budget,
    'audience', nullif(agent.audience, 'everyone'),
    'is_active', nullif(agent.is_active, true),
    'handoffs', case when not agent.may_hand_off then '"none"'::jsonb else (
      select jsonb_agg(target.slug order by target.slug)
      from public.agent_handoffs as handoff
      join public.agents as target on target.id = handoff.target_agent_id
      where handoff.agent_id = agent.id
    ) end,
    'fallbacks', (
      select jsonb_agg(private.without_nulls(jsonb_build_object('provider', provider.name, 'model', fallback.model)) order by fallback.priority)
      from public.agent_fallbacks as fallback
      join public.llm_providers as provider on provider.id = fallback.provider_id
      where fallback.agent_id = agent.id
    ),
    'skills', (
      select jsonb_agg(skill.skill_id order by given.priority, skill.skill_id)
      from public.agent_skills as given
      join public.skills as skill on skill.id = given.skill_id
      where given.agent_id = agent.id
    ),
    'tools', (
      select jsonb_agg(private.without_nulls(jsonb_build_object('tool', tool.slug, 'allowed_tools', to_jsonb(granted.allowed_tools))) order by tool.slug)
      from public.agent_tools as granted
      join public.tools as tool on tool.id = granted.tool_id
      where granted.agent_id = agent.id
    ),
    'guardrails', (
      select jsonb_agg(jsonb_build_object('stage', guardrail.stage, 'tool', tool.slug, 'tool_name', guardrail.tool_name)
        order by guardrail.stage, guardrail.priority)
      from public.agent_guardrails as guardrail
      join public.tools as tool on tool.id = guardrail.tool_id
      where guardrail.agent_id = agent.id
    ),
    'approvals', (
      select jsonb_agg(private.without_nulls(jsonb_build_object(
        'tool', tool.slug, 'tool_name', rule.tool_name, 'ask', rule.ask, 'conditions', rule.conditions
      )) order by tool.slug nulls last, rule.tool_name)
      from public.agent_approvals as rule
      left join public.tools as tool on tool.id = rule.tool_id
      where rule.agent_id = agent.id and rule.user_id is null
    )
  ))
  from (select (agent_definition.p_agent).*) as agent;
$$;
comment on function private.agent_definition(public.agents) is
  'An agent as one document: its row, and its tools, skills, handoffs, fallbacks, guardrails and the approvals for everyone. Defaults are missing.';

create function private.credential_definition(p_tool public.tools)
returns jsonb
language sql
stable
set search_path = ''
as $$
  select nullif(private.without_nulls(jsonb_build_object(
    'secret', p_tool.credential_secret_name,
    'type', p_tool.credential_type,
    'description', p_tool.credential_description,
    'audience', nullif(p_tool.credential_audience, 'everyone')
  )), '{}');
$$;
comment on function private.credential_definition(public.tools) is
  'The member credential of a tool''s or server''s document; null when it has none.';

create function private.definitions()
returns table (kind text, slug text, definition jsonb)
language sql
stable
set search_path = ''
as $$
  select 'agent', agent.slug, private.agent_definition(agent)
  from public.agents as agent
  -- Workflows are defined in code.
  where agent.runner is null
  union all
  select 'tool', tool.slug, private.without_nulls(jsonb_build_object(
    'display_name', tool.name,
    'type', private.tool_kind(tool.type, tool.config),
    'description', tool.description,
    'config', tool.config,
    'credential', private.credential_definition(tool),
    'data_flows', tool.data_flows,
    'audience', nullif(tool.audience, 'granted'),
    'is_active', nullif(tool.is_active, true)
  ))
  from public.tools as tool
  where tool.type in ('http_api', 'supabase_rpc')
  union all
  select 'skill', skill.skill_id, private.without_nulls(jsonb_build_object(
    'name', skill.name,
    'description', skill.description,
    'version', skill.version,
    'instructions', skill.instructions,
    'resources', nullif(skill.resources, '{}'),
    'metadata', nullif(skill.metadata, '{}'),
    'is_active', nullif(skill.is_active, true)
  ))
  from public.skills as skill
  union all
  select 'schedule', schedule.name, private.without_nulls(jsonb_build_object(
    'agent', schedule.agent,
    'input', schedule.input,
    'cron', schedule.cron,
    'time_zone', nullif(schedule.time_zone, 'UTC'),
    'overlap', nullif(schedule.overlap, 'skip'),
    'priority', nullif(schedule.priority, 'normal'),
    'budget', schedule.budget,
    'metadata', nullif(schedule.metadata, '{}'),
    'is_active', nullif(schedule.is_active, true)
  ))
  from public.schedules as schedule
  where schedule.created_by is null and schedule.name is not null
  union all
  select 'webhook', webhook.name, private.without_nulls(jsonb_build_object(
    'url', webhook.url,
    'events', to_jsonb(webhook.events),
    'includes_subtasks', nullif(webhook.includes_subtasks, false),
    'is_active', nullif(webhook.is_active, true)
  ))
  from public.webhooks as webhook
  where webhook.created_by is null and webhook.name is not null
  union all
  select 'alert', alert.name, private.without_nulls(jsonb_build_object(
    'measure', alert.measure,
    'above', alert.above,
    'minutes', nullif(alert.minutes, 60),
    'agent', alert.agent,
    'at_least', nullif(alert.at_least, 10),
    'is_active', nullif(alert.is_active, true)
  ))
  from public.alerts as alert
  union all
  select 'trigger', listed.name, private.without_nulls(jsonb_build_object(
    'table', listed.table_name,
    'events', to_jsonb(listed.events),
    'columns', to_jsonb(listed.columns),
    'conditions', nullif(listed.conditions, '[]'),
    'agent', listed.agent,
    'input', listed.input,
    'owner_column', listed.owner_column,
    'starts_per', nullif(listed.starts_per, 'row'),
    'key', to_jsonb(listed.key),
    'debounce_seconds', nullif(listed.debounce_seconds, 0),
    'max_per_hour', nullif(listed.max_per_hour, 20),
    'is_active', nullif(listed.is_active, true)
  ))
  from public.row_triggers as listed;
$$;
comment on function private.definitions() is
  'The definitions of the registry: agents, HTTP and function tools, skills, alerts, row triggers, and the schedules and webhooks of the service, which have names. MCP servers are those of external-mcps.yaml.';

-- Writing -----------------------------------------------------------------------------------------

create function private.id_of(p_kind text, p_slug text, p_attempt text)
returns uuid
language plpgsql
stable
set search_path = ''
as $$
declare
  v_id uuid;
  v_known text[];
begin
  case p_kind
    when 'provider' then
      select id into v_id from public.llm_providers where name = p_slug;
      v_known := array(select name from public.llm_providers order by name);
    when 'tool' then
      select id into v_id from public.tools where slug = p_slug;
      v_known := array(select slug from public.tools order by slug);
    when 'skill' then
      select id into v_id from public.skills where skill_id = p_slug;
      v_known := array(select skill_id from public.skills order by skill_id);
    when 'agent' then
      select id into v_id from public.agents where slug = p_slug;
      v_known := array(select slug from public.agents order by slug);
  end case;
  if v_id is null then
    perform private.raise_error(upper(p_kind) || '_NOT_FOUND',
      format('Cannot %s: there is no %s "%s"', p_attempt, p_kind, p_slug),
      private.did_you_mean(p_slug, v_known) || case when cardinality(v_known) = 0 then format('Add the %s first.', p_kind)
        else format('There are %s.', array_to_string(v_known[:20], ', ')) end);
  end if;
  return v_id;
end;
$$;
comment on function private.id_of(text, text, text) is
  'The id of the provider, tool, skill or agent with this name. Raises PROVIDER_NOT_FOUND, TOOL_NOT_FOUND, SKILL_NOT_FOUND or AGENT_NOT_FOUND with the nearest names; p_attempt completes the sentence "Cannot …".';

create function private.write_agent_row(p_slug text, p_definition jsonb)
returns void
language plpgsql
set search_path = ''
as $$
begin
  insert into public.agents as agent (
    slug, name, description, system_prompt, provider_id, model, temperature, max_tokens, max_turns, max_continuations, reasoning_effort,
    provider_tools, input_schema, output_schema, must_complete, budget, audience, is_active, may_hand_off
  )
  values (
    p_slug,
    coalesce(p_definition ->> 'display_name', p_slug),
    p_definition ->> 'description',
    coalesce(p_definition ->> 'prompt', ''),
    case when p_definition ? 'provider'
      then private.id_of('provider', p_definition ->> 'provider', format('save the agent "%s"', p_slug)) end,
    p_definition ->> 'model',
    (p_definition ->> 'temperature')::numeric,
    (p_definition ->> 'max_tokens')::int,
    (p_definition ->> 'max_turns')::int,
    coalesce((p_definition ->> 'max_continuations')::int, 3),
    p_definition ->> 'reasoning_effort',
    coalesce(private.texts_of(p_definition -> 'provider_tools'), '{}'),
    p_definition -> 'input_schema',
    p_definition -> 'output_schema',
    coalesce((p_definition ->> 'must_complete')::boolean, false),
    p_definition -> 'budget',
    coalesce(p_definition ->> 'audience', 'everyone'),
    coalesce((p_definition ->> 'is_active')::boolean, true),
    coalesce(p_definition -> 'handoffs' <> '"none"', true)
  )
  on conflict (slug) do update set
    name = excluded.name, description = excluded.description, system_prompt = excluded.system_prompt,
    provider_id = excluded.provider_id, model = excluded.model, temperature = excluded.temperature,
    max_tokens = excluded.max_tokens, max_turns = excluded.max_turns, max_continuations = excluded.max_continuations, reasoning_effort = excluded.reasoning_effort,
    provider_tools = excluded.provider_tools, input_schema = excluded.input_schema, output_schema = excluded.output_schema,
    must_complete = excluded.must_complete, budget = excluded.budget, audience = excluded.audience,
    is_active = excluded.is_active, may_hand_off = excluded.may_hand_off
  where to_jsonb(agent) - '{id,created_at,updated_at}'::text[] is distinct from
    to_jsonb(excluded) - '{id,created_at,updated_at}'::text[];
end;
$$;
comment on function private.write_agent_row(text, jsonb) is 'Writes the row of an agent from its definition, before what the agent refers to.';

create function private.write_agent_parts(p_slug text, p_definition jsonb)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_attempt constant text := format('save the agent "%s"', p_slug);
  v_agent_id constant uuid := private.id_of('agent', p_slug, v_attempt);
begin
  delete from public.agent_handoffs where agent_id = v_agent_id;
  insert into public.agent_handoffs (agent_id, target_agent_id)
  select v_agent_id, private.id_of('agent', target, v_attempt)
  from jsonb_array_elements_text(case jsonb_typeof(p_definition -> 'handoffs') when 'array' then p_definition -> 'handoffs' else '[]' end) as target;

  delete from public.agent_fallbacks where agent_id = v_agent_id;
  insert into public.agent_fallbacks (agent_id, priority, provider_id, model)
  select v_agent_id, place, private.id_of('provider', fallback ->> 'provider', v_attempt), fallback ->> 'model'
  from jsonb_array_elements(coalesce(p_definition -> 'fallbacks', '[]')) with ordinality as listed (fallback, place);

  delete from public.agent_skills where agent_id = v_agent_id;
  insert into public.agent_skills (agent_id, skill_id, priority)
  select v_agent_id, private.id_of('skill', skill, v_attempt), place
  from jsonb_array_elements_text(coalesce(p_definition -> 'skills', '[]')) with ordinality as listed (skill, place);

  delete from public.agent_tools as granted
  using public.tools as tool
  where granted.agent_id = v_agent_id and tool.id = granted.tool_id
    and tool.slug not in (select listed ->> 'tool' from jsonb_array_elements(coalesce(p_definition -> 'tools', '[]')) as listed);
  insert into public.agent_tools as granted (agent_id, tool_id, allowed_tools)
  select v_agent_id, private.id_of('tool', listed ->> 'tool', v_attempt),
    case when listed ? 'allowed_tools' then private.texts_of(listed -> 'allowed_tools') end
  from jsonb_array_elements(coalesce(p_definition -> 'tools', '[]')) as listed
  on conflict (agent_id, tool_id) do update set allowed_tools = excluded.allowed_tools
  where granted.allowed_tools is distinct from excluded.allowed_tools;

  delete from public.agent_guardrails where agent_id = v_agent_id;
  insert into public.agent_guardrails (agent_id, stage, priority, tool_id, tool_name)
  select v_agent_id, guardrail ->> 'stage', place, private.id_of('tool', guardrail ->> 'tool', v_attempt), guardrail ->> 'tool_name'
  from jsonb_array_elements(coalesce(p_definition -> 'guardrails', '[]')) with ordinality as listed (guardrail, place);

  delete from public.agent_approvals where agent_id = v_agent_id and user_id is null;
  begin
    insert into public.agent_approvals (agent_id, tool_id, tool_name, ask, conditions)
    select v_agent_id, case when rule ? 'tool' then private.id_of('tool', rule ->> 'tool', v_attempt) end,
      coalesce(rule ->> 'tool_name', '*'), rule ->> 'ask', rule -> 'conditions'
    from jsonb_array_elements(coalesce(p_definition -> 'approvals', '[]')) as rule;
  exception
    when check_violation then
      perform private.raise_error('APPROVAL_RULE_INVALID', format('Cannot %s: one of its approvals is not valid', v_attempt),
        'ask is never, always or when. when needs conditions: a list of {argument, operator, value} or {data_flow}.');
  end;
end;
$$;
comment on function private.write_agent_parts(text, jsonb) is
  'Writes what an agent refers to from its definition: handoffs, fallbacks, skills, tools, guardrails and the approvals for everyone. Raises the codes of id_of(), APPROVAL_RULE_INVALID.';

create function private.write_tool(p_slug text, p_definition jsonb)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_kind constant text := p_definition ->> 'type';
  v_is_server constant boolean := exists (
    select from public.tools as tool where tool.slug = p_slug and tool.type in ('internal', 'mcp_server')
  );
begin
  if v_is_server or v_kind in ('internal', 'mcp_server') then
    perform private.raise_error('DEFINITION_INVALID', format('Cannot save the tool "%s": %s', p_slug, case
      when v_is_server then 'a tool server has this slug'
      else format('its type is %s', v_kind)
    end), 'Definitions describe the types http_api, database_function and edge_function. Add an MCP server to external-mcps.yaml.');
  end if;
  insert into public.tools as tool (
    slug, name, type, description, config, credential_secret_name, credential_type, credential_description,
    credential_audience, data_flows, audience, is_active
  )
  values (
    p_slug, coalesce(p_definition ->> 'display_name', p_slug),
    case when v_kind in ('database_function', 'edge_function') then 'supabase_rpc' else v_kind end,
    p_definition ->> 'description', coalesce(p_definition -> 'config', '{}'),
    p_definition #>> '{credential,secret}', p_definition #>> '{credential,type}', p_definition #>> '{credential,description}',
    coalesce(p_definition #>> '{credential,audience}', 'everyone'), p_definition -> 'data_flows',
    coalesce(p_definition ->> 'audience', 'granted'), coalesce((p_definition ->> 'is_active')::boolean, true)
  )
  on conflict (slug) do update set
    name = excluded.name, type = excluded.type, description = excluded.description, config = excluded.config,
    credential_secret_name = excluded.credential_secret_name, credential_type = excluded.credential_type,
    credential_description = excluded.credential_description, credential_audience = excluded.credential_audience,
    data_flows = excluded.data_flows, audience = excluded.audience, is_active = excluded.is_active
  where to_jsonb(tool) - '{id,created_at}'::text[] is distinct from to_jsonb(excluded) - '{id,created_at}'::text[];
end;
$$;
comment on function private.write_tool(text, jsonb) is 'Writes an HTTP or function tool from its definition. Raises DEFINITION_INVALID for a server, TOOL_CONFIG_INVALID.';

create function private.write_skill(p_skill_id text, p_definition jsonb)
returns void
language plpgsql
set search_path = ''
as $$
begin
  insert into public.skills as skill (skill_id, name, description, version, instructions, resources, metadata, is_active)
  values (
    p_skill_id, p_definition ->> 'name', p_definition ->> 'description', coalesce(p_definition ->> 'version', '1.0.0'),
    p_definition ->> 'instructions', coalesce(p_definition -> 'resources', '{}'), coalesce(p_definition -> 'metadata', '{}'),
    coalesce((p_definition ->> 'is_active')::boolean, true)
  )
  on conflict (skill_id) do update set
    name = excluded.name, description = excluded.description, version = excluded.version,
    instructions = excluded.instructions, resources = excluded.resources, metadata = excluded.metadata,
    is_active = excluded.is_active;
end;
$$;
comment on function private.write_skill(text, jsonb) is 'Writes a skill from its definition. Raises SKILL_INVALID.';

create function private.write_schedule(p_name text, p_definition jsonb)
returns void
language plpgsql
set search_path = ''
as $$
begin
  update public.schedules
  set agent = p_definition ->> 'agent', input = p_definition -> 'input', cron = p_definition ->> 'cron',
      time_zone = coalesce(p_definition ->> 'time_zone', 'UTC'), overlap = coalesce(p_definition ->> 'overlap', 'skip'),
      priority = coalesce(p_definition ->> 'priority', 'normal'), budget = p_definition -> 'budget',
      metadata = coalesce(p_definition -> 'metadata', '{}'), is_active = coalesce((p_definition ->> 'is_active')::boolean, true)
  where created_by is null and name = p_name;
  if found then
    return;
  end if;
  insert into public.schedules (created_by, name, agent, input, cron, time_zone, overlap, priority, budget, metadata, is_active)
  values (
    null, p_name, p_definition ->> 'agent', p_definition -> 'input', p_definition ->> 'cron',
    coalesce(p_definition ->> 'time_zone', 'UTC'), coalesce(p_definition ->> 'overlap', 'skip'),
    coalesce(p_definition ->> 'priority', 'normal'), p_definition -> 'budget',
    coalesce(p_definition -> 'metadata', '{}'), coalesce((p_definition ->> 'is_active')::boolean, true)
  );
end;
$$;
comment on function private.write_schedule(text, jsonb) is
  'Writes a schedule of the service from its definition; its name identifies it. Raises what check_schedule() raises.';

create function private.write_webhook(p_name text, p_definition jsonb)
returns void
language plpgsql
set search_path = ''
as $$
begin
  update public.webhooks
  set url = p_definition ->> 'url', events = private.texts_of(p_definition -> 'events'),
      includes_subtasks = coalesce((p_definition ->> 'includes_subtasks')::boolean, false),
      is_active = coalesce((p_definition ->> 'is_active')::boolean, true)
  where created_by is null and name = p_name;
  if found then
    return;
  end if;
  insert into public.webhooks (created_by, name, url, events, includes_subtasks, is_active)
  values (
    null, p_name, p_definition ->> 'url', private.texts_of(p_definition -> 'events'),
    coalesce((p_definition ->> 'includes_subtasks')::boolean, false), coalesce((p_definition ->> 'is_active')::boolean, true)
  );
end;
$$;
comment on function private.write_webhook(text, jsonb) is
  'Writes a webhook of the service from its definition; its name identifies it. Raises WEBHOOK_INVALID.';

create function private.write_alert(p_name text, p_definition jsonb)
returns void
language plpgsql
set search_path = ''
as $$
begin
  insert into public.alerts as alert (name, measure, above, minutes, agent, at_least, is_active)
  values (
    p_name, p_definition ->> 'measure', (p_definition ->> 'above')::numeric,
    coalesce((p_definition ->> 'minutes')::int, 60), p_definition ->> 'agent',
    coalesce((p_definition ->> 'at_least')::int, 10), coalesce((p_definition ->> 'is_active')::boolean, true)
  )
  on conflict (name) do update set
    measure = excluded.measure, above = excluded.above, minutes = excluded.minutes, agent = excluded.agent,
    at_least = excluded.at_least, is_active = excluded.is_active;
end;
$$;
comment on function private.write_alert(text, jsonb) is
  'Writes an alert from its definition; what it measured stays. Raises ALERT_INVALID, AGENT_NOT_FOUND.';

create function private.write_row_trigger(p_name text, p_definition jsonb)
returns void
language plpgsql
set search_path = ''
as $$
begin
  insert into public.row_triggers as listed (
    name, table_name, events, columns, conditions, agent, input, owner_column, starts_per, key, debounce_seconds, max_per_hour, is_active
  )
  values (
    p_name, p_definition ->> 'table', private.texts_of(p_definition -> 'events'),
    private.texts_of(p_definition -> 'columns'), coalesce(p_definition -> 'conditions', '[]'), p_definition ->> 'agent',
    p_definition -> 'input', p_definition ->> 'owner_column', coalesce(p_definition ->> 'starts_per', 'row'),
    private.texts_of(p_definition -> 'key'), coalesce((p_definition ->> 'debounce_seconds')::int, 0),
    coalesce((p_definition ->> 'max_per_hour')::int, 20), coalesce((p_definition ->> 'is_active')::boolean, true)
  )
  -- Also without a change: a trigger that its table lacks is created again.
  on conflict (name) do update set
    table_name = excluded.table_name, events = excluded.events, columns = excluded.columns, conditions = excluded.conditions,
    agent = excluded.agent, input = excluded.input, owner_column = excluded.owner_column, starts_per = excluded.starts_per,
    key = excluded.key, debounce_seconds = excluded.debounce_seconds, max_per_hour = excluded.max_per_hour,
    is_active = excluded.is_active;
end;
$$;
comment on function private.write_row_trigger(text, jsonb) is
  'Writes a row trigger from its definition, and the triggers of its table. Raises TRIGGER_INVALID, TRIGGER_TABLE_BUSY, AGENT_NOT_FOUND.';
