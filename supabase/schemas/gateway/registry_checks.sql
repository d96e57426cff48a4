-- Checks of the registry: whoever writes a row of providers, agents, tools or skills learns at once what is
-- wrong with it. Each kind has one function that finds the problem, which configuration_problems() calls too.

create function private.names_of_providers()
returns text[]
language sql
stable
set search_path = ''
as $$
  select coalesce(array_agg(name order by name), '{}') from public.llm_providers where is_active;
$$;
comment on function private.names_of_providers() is 'The names of the active providers.';

create function private.provider_problem(p_provider public.llm_providers)
returns private.row_problem
language plpgsql
immutable
set search_path = ''
as $$
declare
  v_problem private.row_problem;
begin
  v_problem := private.choice_problem('api', p_provider.api, array['openai', 'anthropic', 'google']);
  if v_problem.field is null and p_provider.base_url is not null then
    v_problem := private.url_problem('base_url', p_provider.base_url);
  end if;
  if v_problem.field is null and btrim(coalesce(p_provider.default_model, '')) = '' then
    v_problem := row('default_model', private.shown_value(p_provider.default_model),
      'Write the name of a model as the provider calls it.')::private.row_problem;
  end if;
  return v_problem;
end;
$$;
comment on function private.provider_problem(public.llm_providers) is 'What is wrong with a provider.';

create function private.missing_provider(p_agent public.agents)
returns private.row_problem
language plpgsql
stable
set search_path = ''
as $$
begin
  if p_agent.provider_id is not null or p_agent.runner is not null or not p_agent.is_active then
    return null;
  end if;
  return row('provider_id', 'is missing, so every task of the agent fails with PROVIDER_NOT_FOUND',
    format('Use the id of one of the providers %s.', array_to_string(private.names_of_providers(), ', ')))::private.row_problem;
end;
$$;
comment on function private.missing_provider(public.agents) is
  'The problem of an active agent without a provider that is no workflow. Such a row is stored with a warning, because the provider may follow.';

create function private.agent_problem(p_agent public.agents)
returns private.row_problem
language plpgsql
stable
set search_path = ''
as $$
declare
  v_tool text;
  v_problem private.row_problem;
begin
  v_problem := private.slug_problem('slug', p_agent.slug, array['ag-ui', 'messages', 'stream']);
  if v_problem.field is null and p_agent.reasoning_effort is not null then
    v_problem := private.choice_problem('reasoning_effort', p_agent.reasoning_effort,
      array['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']);
  end if;
  foreach v_tool in array p_agent.provider_tools loop
    exit when v_problem.field is not null;
    v_problem := private.choice_problem('provider_tools', v_tool, array['web_search', 'code_execution']);
  end loop;
  if v_problem.field is null then
    v_problem := private.choice_problem('audience', p_agent.audience, array['everyone', 'named']);
  end if;
  if v_problem.field is null then
    v_problem := private.schema_document_problem('input_schema', p_agent.input_schema);
  end if;
  if v_problem.field is null then
    v_problem := private.schema_document_problem('output_schema', p_agent.output_schema);
  end if;
  if v_problem.field is null and p_agent.temperature not between 0 and 2 then
    v_problem := row('temperature', 'is ' || p_agent.temperature, 'Write a number from 0 to 2, or null.')::private.row_problem;
  end if;
  return v_problem;
end;
$$;
comment on function private.agent_problem(public.agents) is 'What is wrong with an agent.';

create function private.budget_problem(p_budget jsonb)
returns private.row_problem
language plpgsql
immutable
set search_path = ''
as $$
declare
  c_caps constant text[] := array[
    'max_input_tokens', 'max_output_tokens', 'max_cost_micro_usd',
    'max_steps', 'max_depth', 'max_tasks', 'max_wall_seconds'
  ];
  v_key text;
  v_value jsonb;
  v_problem private.row_problem;
