-- Settings as documents: how they are read from the tables, checked and written. See setting_schemas.sql.

create function private.usd_of(p_micro_usd bigint)
returns jsonb
language sql
immutable
set search_path = ''
as $$
  select to_jsonb(trim_scale(p_micro_usd::numeric / 1000000));
$$;
comment on function private.usd_of(bigint) is 'Millionths of a US dollar as US dollars.';
revoke all on function private.usd_of(bigint) from public;

create function private.micro_usd_of(p_usd jsonb)
returns bigint
language sql
immutable
set search_path = ''
as $$
  select round((p_usd #>> '{}')::numeric * 1000000)::bigint;
$$;
comment on function private.micro_usd_of(jsonb) is 'US dollars as millionths of a US dollar.';
revoke all on function private.micro_usd_of(jsonb) from public;

create function private.utc_text(p_at timestamptz)
returns text
language sql
stable
set search_path = ''
as $$
  select case
    when p_at at time zone 'UTC' = date_trunc('day', p_at at time zone 'UTC') then to_char(p_at at time zone 'UTC', 'YYYY-MM-DD')
    else regexp_replace(to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'), '\.0+$', '') || 'Z'
  end;
$$;
comment on function private.utc_text(timestamptz) is 'A time in UTC as text: the day alone at its beginning.';
revoke all on function private.utc_text(timestamptz) from public;

create function private.utc_time(p_text text)
returns timestamptz
language plpgsql
immutable
set search_path = ''
as $$
begin
  if p_text !~ '^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,6})?)?Z)?$' then
    return null;
  end if;
  return rtrim(replace(p_text, 'T', ' '), 'Z')::timestamp at time zone 'UTC';
exception when datetime_field_overflow then
  return null;
end;
$$;
comment on function private.utc_time(text) is 'The time that a text in the form of utc_text() names; null for any other text.';
revoke all on function private.utc_time(text) from public;

create function private.account_name(p_user_id uuid)
returns text
language sql
stable
set search_path = ''
as $$
  select coalesce(private.email_of(p_user_id), p_user_id::text);
$$;
comment on function private.account_name(uuid) is 'How settings name an account: by its email address, or by its id if it has none.';
revoke all on function private.account_name(uuid) from public;

create function private.account_of(p_account text, p_attempt text)
returns uuid
language plpgsql
stable
set search_path = ''
as $$
declare
  v_user_id constant uuid := (
    select account.id from auth.users as account
    where lower(account.email) = lower(p_account) or account.id::text = lower(p_account)
    order by account.created_at
    limit 1
  );
begin
  if v_user_id is null then
    perform private.raise_error('USER_NOT_FOUND', format('Cannot %s: no account has the email address or id "%s"', p_attempt, p_account),
      'Let the person sign up first, or name another account.');
  end if;
  return v_user_id;
end;
$$;
comment on function private.account_of(text, text) is
  'The account with this email address or id. p_attempt completes the sentence "Cannot …". Raises USER_NOT_FOUND.';
revoke all on function private.account_of(text, text) from public;

-- Reading -----------------------------------------------------------------------------------------

create function private.price_document(p_price jsonb)
returns jsonb
language sql
stable
set search_path = ''
as $$
  select private.without_nulls(jsonb_build_object(
    'valid_from', private.utc_text((p_price ->> 'valid_from')::timestamptz),
    'above_input_tokens', nullif(p_price -> 'above_input_tokens', '0'),
    'input_usd_per_mtok', private.usd_of((p_price ->> 'input_micro_usd_per_mtok')::bigint),
    'cached_input_usd_per_mtok', private.usd_of((p_price ->> 'cached_input_micro_usd_per_mtok')::bigint),
    'cache_write_input_usd_per_mtok', private.usd_of((p_price ->> 'cache_write_input_micro_usd_per_mtok')::bigint),
    'output_usd_per_mtok', private.usd_of((p_price ->> 'output_micro_usd_per_mtok')::bigint),
    'web_search_usd_per_call', private.usd_of((p_price ->> 'web_search_micro_usd_per_call')::bigint),
    'code_execution_usd_per_call', private.usd_of((p_price ->> 'code_execution_micro_usd_per_call')::bigint)
  ));
$$;
comment on function private.price_document(jsonb) is 'A row of model_prices or of model_catalog as an entry of a model''s document.';
revoke all on function private.price_document(jsonb) from public;

create function private.catalog_document(p_slug text)
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
begin
  return (
    select private.without_nulls(jsonb_build_object(
      'retires_on', min(listed.retires_on),
      'prices', jsonb_agg(private.price_document(to_jsonb(listed)) order by listed.valid_from, listed.above_input_tokens)
    ))
    from private.model_catalog as listed
    where listed.provider || '/' || listed.model = p_slug
    having count(*) > 0
  );
end;
$$;
comment on function private.catalog_document(text) is 'The document of a model (provider/model) as the catalog has it; null if it has none.';
revoke all on function private.catalog_document(text) from public;

create function private.policy_slug(p_policy public.model_policies)
returns text
language sql
stable
set search_path = ''
as $$
  select provider.name || coalesce('/' || p_policy.model, '') || coalesce(' for ' || private.account_name(p_policy.user_id), '')
  from public.llm_providers as provider
  where provider.id = p_policy.provider_id;
$$;
comment on function private.policy_slug(public.model_policies) is
  'How settings name a policy: the provider, then the model, then the account, such as openai/gpt-5.4-mini for ada@example.com.';
revoke all on function private.policy_slug(public.model_policies) from public;

create function private.setting_documents()
returns table (kind text, slug text, definition jsonb)
language sql
stable
set search_path = ''
as $$
  select 'server', tool.slug, private.without_nulls(jsonb_build_object(
    'display_name', nullif(tool.name, tool.slug),
    'description', tool.description,
    'config', tool.config,
    'credential', nullif(private.without_nulls(jsonb_build_object(
      'secret', tool.credential_secret_name,
      'type', tool.credential_type,
      'description', tool.credential_description,
      'audience', nullif(tool.credential_audience, 'everyone')
    )), '{}'),
    'data_flows', tool.data_flows,
    'is_active', nullif(tool.is_active, true)
  ))
  from public.tools as tool
  where tool.type = 'mcp_server'
  union all
  select 'provider', provider.name, private.without_nulls(jsonb_build_object(
    'display_name', provider.display_name,
    'api', provider.api,
    'base_url', provider.base_url,
    'default_model', provider.default_model,
    'requires_api_key', nullif(provider.requires_api_key, true),
    'api_key_secret_name', provider.api_key_secret_name,
    'is_free', nullif(provider.is_free, false),
    'is_active', nullif(provider.is_active, true)
  ))
  from public.llm_providers as provider
  union all
  select 'model', provider.name || '/' || price.model, private.without_nulls(jsonb_build_object(
    'retires_on', min(price.retires_on),
    'prices', jsonb_agg(private.price_document(to_jsonb(price)) order by price.valid_from, price.above_input_tokens)
  ))
  from public.model_prices as price
  join public.llm_providers as provider on provider.id = price.provider_id
  group by provider.name, price.model
  union all
  select 'policy', private.policy_slug(policy), private.without_nulls(jsonb_build_object(
    'is_allowed', nullif(policy.is_allowed, true),
    'allow_own_key', nullif(policy.allow_own_key, true),
    'allow_organisation_key', nullif(policy.allow_organisation_key, true),
    'spending_cap_usd', private.usd_of(policy.spending_cap_micro_usd),
    'cap_period', nullif(policy.cap_period, 'month')
  ))
  from public.model_policies as policy
  union all
  select 'quota', coalesce(private.account_name(quota.user_id), 'everyone'), jsonb_object_agg(quota.name, quota.amount)
  from private.quotas as quota
  group by quota.user_id
  union all
  select 'retention', 'project', coalesce(jsonb_object_agg(setting.key, setting.value::int) filter (where setting.key is not null), '{}')
  from (values (true)) as always (exist)
  left join private.settings as setting on private.default_retention() ? setting.key
  union all
  select 'documents', project.slug, private.without_nulls(jsonb_build_object(
    'github_repo', project.github_repo,
    'default_branch', nullif(project.default_branch, 'main'),
    'include_globs', nullif(to_jsonb(project.include_globs), '["**/*.md", "**/*.mdx"]'),
    'language', nullif(project.language, 'english'),
    'embedder', coalesce(project.next_embedder, project.embedder),
    'members', (
      select jsonb_agg(private.account_name(member.user_id) order by private.account_name(member.user_id))
      from public.project_members as member
      where member.project_id = project.id
    )
  ))
  from public.projects as project;
$$;
comment on function private.setting_documents() is 'All settings as documents. Defaults are missing.';
revoke all on function private.setting_documents() from public;

create function private.secrets_named_in(p_document jsonb)
returns setof text
language sql
immutable
set search_path = ''
as $$
  select distinct named #>> '{}'
  from jsonb_path_query(p_document, '$.** ? (@.secret.type() == "string").secret') as named
  union
  select p_document ->> 'api_key_secret_name'
  where p_document ->> 'api_key_secret_name' is not null;
$$;
comment on function private.secrets_named_in(jsonb) is 'The names of the secrets that a definition or setting uses.';
revoke all on function private.secrets_named_in(jsonb) from public;

create function private.assert_secrets_may_be_named(p_definition jsonb, p_before jsonb, p_attempt text)
returns void
language plpgsql
stable
set search_path = ''
as $$
declare
  v_name text;
begin
  for v_name in
    select * from private.secrets_named_in(p_definition) as named (name)
    where lower(named.name) ~ '^supaswarm' and named.name not in (select * from private.secrets_named_in(coalesce(p_before, '{}')))
  loop
    perform private.raise_error('SECRET_INVALID', format('Cannot %s: the secret "%s" belongs to the platform or to a user', p_attempt, v_name),
      'Name a key of the project; names that begin with supaswarm are not keys of the project.');
  end loop;
end;
$$;
comment on function private.assert_secrets_may_be_named(jsonb, jsonb, text) is
  'Raises SECRET_INVALID when a document newly names a secret of the platform or of a user''s own, which would let its author send it to any address.';
revoke all on function private.assert_secrets_may_be_named(jsonb, jsonb, text) from public;

-- Writing -----------------------------------------------------------------------------------------

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
revoke all on function private.setting_problem(text, text, jsonb) from public;

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
    credential_audience, data_flows, is_active
  )
  values (
    p_slug, coalesce(p_definition ->> 'display_name', p_slug), 'mcp_server', p_definition ->> 'description', p_definition -> 'config',
    p_definition #>> '{credential,secret}', p_definition #>> '{credential,type}', p_definition #>> '{credential,description}',
    coalesce(p_definition #>> '{credential,audience}', 'everyone'), p_definition -> 'data_flows',
    coalesce((p_definition ->> 'is_active')::boolean, true)
  )
  on conflict (slug) do update set
    name = excluded.name, description = excluded.description, config = excluded.config,
    credential_secret_name = excluded.credential_secret_name, credential_type = excluded.credential_type,
    credential_description = excluded.credential_description, credential_audience = excluded.credential_audience,
    data_flows = excluded.data_flows, is_active = excluded.is_active;
end;
$$;
comment on function private.write_server(text, jsonb) is
  'Writes or (null) removes an external MCP server. Raises DEFINITION_INVALID for one of external-mcps.yaml, TOOL_CONFIG_INVALID.';
revoke all on function private.write_server(text, jsonb) from public;

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
revoke all on function private.write_provider(text, jsonb) from public;

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
revoke all on function private.write_model(text, jsonb) from public;

create function private.write_policy(p_slug text, p_definition jsonb)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_attempt constant text := format('save the policy "%s"', p_slug);
  v_parts constant text[] := regexp_match(p_slug, '^([^/ ]+)(?:/(\S+))?(?: for (\S+))?$');
  v_policy public.model_policies;
begin
  if v_parts is null then
    perform private.raise_error('DEFINITION_INVALID', format('Cannot %s: the name has another form', v_attempt),
      'Write a provider, then if wanted a model and an account: openai, openai/gpt-5.4-mini, openai for ada@example.com.');
  end if;
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
revoke all on function private.write_policy(text, jsonb) from public;

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
revoke all on function private.write_quota(text, jsonb) from public;

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
revoke all on function private.write_retention(jsonb) from public;

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
revoke all on function private.write_documents(text, jsonb) from public;

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
    perform private.assert_no_problem(private.setting_problem(p_kind, p_slug, p_definition), 'DEFINITION_INVALID', v_attempt);
  end if;
  case p_kind
    when 'server' then perform private.write_server(p_slug, p_definition);
    when 'provider' then perform private.write_provider(p_slug, p_definition);
    when 'model' then perform private.write_model(p_slug, p_definition);
    when 'policy' then perform private.write_policy(p_slug, p_definition);
    when 'quota' then perform private.write_quota(p_slug, p_definition);
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
revoke all on function private.write_setting(text, text, jsonb) from public;

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
revoke all on function private.affected_by_setting(text, text, jsonb) from public;
