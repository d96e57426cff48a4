-- Settings as documents: how they are checked and written to the tables. See setting_schemas.sql.

create function private.setting_problem(p_kind text, p_slug text, p_definition jsonb)
returns private.row_problem
language plpgsql
stable
set search_path = ''
as $$
declare
  v_schema constant jsonb := private.setting_schema(p_kind)::jsonb;
  v_message constant text := private.schema_problem(v_schema, p_definition, p_kind);
  v_price jsonb;
  v_repo text := p_definition ->> 'github_repo';
begin
  if v_message is not null then
    return row(split_part(v_message, ' ', 1), substr(v_message, strpos(v_message, ' ') + 1),
      format('The fields are %s.', array_to_string(array(select jsonb_object_keys(v_schema -> 'properties')), ', ')))::private.row_problem;
  end if;
  case p_kind
    when 'server', 'documents' then
      if p_kind = 'documents' and v_repo !~ '^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$' then
        return row('documents.github_repo', private.shown_value(v_repo), 'Write owner/name.')::private.row_problem;
      end if;
      return private.slug_problem('name', p_slug);
    when 'provider' then
      return private.slug_problem('name', p_slug);
    when 'model' then
      for v_price in select * from jsonb_array_elements(p_definition -> 'prices') loop
        if private.utc_time(v_price ->> 'valid_from') is null then
          return row('model.prices.valid_from', private.shown_value(v_price ->> 'valid_from'),
            'Write a day, such as 2026-12-01, or a time in UTC, such as 2026-12-01T09:00:00Z.')::private.row_problem;
        end if;
      end loop;
    when 'retention' then
      if p_slug <> 'project' then
        return row('name', private.shown_value(p_slug), 'The retention of a project has the name project.')::private.row_problem;
      end if;
    else null;
  end case;
  return null;
end;
$$;
comment on function private.setting_problem(text, text, jsonb) is 'What is wrong with the document of a setting: its fields by its schema, then its name.';

create function private.write_server(p_slug text, p_definition jsonb)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_other constant text := (
    select case when tool.type <> 'mcp_server' then 'the tool of this name is not an MCP server' else 'it comes from external-mcps.yaml' end
    from public.tools as tool
    where tool.slug = p_slug and (tool.type <> 'mcp_server' or tool.source = 'yaml')
  );