begin
  for v_key, v_value in select key, value from jsonb_each(coalesce(p_budget, '{}')) loop
    v_problem := private.choice_problem('budget', v_key, c_caps);
    if v_problem.field is null and v_value::text !~ '^[0-9]{1,15}$' then
      v_problem := row('budget.' || v_key, 'is ' || left(v_value::text, 200), 'Write a whole number of zero or more.')::private.row_problem;
    end if;
    exit when v_problem.field is not null;
  end loop;
  return v_problem;
end;
$$;
comment on function private.budget_problem(jsonb) is 'What is wrong with the budget of an agent.';

create function private.placeholder_problem(p_config jsonb)
returns private.row_problem
language plpgsql
immutable
set search_path = ''
as $$
declare
  c_placeholder constant text := '\{([A-Za-z_][A-Za-z0-9_.-]*)\}';
  v_known constant jsonb := private.declared_names(p_config -> 'parameters');
  v_field text;
  v_name text;
begin
  if v_known is null or p_config -> 'parameters' ?| array['$ref', 'allOf', 'anyOf', 'oneOf', 'patternProperties'] then
    return null;
  end if;
  foreach v_field in array array['url', 'query', 'headers', 'body'] loop
    for v_name in
      select placeholder.names[1]
      from regexp_matches(coalesce(p_config ->> v_field, ''), c_placeholder, 'g') as placeholder (names)
    loop
      if not v_known ? v_name then
        return row('config.' || v_field, format('has the placeholder {%s}, which is not a parameter', v_name),
          private.did_you_mean(v_name, array(select jsonb_array_elements_text(v_known)))
            || 'Declare it under config.parameters.properties, or use one of '
            || array_to_string(array(select jsonb_array_elements_text(v_known)), ', ') || '.')::private.row_problem;
      end if;
    end loop;
  end loop;
  return null;
end;
$$;
comment on function private.placeholder_problem(jsonb) is
  'The problem of an HTTP tool with a placeholder that no argument can fill.';

create function private.tool_kind(p_type text, p_config jsonb)
returns text
language sql
immutable
set search_path = ''
as $$
  select case
    when tool_kind.p_type <> 'supabase_rpc' then tool_kind.p_type
    when tool_kind.p_config ? 'edge_function' then 'edge_function'
    else 'database_function'
  end;
$$;
comment on function private.tool_kind(text, jsonb) is 'The kind of a tool in config_schemas.';

create function private.tool_urls(p_config jsonb)
returns table (field text, url text)
language sql
immutable
set search_path = ''
as $$
  select 'config.' || part.name, tool_urls.p_config ->> part.name
  from (values ('mcp_url'), ('url'), ('docs_url')) as part (name)
  where tool_urls.p_config ? part.name
  union all
  select 'config.oauth.issuer', tool_urls.p_config #>> '{oauth,issuer}'
  where tool_urls.p_config #> '{oauth}' ? 'issuer';
$$;
comment on function private.tool_urls(jsonb) is 'The addresses in the config of a tool, with their fields.';

create function private.tool_config_problem(p_type text, p_config jsonb)
returns private.row_problem
language plpgsql
stable
set search_path = ''
as $$
declare
  v_kind constant text := private.tool_kind(p_type, p_config);
  -- The gateway accepts a method in any case.
  v_config constant jsonb := case when v_kind = 'http_api' and jsonb_typeof(p_config -> 'method') = 'string'
    then jsonb_set(p_config, '{method}', to_jsonb(upper(p_config ->> 'method'))) else p_config end;
  v_schema constant jsonb := (select schema from private.config_schemas where kind = v_kind);
  v_message constant text := private.schema_problem(v_schema, v_config, 'config');
  v_field text;
  v_url text;
  v_problem private.row_problem;
