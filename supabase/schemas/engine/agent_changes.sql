-- Changes of an agent for one job, so that a model or a prompt can be tried without a change of what runs for others.
-- They are stored with the task, in the words of agents/<slug>.md, and replace those parts of the agent's revision.

create function private.provider_of_model(p_agent public.agents, p_provider text, p_model text, p_attempt text)
returns public.llm_providers
language plpgsql
stable
set search_path = ''
as $$
declare
  v_providers public.llm_providers[];
  v_provider public.llm_providers;
begin
  if p_provider is not null then
    select * into v_provider from public.llm_providers where id = private.id_of('provider', p_provider, p_attempt);
  else
    v_providers := array(
      select provider
      from public.llm_providers as provider
      where provider.is_active and private.knows_model(provider, p_model)
      order by provider.id is not distinct from p_agent.provider_id desc, provider.name
    );
    -- Any provider can have models that nobody listed, such as a server of your own.
    select * into v_provider from public.llm_providers
    where id = coalesce((v_providers[1]).id, p_agent.provider_id);
    if cardinality(v_providers) > 1 and v_provider.id is distinct from p_agent.provider_id then
      perform private.raise_error('AGENT_CHANGES_INVALID',
        format('Cannot %s: several providers have the model "%s"', p_attempt, p_model),
        format('Name its provider: %s.', (select string_agg(one.name, ', ') from unnest(v_providers) as one)));
    end if;
  end if;
  if v_provider.id is null then
    perform private.raise_error('AGENT_CHANGES_INVALID',
      format('Cannot %s: no provider lists the model "%s"', p_attempt, p_model),
      'Name its provider too.');
  end if;
  if not v_provider.is_active then
    perform private.raise_error('AGENT_CHANGES_INVALID',
      format('Cannot %s: the provider "%s" is not active', p_attempt, v_provider.name),
      'Set llm_providers.is_active, or name another provider.');
  end if;
  return v_provider;
end;
$$;
comment on function private.provider_of_model(public.agents, text, text, text) is
  'The provider that an agent is to use for a model: the named one; else the agent''s own if it lists the model as its default or with a price; else the only active one that lists it; else the agent''s own. Raises PROVIDER_NOT_FOUND, AGENT_CHANGES_INVALID.';

create function private.assert_changed_tools(p_tools jsonb, p_attempt text)
returns void
language plpgsql
stable
set search_path = ''
as $$
declare
  v_listed jsonb;
begin
  for v_listed in select * from jsonb_array_elements(case jsonb_typeof(p_tools) when 'array' then p_tools else '[null]' end) loop
    if jsonb_typeof(v_listed -> 'tool') is distinct from 'string'
      or v_listed - '{tool,allowed_tools}'::text[] <> '{}'
      or v_listed ? 'allowed_tools' and (
        jsonb_typeof(v_listed -> 'allowed_tools') <> 'array'
        or jsonb_path_exists(v_listed -> 'allowed_tools', '$[*] ? (@.type() != "string")')
      )
    then
      perform private.raise_error('AGENT_CHANGES_INVALID', format('Cannot %s: tools is not a list of tools', p_attempt),
        'Send all tools that the agent is to have: [{"tool": slug, "allowed_tools": [names of a server''s tools]}].');
    end if;
    perform private.id_of('tool', v_listed ->> 'tool', p_attempt);
  end loop;
  if jsonb_array_length(p_tools) > (select count(distinct listed ->> 'tool') from jsonb_array_elements(p_tools) as listed) then
    perform private.raise_error('AGENT_CHANGES_INVALID', format('Cannot %s: tools lists a tool twice', p_attempt),
      'List each tool once, with all its allowed_tools.');
  end if;
end;
$$;
comment on function private.assert_changed_tools(jsonb, text) is
  'Checks the tools [{tool, allowed_tools}] that replace those of an agent for one job. p_attempt completes the sentence "Cannot …". Raises AGENT_CHANGES_INVALID, TOOL_NOT_FOUND.';

create function private.resolved_agent_changes(p_agent public.agents, p_changes jsonb, p_attempt text)
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
declare
  v_known constant text[] := array['provider', 'model', 'prompt', 'temperature', 'reasoning_effort', 'tools'];
  v_wrong text;
  v_provider public.llm_providers;
