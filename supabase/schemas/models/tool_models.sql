-- The models that tools call, and the checks before such a call.

create table public.mcp_tool_models (
  mcp_name text not null,
  tool_name text not null,
  default_provider text not null,
  default_model text,
  supported_providers text[] not null,
  timeout_ms int check (timeout_ms between 1 and 600000),
  accepts_compatible boolean default false,
  primary key (mcp_name, tool_name),
  constraint mcp_tool_models_default_is_supported check (default_provider = any (supported_providers))
);
revoke all on public.mcp_tool_models from anon, authenticated, service_role;
comment on table public.mcp_tool_models is
  'The models that tools call: the default, and the providers that a caller may name instead. Written by the service role.';
comment on column public.mcp_tool_models.mcp_name is 'Slug of the server (tools.slug).';
comment on column public.mcp_tool_models.tool_name is 'The tool''s name at its server.';
comment on column public.mcp_tool_models.default_provider is
  'llm_providers.name. Called first unless the arguments name another provider.';
comment on column public.mcp_tool_models.default_model is
  'A model of default_provider; null: that provider''s default_model.';
comment on column public.mcp_tool_models.supported_providers is
  'llm_providers.name, in the order in which they are called when one fails. Names without an active row are skipped.';
comment on column public.mcp_tool_models.accepts_compatible is
  'True: a caller may also name any other active provider that speaks OpenAI''s wire format at an address of its own. Null is false.';
comment on column public.mcp_tool_models.timeout_ms is
  'For a whole call of the tool, including several model calls, unless mcp_policies sets a timeout. Null: the gateway''s default.';

alter table public.mcp_tool_models enable row level security;
create policy "signed-in users read the models of tools" on public.mcp_tool_models
  for select to authenticated using (true);
comment on policy "signed-in users read the models of tools" on public.mcp_tool_models is
  'Users choose a model before a call.';
grant select on public.mcp_tool_models to authenticated;
grant select, insert, update, delete on public.mcp_tool_models to service_role;

insert into public.mcp_tool_models
  (mcp_name, tool_name, default_provider, default_model, supported_providers, timeout_ms, accepts_compatible)
values
  -- local-model is active where a model server of this machine was found.
  ('supabase', 'generate_schema', 'anthropic', 'claude-haiku-5-5', '{anthropic,openai,local-model}', 120000, true),
  ('supabase', 'generate_sql', 'anthropic', 'claude-sonnet-5-5', '{anthropic,openai,google,local-model}', 145000, true),
  ('supabase', 'format_results', 'openai', 'gpt-5.4-mini', '{openai,anthropic,local-model}', 90000, true);

create function private.is_compatible_provider(p_name text)
returns boolean
language sql
stable
set search_path = ''
as $$
  select exists (
    select from public.llm_providers as provider
    where provider.name = is_compatible_provider.p_name
      and provider.is_active and provider.api = 'openai' and provider.base_url is not null
  );
$$;
comment on function private.is_compatible_provider(text) is
  'True for an active provider that speaks OpenAI''s wire format at an address of its own: Ollama, vLLM, OpenRouter and others.';

create function private.named_provider(p_name text, p_tool_name text, p_supported text[])
returns public.llm_providers
language plpgsql
stable
set search_path = ''
as $$
declare
  v_provider public.llm_providers;
begin
  if p_name <> all (p_supported) then
    perform private.raise_error('TOOL_ARGUMENTS_INVALID',
      format('Cannot call %L with a model of %L: the tool does not support that provider', p_tool_name, p_name),
      private.did_you_mean(p_name, p_supported) || format(
        'Name one of: %s. An operator adds others in mcp_tool_models.supported_providers, or all compatible ones with accepts_compatible.',
        array_to_string(p_supported, ', ')));
  end if;
  select * into v_provider from public.llm_providers where name = p_name and is_active;
  if not found then
    perform private.raise_error('PROVIDER_NOT_FOUND',
      format('Cannot call the model: there is no active provider %L', p_name),
      'Name an active row of llm_providers.');
  end if;
  return v_provider;
end;
$$;
comment on function private.named_provider(text, text, text[]) is
  'The active provider that a tool''s caller names. Raises TOOL_ARGUMENTS_INVALID for a provider that is not supported (null list: all are), PROVIDER_NOT_FOUND.';

create function private.knows_model(p_provider public.llm_providers, p_model text)
returns boolean
language sql
stable
set search_path = ''
as $$
  select p_provider.default_model = p_model
    or exists (select from public.model_prices where provider_id = p_provider.id and model = p_model);
$$;
comment on function private.knows_model(public.llm_providers, text) is
  'True when the model is the provider''s default or has a price.';

create function private.tool_model_candidates(p_models public.mcp_tool_models, p_named text, p_model text)
returns table (provider public.llm_providers, model text)
language sql
stable
set search_path = ''
as $$
  with supported as (
    select entry as provider, names.place,
      case when entry.name = p_models.default_provider then p_models.default_model end as default_model,
      entry.name = p_models.default_provider as is_default
    from unnest(p_models.supported_providers) with ordinality as names (name, place)
    join public.llm_providers as entry on entry.name = names.name and entry.is_active
  ), ranked as (
    select supported.*, row_number() over (
      order by (supported.provider).name = p_named desc nulls last,
        -- When only a model is named, prefer the provider that has it.
        p_named is null and p_model is not null and private.knows_model(supported.provider, p_model) desc,
        supported.is_default desc, supported.place
    ) as turn
    from supported
  )
  select ranked.provider, case when ranked.turn = 1 then coalesce(p_model, ranked.default_model) else ranked.default_model end
  from ranked
  order by ranked.turn;