begin
  if v_message is not null then
    return row(split_part(v_message, ' ', 1), substr(v_message, strpos(v_message, ' ') + 1),
      format('The config of a tool of type %s has %s.', p_type, case when p_type = 'supabase_rpc' and p_config = '{}'
        then 'function, or edge_function'
        else array_to_string(array(select jsonb_array_elements_text(private.declared_names(v_schema))), ', ') end))::private.row_problem;
  end if;
  for v_field, v_url in select * from private.tool_urls(v_config) loop
    v_problem := private.url_problem(v_field, v_url);
    if v_problem.field is not null then
      return v_problem;
    end if;
  end loop;
  if v_kind = 'http_api' and not v_config ? 'allowed_hosts' and v_config ->> 'url' ~ '^https?://[^/?#\\]*\{' then
    return row('config.url', 'has a placeholder in its host', 'List the host names that it may stand for in config.allowed_hosts.')::private.row_problem;
  end if;
  if v_kind = 'mcp_server' and v_config #> '{oauth}' ? 'client_secret' and not v_config #> '{oauth}' ? 'client_id' then
    return row('config.oauth', 'has a client_secret but no client_id', 'Add the client_id that belongs to the secret.')::private.row_problem;
  end if;
  if v_kind = 'edge_function' and v_config ->> 'edge_function' !~ '^[A-Za-z][A-Za-z0-9_-]*$' then
    return row('config.edge_function', private.shown_value(v_config ->> 'edge_function'),
      'Write the name of an edge function: its folder in supabase/functions.')::private.row_problem;
  end if;
  v_problem := private.schema_document_problem('config.parameters', v_config -> 'parameters');
  if v_problem.field is null and v_kind = 'http_api' then
    v_problem := private.placeholder_problem(v_config);
  end if;
  return v_problem;
end;
$$;
comment on function private.tool_config_problem(text, jsonb) is
  'What is wrong with the config of a tool of this type: fields and values by config_schemas, then addresses, JSON Schemas and placeholders.';

create function private.function_problem(p_config jsonb)
returns private.row_problem
language plpgsql
stable
set search_path = ''
as $$
begin
  perform private.find_tool_function(p_config ->> 'function');
  return null;
exception when sqlstate 'PT422' then
  return row('config.function', format('is "%s", which cannot be a tool: %s', p_config ->> 'function', regexp_replace(sqlerrm, '^.*as a tool: ', '')),
    private.did_you_mean(p_config ->> 'function', array(
      select format('%s.%s', namespace.nspname, function.proname)
      from pg_catalog.pg_proc as function
      join pg_catalog.pg_namespace as namespace on namespace.oid = function.pronamespace
      where namespace.nspname !~ '^(pg_|information_schema)' and function.pronamespace <> 'private'::regnamespace and function.prokind = 'f'
    )) || 'Name one function as schema.name, with named arguments and no overloads.')::private.row_problem;
end;
$$;
comment on function private.function_problem(jsonb) is
  'The problem of a tool whose database function does not exist or cannot be a tool.';

create function private.tool_problem(p_tool public.tools)
returns private.row_problem
language plpgsql
stable
set search_path = ''
as $$
declare
  v_problem private.row_problem;
begin
  v_problem := private.slug_problem('slug', p_tool.slug, array['oauth-protected-resource']);
  if v_problem.field is null then
    v_problem := private.choice_problem('type', p_tool.type, array['internal', 'mcp_server', 'http_api', 'supabase_rpc']);
  end if;
  if v_problem.field is null and p_tool.credential_type is not null then
    v_problem := private.choice_problem('credential_type', p_tool.credential_type,
      array['api_key', 'bearer_token', 'oauth_refresh_token', 'none']);
  end if;
  if v_problem.field is null then
    v_problem := private.choice_problem('credential_audience', p_tool.credential_audience, array['everyone', 'agents', 'named']);
  end if;
  if v_problem.field is null then
    v_problem := private.choice_problem('audience', p_tool.audience, array['everyone', 'granted']);
  end if;
  if v_problem.field is null then
    v_problem := private.tool_config_problem(p_tool.type, p_tool.config);
  end if;
  return v_problem;