begin
  if p_changes is null or p_changes in ('null', '{}') then
    return null;
  end if;
  if jsonb_typeof(p_changes) <> 'object' then
    perform private.raise_error('AGENT_CHANGES_INVALID', format('Cannot %s: agent_changes is not an object', p_attempt),
      format('Send an object with any of %s.', array_to_string(v_known, ', ')));
  end if;
  select key into v_wrong from jsonb_object_keys(p_changes) as key where key <> all (v_known) limit 1;
  if v_wrong is not null then
    perform private.raise_error('AGENT_CHANGES_INVALID',
      format('Cannot %s: an agent has no "%s" that a job can change', p_attempt, left(v_wrong, 100)),
      private.did_you_mean(v_wrong, v_known) || format('A job can change %s.', array_to_string(v_known, ', ')));
  end if;
  select key into v_wrong from jsonb_each(p_changes)
  where key <> all ('{temperature,reasoning_effort,tools}')
    and (jsonb_typeof(value) <> 'string' or value = '""' or key <> 'prompt' and length(value #>> '{}') > 200)
  limit 1;
  if v_wrong is not null then
    perform private.raise_error('AGENT_CHANGES_INVALID', format('Cannot %s: %s is not a usable text', p_attempt, v_wrong),
      'Send a text that is not empty; the name of a provider or a model has at most 200 characters.');
  end if;
  if jsonb_typeof(p_changes -> 'temperature') not in ('number', 'null')
    or (p_changes -> 'reasoning_effort' in ('null', '"none"', '"minimal"', '"low"', '"medium"', '"high"', '"xhigh"', '"max"')) is false
  then
    perform private.raise_error('AGENT_CHANGES_INVALID',
      format('Cannot %s: the temperature or the reasoning effort is not one that an agent has', p_attempt),
      'A temperature is a number; a reasoning_effort is none, minimal, low, medium, high, xhigh or max. Null is the provider''s default.');
  end if;
  if not private.is_within_limits(p_changes) then
    perform private.raise_error('AGENT_CHANGES_INVALID', format('Cannot %s: the changes are larger than 1 MiB', p_attempt),
      'Send less.');
  end if;
  if p_changes ? 'tools' then
    perform private.assert_changed_tools(p_changes -> 'tools', p_attempt);
  end if;
  if not p_changes ?| '{provider,model}' then
    return p_changes;
  end if;
  v_provider := private.provider_of_model(
    p_agent => p_agent, p_provider => p_changes ->> 'provider', p_model => p_changes ->> 'model', p_attempt => p_attempt);
  return p_changes || jsonb_build_object(
    'provider', v_provider.name,
    'model', coalesce(p_changes ->> 'model', v_provider.default_model),
    -- The agent's fallbacks would answer in place of the model that is tried.
    'fallbacks', '[]'::jsonb
  );
end;
$$;
comment on function private.resolved_agent_changes(public.agents, jsonb, text) is
  'Checks the changes {provider, model, prompt, temperature, reasoning_effort, tools} of an agent for one job and completes them: a model gets its provider, a provider its default model, and both have no fallbacks. Null for no changes. p_attempt completes the sentence "Cannot …". Raises AGENT_CHANGES_INVALID, PROVIDER_NOT_FOUND, TOOL_NOT_FOUND.';

create function private.assert_may_change_agent(p_caller jsonb, p_request jsonb)
returns void
language plpgsql
stable
set search_path = ''
as $$
declare
  v_user_id constant uuid := (p_caller ->> 'user_id')::uuid;
begin
  if p_caller ->> 'actor' = 'service'
    or private.grants_own_scope(v_user_id, p_caller ->> 'client_id', 'swarm:configure')
    or private.is_change_of_eval_run(v_user_id, p_request)
  then
    return;
  end if;
  -- Others choose neither the models that the project pays for nor an agent's prompt.
  perform private.raise_error('INSUFFICIENT_SCOPE',
    'Cannot change the agent for a job: the caller lacks the scope swarm:configure',
    'Omit agent_changes, or ask an operator of the project to grant it: select public.grant_scopes(<user>, ''{swarm:configure}'').');
end;
$$;
comment on function private.assert_may_change_agent(jsonb, jsonb) is
  'Allows a request with agent_changes to the service, to callers {actor, user_id, client_id} with a grant of their own that has the scope swarm:configure, who may also change the agent for everybody, and to the user of an eval run with these changes. Raises INSUFFICIENT_SCOPE.';

create function private.assert_may_reuse_changes(p_task public.tasks, p_attempt text)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  -- An owner who may not change agents got the changes for that job alone.
  if p_task.agent_changes is not null then
    perform private.assert_has_own_scope(p_attempt || ', which runs with a changed agent', 'swarm:configure');
  end if;
end;
$$;
comment on function private.assert_may_reuse_changes(public.tasks, text) is
  'Lets only those who may configure agents give more work to a task whose agent is changed. Raises INSUFFICIENT_SCOPE.';

create function private.model_of_task(p_task public.tasks)
returns table (provider_id uuid, model text)
language plpgsql
stable
set search_path = ''
as $$
declare
  v_provider text := p_task.agent_changes ->> 'provider';
begin
  if v_provider is not null then
    return query select used.id, p_task.agent_changes ->> 'model' from public.llm_providers as used where used.name = v_provider;
  else
    return query
      select used.id, coalesce(agent.model, used.default_model)
      from public.agents as agent
      join public.llm_providers as used on used.id = agent.provider_id
      where agent.id = p_task.agent_id;
  end if;
end;
$$;
comment on function private.model_of_task(public.tasks) is
  'The model that a task calls and its provider; no row when its agent has none.';