begin
  if v_other is not null then
    perform private.raise_error('DEFINITION_INVALID', format('Cannot save the server "%s": %s', p_slug, v_other),
      'Change the file and synchronize it (mcps:sync), or use another name.');
  end if;
  if p_definition is null then
    delete from public.tools where slug = p_slug;
    return;
  end if;
  insert into public.tools as tool (
    slug, name, type, description, config, credential_secret_name, credential_type, credential_description,
    credential_audience, data_flows, audience, is_active
  )
  values (
    p_slug, coalesce(p_definition ->> 'display_name', p_slug), 'mcp_server', p_definition ->> 'description', p_definition -> 'config',
    p_definition #>> '{credential,secret}', p_definition #>> '{credential,type}', p_definition #>> '{credential,description}',
    coalesce(p_definition #>> '{credential,audience}', 'everyone'), p_definition -> 'data_flows',
    coalesce(p_definition ->> 'audience', 'granted'), coalesce((p_definition ->> 'is_active')::boolean, true)
  )
  on conflict (slug) do update set
    name = excluded.name, description = excluded.description, config = excluded.config,
    credential_secret_name = excluded.credential_secret_name, credential_type = excluded.credential_type,
    credential_description = excluded.credential_description, credential_audience = excluded.credential_audience,
    data_flows = excluded.data_flows, audience = excluded.audience, is_active = excluded.is_active;
end;
$$;
comment on function private.write_server(text, jsonb) is
  'Writes or (null) removes an external MCP server. Raises DEFINITION_INVALID for one of external-mcps.yaml, TOOL_CONFIG_INVALID.';

create function private.sync_file_servers(p_servers jsonb)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_slug text;
  v_definition jsonb;
begin
  -- This also deletes the users' credentials for it, including those in Vault.
  delete from public.tools where source = 'yaml' and not p_servers ? slug;
  -- Two entries may swap their names, which are always unique.
  update public.tools as tool
  set name = tool.id::text
  where tool.source = 'yaml' and p_servers -> tool.slug ->> 'display_name' <> tool.name;
  for v_slug, v_definition in select key, nullif(value, 'null') from jsonb_each(p_servers) loop
    if v_definition is null then
      update public.tools set is_active = false where slug = v_slug and source = 'yaml';
      continue;
    end if;
    insert into public.tools as tool (
      slug, name, type, description, config, credential_secret_name, credential_type, credential_description, audience, source
    )
    values (
      v_slug, coalesce(v_definition ->> 'display_name', v_slug), 'mcp_server', v_definition ->> 'description', v_definition -> 'config',
      v_definition #>> '{credential,secret}', v_definition #>> '{credential,type}', v_definition #>> '{credential,description}',
      coalesce(v_definition ->> 'audience', 'granted'), 'yaml'
    )
    on conflict (slug) do update set
      name = excluded.name, description = excluded.description, config = excluded.config,
      credential_secret_name = excluded.credential_secret_name, credential_type = excluded.credential_type,
      credential_description = excluded.credential_description, audience = excluded.audience, is_active = excluded.is_active
    where tool.source = 'yaml' and (
      to_jsonb(tool) - '{id,created_at,credential_audience,data_flows}'::text[]
      is distinct from to_jsonb(excluded) - '{id,created_at,credential_audience,data_flows}'::text[]
    );
  end loop;
end;
$$;
comment on function private.sync_file_servers(jsonb) is
  'Makes the servers of external-mcps.yaml {slug: document as for write_server(), or null for a disabled one} the only ones that come from it. Servers from elsewhere, audiences of credentials and data flows stay. Called by mcps:sync and operator_sync_servers().';

create function private.write_provider(p_name text, p_definition jsonb)
returns void
language plpgsql
set search_path = ''
as $$
begin
  if p_definition is null then
    delete from public.llm_providers where name = p_name;
    return;
  end if;
  insert into public.llm_providers as provider (
    name, display_name, api, base_url, default_model, requires_api_key, api_key_secret_name, is_free, is_active
  )
  values (
    p_name, p_definition ->> 'display_name', p_definition ->> 'api', p_definition ->> 'base_url', p_definition ->> 'default_model',
    coalesce((p_definition ->> 'requires_api_key')::boolean, true), p_definition ->> 'api_key_secret_name',
    coalesce((p_definition ->> 'is_free')::boolean, false), coalesce((p_definition ->> 'is_active')::boolean, true)
  )
  on conflict (name) do update set
    display_name = excluded.display_name, api = excluded.api, base_url = excluded.base_url,
    default_model = excluded.default_model, requires_api_key = excluded.requires_api_key,
    api_key_secret_name = excluded.api_key_secret_name, is_free = excluded.is_free, is_active = excluded.is_active;
end;
$$;
comment on function private.write_provider(text, jsonb) is
  'Writes or (null) removes a model provider, with its prices, policies and the users'' own keys. Raises PROVIDER_INVALID.';

create function private.write_model(p_slug text, p_definition jsonb)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_model constant text := nullif(substr(p_slug, strpos(p_slug || '/', '/') + 1), '');
  v_provider_id constant uuid := private.id_of('provider', split_part(p_slug, '/', 1), format('save the model "%s"', p_slug));
begin
  if v_model is null then
    perform private.raise_error('DEFINITION_INVALID', format('Cannot save the model "%s": the name lacks the model', p_slug),
      'Write the provider and the model as the provider calls it, such as openai/gpt-5.4-mini.');
  end if;
  delete from public.model_prices where provider_id = v_provider_id and model = v_model;
  insert into public.model_prices (
    provider_id, model, valid_from, above_input_tokens, input_micro_usd_per_mtok, cached_input_micro_usd_per_mtok,
    cache_write_input_micro_usd_per_mtok, output_micro_usd_per_mtok, web_search_micro_usd_per_call,
    code_execution_micro_usd_per_call, retires_on
  )
  select v_provider_id, v_model, private.utc_time(price ->> 'valid_from'), coalesce((price ->> 'above_input_tokens')::bigint, 0),
    private.micro_usd_of(price -> 'input_usd_per_mtok'),
    private.micro_usd_of(coalesce(price -> 'cached_input_usd_per_mtok', price -> 'input_usd_per_mtok')),
    private.micro_usd_of(price -> 'cache_write_input_usd_per_mtok'), private.micro_usd_of(price -> 'output_usd_per_mtok'),
    private.micro_usd_of(price -> 'web_search_usd_per_call'), private.micro_usd_of(price -> 'code_execution_usd_per_call'),
    (p_definition ->> 'retires_on')::date
  from jsonb_array_elements(p_definition -> 'prices') as price;
end;
$$;
comment on function private.write_model(text, jsonb) is
  'Writes the prices of a model (provider/model), or (null) removes them. Raises PROVIDER_NOT_FOUND, DEFINITION_INVALID.';

create function private.parts_of_name(p_slug text, p_attempt text, p_example text)
returns text[]
language plpgsql
stable
set search_path = ''
as $$
declare
  v_parts constant text[] := regexp_match(p_slug, '^([^/ ]+)(?:/(\S+))?(?: for (\S+))?$');
begin
  if v_parts is null then
    perform private.raise_error('DEFINITION_INVALID', format('Cannot %s: the name has another form', p_attempt), p_example);
  end if;
  return v_parts;
end;
$$;
comment on function private.parts_of_name(text, text, text) is
  'The parts of a name such as openai/gpt-5.4-mini for ada@example.com; the last two may be null. Raises DEFINITION_INVALID, with the example as its hint.';

create function private.write_limit(p_slug text, p_definition jsonb)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_attempt constant text := format('save the limit "%s"', p_slug);
  v_parts constant text[] := private.parts_of_name(p_slug => p_slug, p_attempt => v_attempt,
    p_example => 'Write a server or tool, then if wanted one of its tools and an account: notes, notes/search, notes for ada@example.com.');
  v_user_id constant uuid := case when v_parts[3] is not null then private.account_of(v_parts[3], v_attempt) end;
begin
  perform private.id_of('tool', v_parts[1], v_attempt);
  if p_definition is null then
    delete from public.mcp_policies as known
    where known.mcp_name = v_parts[1] and known.tool_name is not distinct from v_parts[2] and known.user_id is not distinct from v_user_id;
    return;
  end if;
  insert into public.mcp_policies as known (
    mcp_name, tool_name, user_id, is_allowed, calls_per_minute, burst_calls, timeout_ms, max_input_bytes
  )
  values (
    v_parts[1], v_parts[2], v_user_id, coalesce((p_definition ->> 'is_allowed')::boolean, true),
    coalesce((p_definition ->> 'calls_per_minute')::int, 600), coalesce((p_definition ->> 'burst_calls')::int, 200),
    (p_definition ->> 'timeout_ms')::int, (p_definition ->> 'max_input_bytes')::int
  )
  on conflict (mcp_name, tool_name, user_id) do update set
    is_allowed = excluded.is_allowed, calls_per_minute = excluded.calls_per_minute, burst_calls = excluded.burst_calls,
    timeout_ms = excluded.timeout_ms, max_input_bytes = excluded.max_input_bytes;
end;
$$;
comment on function private.write_limit(text, jsonb) is
  'Writes or (null) removes a limit of tool calls. Raises TOOL_NOT_FOUND, USER_NOT_FOUND, DEFINITION_INVALID.';

create function private.write_audience(p_slug text, p_definition jsonb)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_attempt constant text := format('save the audience "%s"', p_slug);
  v_slug constant text := substr(p_slug, strpos(p_slug, '/') + 1);
begin
  if not exists (select from private.audience_documents() as known where known.slug = p_slug) then
    perform private.raise_error('DEFINITION_INVALID', format('Cannot %s: no agent or tool has an audience of this name', v_attempt),
      'Write agent/<slug> for an agent whose audience is named, or tool/<slug> for a tool whose credential is not for everyone.');
  end if;
  if starts_with(p_slug, 'agent/') then
    delete from public.agent_audience where agent_id = private.id_of('agent', v_slug, v_attempt);
    insert into public.agent_audience (agent_id, user_id)
    select distinct private.id_of('agent', v_slug, v_attempt), private.account_of(name, v_attempt)
    from jsonb_array_elements_text(p_definition -> 'accounts') as name;
  else
    delete from public.tool_credential_audience where tool_id = private.id_of('tool', v_slug, v_attempt);
    insert into public.tool_credential_audience (tool_id, user_id)
    select distinct private.id_of('tool', v_slug, v_attempt), private.account_of(name, v_attempt)
    from jsonb_array_elements_text(p_definition -> 'accounts') as name;
  end if;
end;
$$;
comment on function private.write_audience(text, jsonb) is
  'Writes the accounts that an agent or a shared credential is for; null is none. Raises DEFINITION_INVALID, USER_NOT_FOUND.';

create function private.write_policy(p_slug text, p_definition jsonb)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_attempt constant text := format('save the policy "%s"', p_slug);
  v_parts constant text[] := private.parts_of_name(p_slug => p_slug, p_attempt => v_attempt,
    p_example => 'Write a provider, then if wanted a model and an account: openai, openai/gpt-5.4-mini, openai for ada@example.com.');
  v_policy public.model_policies;
begin
  v_policy.provider_id := private.id_of('provider', v_parts[1], v_attempt);
  v_policy.model := v_parts[2];
  v_policy.user_id := case when v_parts[3] is not null then private.account_of(v_parts[3], v_attempt) end;
  if p_definition is null then
    delete from public.model_policies as known
    where known.provider_id = v_policy.provider_id and known.model is not distinct from v_policy.model
      and known.user_id is not distinct from v_policy.user_id;
    return;
  end if;
  insert into public.model_policies as known (
    user_id, provider_id, model, is_allowed, allow_own_key, allow_organisation_key, spending_cap_micro_usd, cap_period
  )
  values (
    v_policy.user_id, v_policy.provider_id, v_policy.model,
    coalesce((p_definition ->> 'is_allowed')::boolean, true), coalesce((p_definition ->> 'allow_own_key')::boolean, true),
    coalesce((p_definition ->> 'allow_organisation_key')::boolean, true),
    private.micro_usd_of(p_definition -> 'spending_cap_usd'), coalesce(p_definition ->> 'cap_period', 'month')
  )
  on conflict (user_id, provider_id, model) do update set
    is_allowed = excluded.is_allowed, allow_own_key = excluded.allow_own_key,
    allow_organisation_key = excluded.allow_organisation_key,
    spending_cap_micro_usd = excluded.spending_cap_micro_usd, cap_period = excluded.cap_period;
end;
$$;
comment on function private.write_policy(text, jsonb) is
  'Writes or (null) removes a policy of models; see policy_slug(). Raises PROVIDER_NOT_FOUND, USER_NOT_FOUND, DEFINITION_INVALID.';

create function private.write_quota(p_slug text, p_definition jsonb)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_user_id constant uuid := case when p_slug <> 'everyone'
    then private.account_of(p_slug, format('save the quotas of "%s"', p_slug)) end;
begin
  delete from private.quotas where user_id is not distinct from v_user_id;
  insert into private.quotas (name, user_id, amount)
  select key, v_user_id, value::bigint from jsonb_each_text(p_definition);
end;
$$;
comment on function private.write_quota(text, jsonb) is
  'Writes or (null) removes the quotas of everyone or of an account. Raises USER_NOT_FOUND.';

create function private.write_retention(p_definition jsonb)
returns void
language plpgsql
set search_path = ''
as $$
begin
  delete from private.settings as setting
  where private.default_retention() ? setting.key and not coalesce(p_definition, '{}') ? setting.key;
  insert into private.settings as setting (key, value)
  select key, value from jsonb_each_text(p_definition)
  on conflict (key) do update set value = excluded.value, updated_at = now()
  where setting.value <> excluded.value;
end;
$$;
comment on function private.write_retention(jsonb) is 'Writes the retention settings; those that are missing have their defaults again.';

create function private.write_documents(p_slug text, p_definition jsonb)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_attempt constant text := format('save the project "%s"', p_slug);
  v_before constant public.projects := (select known from public.projects as known where known.slug = p_slug);
  v_after public.projects;
  v_project_id uuid;
  v_embedder constant text := p_definition ->> 'embedder';
begin
  if p_definition is null then
    perform private.delete_project(p_slug);
    return;
  end if;
  if v_embedder is not null and not exists (select from public.embedders as known where known.name = v_embedder) then
    perform private.assert_no_problem(
      private.choice_problem('documents.embedder', v_embedder, array(select name from public.embedders order by name)), 'DEFINITION_INVALID', v_attempt);
  end if;
  if not exists (select from pg_catalog.pg_ts_config as known where known.cfgname = coalesce(p_definition ->> 'language', 'english')) then
    perform private.assert_no_problem(private.choice_problem('documents.language', p_definition ->> 'language',
      array(select cfgname::text from pg_catalog.pg_ts_config order by cfgname)), 'DEFINITION_INVALID', v_attempt);
  end if;
  v_project_id := (private.add_project(
    p_slug => p_slug, p_github_repo => p_definition ->> 'github_repo',
    p_branch => coalesce(p_definition ->> 'default_branch', 'main'),
    p_globs => coalesce(p_definition -> 'include_globs', '["**/*.md", "**/*.mdx"]'),
    p_language => coalesce(p_definition ->> 'language', 'english'), p_embedder => v_embedder,
    p_secret => encode(extensions.gen_random_bytes(32), 'hex')
  ) ->> 'project_id')::uuid;
  delete from public.project_members as member
  where member.project_id = v_project_id
    and member.user_id not in (
      select private.account_of(name, v_attempt) from jsonb_array_elements_text(coalesce(p_definition -> 'members', '[]')) as name
    );
  perform private.add_project_member(v_project_id, name)
  from jsonb_array_elements_text(coalesce(p_definition -> 'members', '[]')) as name;
  select * into v_after from public.projects where id = v_project_id;
  if v_before.id is null
    or (v_before.default_branch, v_before.include_globs) is distinct from (v_after.default_branch, v_after.include_globs)
    or v_before.github_repo <> v_after.github_repo
  then
    perform private.request_sync(p_slug);
  end if;
end;
$$;
comment on function private.write_documents(text, jsonb) is
  'Writes a project with documents and its members, and requests a sync if what is indexed changes; null removes the project with its documents. Raises DEFINITION_INVALID, USER_NOT_FOUND, PROJECT_NOT_FOUND.';

create function private.write_setting(p_kind text, p_slug text, p_definition jsonb)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_attempt constant text := format('%s the %s "%s"', case when p_definition is null then 'remove' else 'save' end, p_kind, p_slug);
  v_detail text;
begin
  if p_definition is not null then
    perform private.assert_definition_is_flat(v_attempt, p_definition);
    perform private.assert_no_problem(private.setting_problem(p_kind, p_slug, p_definition), 'DEFINITION_INVALID', v_attempt);
  end if;
  case p_kind
    when 'server' then perform private.write_server(p_slug, p_definition);
    when 'limit' then perform private.write_limit(p_slug, p_definition);
    when 'provider' then perform private.write_provider(p_slug, p_definition);
    when 'model' then perform private.write_model(p_slug, p_definition);
    when 'policy' then perform private.write_policy(p_slug, p_definition);
    when 'quota' then perform private.write_quota(p_slug, p_definition);
    when 'audience' then perform private.write_audience(p_slug, p_definition);
    when 'retention' then perform private.write_retention(p_definition);
    when 'documents' then perform private.write_documents(p_slug, p_definition);
  end case;
exception
  when unique_violation or foreign_key_violation then
    get stacked diagnostics v_detail = pg_exception_detail;
    perform private.raise_error('DEFINITION_INVALID', format('Cannot %s: %s', v_attempt, v_detail),
      case when p_definition is null then 'Change what uses it first, or set is_active to false.' else 'Use another value.' end);
  when check_violation or not_null_violation or data_exception then
    perform private.raise_error('DEFINITION_INVALID', format('Cannot %s: %s', v_attempt, sqlerrm), 'Correct the value.');
end;
$$;
comment on function private.write_setting(text, text, jsonb) is
  'Writes or (null) removes a setting. Raises DEFINITION_INVALID, and what the rows raise.';

create function private.affected_by_setting(p_kind text, p_slug text, p_definition jsonb)
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
declare
  v_days constant int := coalesce((p_definition ->> 'keep_jobs_days')::int, (private.default_retention() ->> 'keep_jobs_days')::int);
begin
  return private.without_nulls(jsonb_build_object(
    'used_by', case p_kind
      when 'provider' then (
        select nullif(jsonb_agg(distinct used.used_by), '[]')
        from private.models_in_use() as used
        join public.llm_providers as provider on provider.id = used.provider_id
        where provider.name = p_slug and used.used_by not like 'provider %'
      )
      when 'model' then (
        select nullif(jsonb_agg(distinct used.used_by), '[]')
        from private.models_in_use() as used
        join public.llm_providers as provider on provider.id = used.provider_id
        where provider.name || '/' || used.model = p_slug
      )
      when 'server' then (
        select nullif(jsonb_agg('agent ' || agent.slug order by agent.slug), '[]')
        from public.agent_tools as granted
        join public.agents as agent on agent.id = granted.agent_id and agent.is_active
        join public.tools as tool on tool.id = granted.tool_id
        where tool.slug = p_slug
      )
    end,
    'jobs_to_delete', case when p_kind = 'retention' then (
      select nullif(count(*), 0)
      from public.tasks as job
      where job.parent_id is null and job.finished_at < clock_timestamp() - make_interval(days => v_days) and not job.is_kept
    ) end
  ));
end;
$$;
comment on function private.affected_by_setting(text, text, jsonb) is
  'Who notices a change of a setting: {used_by: what uses a provider, model or server, jobs_to_delete: how many ended jobs are older than the new retention}.';