end;
$$;
comment on function private.tool_problem(public.tools) is
  'What is wrong with a tool. A database function is looked up by function_problem(), because a migration may replace it later.';

create function private.skill_problem(p_skill public.skills)
returns private.row_problem
language plpgsql
immutable
set search_path = ''
as $$
begin
  if p_skill.skill_id !~ '^[a-z0-9][a-z0-9-]{0,63}$' then
    return row('skill_id', private.shown_value(p_skill.skill_id),
      'Write 1 to 64 lowercase letters, digits and -, beginning with a letter or digit.')::private.row_problem;
  end if;
  if btrim(p_skill.name) = '' then
    return row('name', 'is empty', 'Write the name of the skill.')::private.row_problem;
  end if;
  if btrim(p_skill.description) = '' then
    return row('description', 'is empty', 'Write when to use the skill: the model chooses by it.')::private.row_problem;
  end if;
  if jsonb_typeof(p_skill.resources) = 'object'
    and exists (select from jsonb_each(p_skill.resources) where jsonb_typeof(value) <> 'string')
  then
    return row('resources', 'has a value that is not a text', 'Write the text of each resource by its relative path.')::private.row_problem;
  end if;
  return null;
end;
$$;
comment on function private.skill_problem(public.skills) is 'What is wrong with a skill.';

-- Triggers ----------------------------------------------------------------------------------------

create function private.check_provider()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  perform private.assert_no_problem(private.provider_problem(new), 'PROVIDER_INVALID', format('save the provider "%s"', new.name));
  return new;
end;
$$;
comment on function private.check_provider() is
  'Row trigger of llm_providers. Raises PROVIDER_INVALID. Definer: the writers may not execute the functions that it calls.';
create trigger llm_providers_check before insert or update on public.llm_providers
  for each row execute function private.check_provider();

create function private.check_agent()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_attempt constant text := format('save the agent "%s"', coalesce(new.slug, new.name));
  v_missing constant private.row_problem := private.missing_provider(new);
begin
  perform private.assert_no_problem(private.agent_problem(new), 'AGENT_INVALID', v_attempt);
  perform private.assert_no_problem(private.budget_problem(new.budget), 'AGENT_INVALID', v_attempt);
  if v_missing.field is not null then
    raise warning using
      message = format('The agent "%s" is incomplete: %s %s', new.slug, v_missing.field, v_missing.problem),
      hint = v_missing.hint;
  end if;
  return new;
end;
$$;
comment on function private.check_agent() is
  'Row trigger of agents. Raises AGENT_INVALID, and warns of a missing provider. Definer: the writers may not execute the functions that it calls.';
create trigger agents_check before insert or update on public.agents
  for each row execute function private.check_agent();

create function private.check_tool()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_attempt constant text := format('save the tool "%s"', coalesce(new.slug, new.name));
begin
  perform private.assert_no_problem(private.tool_problem(new), 'TOOL_CONFIG_INVALID', v_attempt);
  if private.tool_kind(new.type, new.config) = 'database_function' then
    perform private.assert_no_problem(private.function_problem(new.config), 'TOOL_CONFIG_INVALID', v_attempt);
  end if;
  return new;
end;
$$;
comment on function private.check_tool() is
  'Row trigger of tools. Raises TOOL_CONFIG_INVALID. Definer: the writers may not execute the functions that it calls.';
-- Not on every update: a row whose function was dropped can still be deactivated.
create trigger tools_check before insert or update of slug, type, config, credential_type, credential_audience, audience on public.tools
  for each row execute function private.check_tool();

create function private.check_skill()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  perform private.assert_no_problem(private.skill_problem(new), 'SKILL_INVALID', format('save the skill "%s"', new.skill_id));
  return new;
end;
$$;
comment on function private.check_skill() is
  'Row trigger of skills. Raises SKILL_INVALID. Definer: the writers may not execute the functions that it calls.';
create trigger skills_check before insert or update on public.skills
  for each row execute function private.check_skill();