$$;
comment on function private.tool_model_candidates(public.mcp_tool_models, text, text) is
  'The active providers that a tool supports, in the order in which they are called: the named one, one that has the named model, the default, the others. The named model applies only to the first; null is the provider''s default.';

create function private.begin_model_call(p_call jsonb)
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
declare
  v_named text := p_call ->> 'provider';
  v_model text := p_call ->> 'model';
  v_models public.mcp_tool_models;
  v_task public.tasks;
  v_agent public.agents;
  v_has_cost_cap boolean := false;
  v_candidates jsonb;
begin
  select * into v_models
  from public.mcp_tool_models
  where mcp_name = p_call ->> 'mcp_name' and tool_name = p_call ->> 'tool_name';
  select * into v_agent from public.agents where id = (p_call ->> 'agent_id')::uuid;
  if p_call ->> 'task_id' is not null then
    select * into v_task from public.tasks where id = (p_call ->> 'task_id')::uuid;
  end if;
  if v_models.mcp_name is null then
    if v_task.agent_id = v_agent.id then
      select called.provider_id, called.model into v_agent.provider_id, v_agent.model from private.model_of_task(v_task) as called;
    end if;
    v_named := coalesce(v_named, (select name from public.llm_providers where id = v_agent.provider_id and is_active));
    v_model := coalesce(v_model, case when p_call ->> 'provider' is null then v_agent.model end);
    if v_named is null then
      perform private.raise_error('PROVIDER_NOT_FOUND',
        format('Cannot call a model for %L: no model is set for the tool', p_call ->> 'tool_name'),
        'Name a provider with llm_provider, or insert the tool''s row into mcp_tool_models.');
    end if;
    v_models := row(p_call ->> 'mcp_name', p_call ->> 'tool_name', v_named, null, array[v_named], null, false);
  elsif v_models.accepts_compatible and v_named <> all (v_models.supported_providers)
    and private.is_compatible_provider(v_named)
  then
    v_models.supported_providers := v_named || v_models.supported_providers;
  end if;
  if v_named is not null then
    perform private.named_provider(v_named, p_call ->> 'tool_name', v_models.supported_providers);
  end if;

  if v_task.id is not null then
    v_has_cost_cap := private.cap(private.assert_budget_left(v_task), 'max_cost_micro_usd', null) is not null;
  end if;
  select jsonb_agg(jsonb_build_object(
    'provider', jsonb_build_object(
      'id', (candidate.provider).id, 'name', (candidate.provider).name, 'api', (candidate.provider).api,
      'base_url', (candidate.provider).base_url, 'default_model', (candidate.provider).default_model),
    'model', coalesce(candidate.model, (candidate.provider).default_model),
    'is_priced', (private.price_at(
      (candidate.provider).id, coalesce(candidate.model, (candidate.provider).default_model))).model is not null
  ) order by candidate.ordinality)
  into v_candidates
  from private.tool_model_candidates(v_models, v_named, v_model) with ordinality as candidate;
  if v_candidates is null then
    perform private.raise_error('PROVIDER_NOT_FOUND',
      format('Cannot call a model for %L: none of its providers is active', p_call ->> 'tool_name'),
      format('Activate one of %s in llm_providers, or change the tool''s row in mcp_tool_models.',
        array_to_string(v_models.supported_providers, ', ')));
  end if;
  if v_has_cost_cap then
    perform private.assert_price_known((v_candidates #>> '{0,is_priced}')::boolean);
    v_candidates := jsonb_path_query_array(v_candidates, '$[*] ? (@.is_priced == true)');
  end if;
  return jsonb_build_object('candidates', v_candidates, 'agent_slug', v_agent.slug);
end;
$$;
comment on function private.begin_model_call(jsonb) is
  'What a model call inside a tool {mcp_name, tool_name, provider, model, task_id, agent_id} needs: {candidates: [{provider, model, is_priced}], agent_slug}, with the candidates in the order in which they are called. The provider is the named one, else that of mcp_tool_models, else the calling agent''s. Raises TOOL_ARGUMENTS_INVALID, PROVIDER_NOT_FOUND, and BUDGET_EXCEEDED or PRICE_UNKNOWN for what the budget of the task''s job does not allow (fallbacks without a price are skipped). Called by the gateway.';

create function private.tool_model_options(p_mcp_name text, p_tool_name text)
returns jsonb
language sql
stable
set search_path = ''
as $$
  select jsonb_build_object(
    'providers', coalesce(jsonb_agg(provider.name order by names.place), '[]'),
    'default_provider', models.default_provider,
    'default_model', coalesce(models.default_model,
      (select main.default_model from public.llm_providers as main where main.name = models.default_provider)),
    'models_by_provider', coalesce(jsonb_object_agg(provider.name, (
      select jsonb_agg(known.model order by known.place, known.model)
      from (
        select model, min(place) as place
        from (
          select models.default_model as model, 1 as place where provider.name = models.default_provider
          union all select provider.default_model, 2
          union all select price.model, 3 from public.model_prices as price where price.provider_id = provider.id
        ) as every
        where every.model is not null
        group by every.model
      ) as known
    )) filter (where provider.name is not null), '{}')
  )
  from public.mcp_tool_models as models
  cross join lateral unnest(models.supported_providers) with ordinality as names (name, place)
  join public.llm_providers as provider on provider.name = names.name and provider.is_active
  where models.mcp_name = p_mcp_name and models.tool_name = p_tool_name
  group by models.mcp_name, models.tool_name;
$$;
comment on function private.tool_model_options(text, text) is
  'What a caller of a tool can choose: {providers, default_provider, default_model, models_by_provider} of active providers, with their default models and the models that have a price. Null without a row or an active provider. Called by the gateway for lists of tools.';
