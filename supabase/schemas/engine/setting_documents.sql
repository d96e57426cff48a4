-- Settings as documents: how they are read from the tables. See setting_schemas.sql.

create function private.usd_of(p_micro_usd bigint)
returns jsonb
language sql
immutable
set search_path = ''
as $$
  select to_jsonb(trim_scale(p_micro_usd::numeric / 1000000));
$$;
comment on function private.usd_of(bigint) is 'Millionths of a US dollar as US dollars.';

create function private.micro_usd_of(p_usd jsonb)
returns bigint
language sql
immutable
set search_path = ''
as $$
  select round((p_usd #>> '{}')::numeric * 1000000)::bigint;
$$;
comment on function private.micro_usd_of(jsonb) is 'US dollars as millionths of a US dollar.';

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

create function private.account_name(p_user_id uuid)
returns text
language sql
stable
set search_path = ''
as $$
  select coalesce(private.email_of(p_user_id), p_user_id::text);
$$;
comment on function private.account_name(uuid) is 'How settings name an account: by its email address, or by its id if it has none.';

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
comment on function private.price_document(jsonb) is 'A row of model_prices or of model_catalog_prices as an entry of a model''s document.';

create function private.catalog_document(p_slug text)
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
begin
  return (
    select private.without_nulls(jsonb_build_object(
      'retires_on', listed.retires_on,
      'prices', (
        select jsonb_agg(private.price_document(to_jsonb(price)) order by price.valid_from, price.above_input_tokens)
        from private.model_catalog_prices as price
        where price.provider = listed.provider and price.model = listed.model
      )
    ))
    from private.model_catalog as listed
    where listed.provider || '/' || listed.model = p_slug
  );
end;
$$;
comment on function private.catalog_document(text) is 'The document of a model (provider/model) as the catalog has it; null if it has none.';

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

create function private.audience_documents()
returns table (slug text, definition jsonb)
language sql
stable
set search_path = ''
as $$
  select named.slug, jsonb_build_object('accounts', coalesce(jsonb_agg(named.account order by named.account) filter (where named.account is not null), '[]'))
  from (
    select 'agent/' || agent.slug, private.account_name(audience.user_id)
    from public.agents as agent
    left join public.agent_audience as audience on audience.agent_id = agent.id
    where agent.audience = 'named'
    union all
    select 'tool/' || tool.slug, private.account_name(audience.user_id)
    from public.tools as tool
    left join public.tool_credential_audience as audience on audience.tool_id = tool.id
    where tool.credential_audience <> 'everyone'
  ) as named (slug, account)
  group by named.slug;
$$;
comment on function private.audience_documents() is
  'The accounts of agents whose audience is named, and of tools whose shared credential is not for everyone.';

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
    'credential', private.credential_definition(tool),
    'data_flows', tool.data_flows,
    'audience', nullif(tool.audience, 'granted'),
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
  select 'limit', policy.mcp_name || coalesce('/' || policy.tool_name, '') || coalesce(' for ' || private.account_name(policy.user_id), ''),
    private.without_nulls(jsonb_build_object(
      'is_allowed', nullif(policy.is_allowed, true),
      'calls_per_minute', nullif(policy.calls_per_minute, 600),
      'burst_calls', nullif(policy.burst_calls, 200),
      'timeout_ms', policy.timeout_ms,
      'max_input_bytes', policy.max_input_bytes
    ))
  from public.mcp_policies as policy
  union all
  select 'audience', known.slug, known.definition from private.audience_documents() as known
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

create function private.used_secrets()
returns table (name text, used_by text, destination text)
language sql
stable
set search_path = ''
as $$
  select provider.api_key_secret_name, 'provider ' || provider.name, private.destination_of_provider(provider)
  from public.llm_providers as provider
  where provider.api_key_secret_name is not null
  union all
  select named.name, private.document_of_tool(tool), named.destination
  from public.tools as tool
  cross join lateral (
    select private.secrets_named_in(jsonb_build_object('secret', tool.credential_secret_name, 'config', tool.config - 'oauth')),
      private.destination_of_tool(tool)
    union
    -- Without an issuer, the tool server names it.
    select private.secrets_named_in(tool.config -> 'oauth'),
      coalesce(private.host_of(tool.config #>> '{oauth,issuer}'), private.destination_of_tool(tool))
  ) as named (name, destination)
  union all
  select embedder.api_key_secret_name, 'embedder ' || embedder.name, coalesce(private.host_of(embedder.base_url), embedder.api)
  from public.embedders as embedder
  where embedder.is_active and embedder.requires_api_key
  union all
  select 'GITHUB_TOKEN', 'documents ' || project.slug, 'GitHub'
  from public.projects as project
  where project.github_repo is not null and project.github_token_secret_name is null;
$$;
comment on function private.used_secrets() is
  'The names of the secrets that the project uses, what uses each, and the host that it is sent to: that of the authorization server for the secret of an OAuth client.';

create function private.secret_bindings()
returns setof jsonb
language sql
stable
set search_path = ''
as $$
  select jsonb_build_array(used.name, split_part(used.used_by, ' ', 1), used.destination, awaited.given_by)
  from private.used_secrets() as used
  left join private.awaited_secrets as awaited on (awaited.used_by, awaited.name) = (used.used_by, used.name)
  where not private.is_awaited_secret(used.used_by, used.name);
$$;
comment on function private.secret_bindings() is
  'What the project''s secrets are for [name, purpose, host, who gave only their own value or null]: those that documents use, without those that they wait for.';

create function private.project_secrets()
returns setof text
language sql
stable
set search_path = ''
as $$
  select used.name from private.used_secrets() as used
  union
  select done.details ->> 'name' from private.operator_acts as done where done.act = 'secret.set';
$$;
comment on function private.project_secrets() is
  'The names of the project''s keys: those that it uses or waits for, and those that operator_set_secret() stored.';

create function private.vault_has_secret(p_name text)
returns boolean
language sql
stable
set search_path = ''
as $$
  select exists (
    select from vault.secrets as stored
    where private.comparable_secret_name(stored.name) = private.comparable_secret_name(p_name)
  );
$$;
comment on function private.vault_has_secret(text) is 'Whether Vault has a secret of this name.';

create function private.act_that_stored(p_name text)
returns private.operator_acts
language sql
stable
set search_path = ''
as $$
  select newest.*
  from vault.secrets as stored
  cross join lateral (
    select done.* from private.operator_acts as done
    where done.act in ('secret.set', 'secret.removed') and done.details ->> 'name' = stored.name
    order by done.id desc
    limit 1
  ) as newest
  -- Another program may have replaced the value since, or stored one after the removal.
  where stored.name = p_name and newest.act = 'secret.set' and stored.updated_at <= newest.at;
$$;
comment on function private.act_that_stored(text) is
  'The act with which somebody stored the value that a secret has now; null if there is no secret, or another program stored it.';

create function private.is_own_secret(p_name text)
returns boolean
language plpgsql
stable
set search_path = ''
as $$
declare
  v_act constant private.operator_acts := private.act_that_stored(p_name);
begin
  return v_act.id is not null and v_act.operator_id is not distinct from auth.uid();
end;
$$;
comment on function private.is_own_secret(text) is
  'Whether the caller has stored the value that a secret has now, and so may send it anywhere.';

create function private.bind_document_secrets(
  p_kind text, p_slug text, p_bound jsonb[], p_given text[], p_attempt text
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_uses constant text[] := case p_kind when 'provider' then array['provider ' || p_slug]
    else array['server ' || p_slug, 'tool ' || p_slug] end;
  v_use record;
  v_given_by uuid;
  v_is_bound boolean;
begin
  delete from private.awaited_secrets as awaited where awaited.used_by = any (v_uses);
  for v_use in
    select used.name, used.used_by, used.destination, split_part(used.used_by, ' ', 1) as purpose,
      used.name = any (p_given) as is_given,
      (select stored.updated_at from vault.secrets as stored where stored.name = used.name) as stored_at
    from private.used_secrets() as used
    where used.used_by = any (v_uses)
  loop
    select (bound ->> 3)::uuid into v_given_by
    from unnest(p_bound) as bound
    where bound - 3 = jsonb_build_array(v_use.name, v_use.purpose, v_use.destination)
    order by bound ->> 3 nulls first
    limit 1;
    v_is_bound := found and v_given_by is null;
    if v_use.is_given and not v_is_bound then
      v_given_by := null;
    elsif not found then
      if starts_with(private.comparable_secret_name(v_use.name), 'supaswarm')
        or private.vault_has_secret(v_use.name) and not private.is_own_secret(v_use.name)
      then
        perform private.raise_error('SECRET_INVALID',
          format('Cannot %s: the secret "%s" is not a key that a %s sends to %s', p_attempt, v_use.name, v_use.purpose, v_use.destination),
          'It belongs to another purpose, to a user, to the platform or to another program. Set a key under another name with operator_set_secret(), or in the console under Setup, Access, Keys; who may read Vault can change the row with SQL.');
      end if;
      v_given_by := auth.uid();
      -- The service can write the row without this function.
      v_is_bound := v_given_by is null and v_use.stored_at is not null;
    end if;
    if not v_is_bound then
      insert into private.awaited_secrets (used_by, name, given_by, given_at)
      values (v_use.used_by, v_use.name, case when v_use.stored_at is not null then v_given_by end,
        case when v_given_by is not null then v_use.stored_at end)
      on conflict do nothing;
    end if;
  end loop;
end;
$$;
comment on function private.bind_document_secrets(text, text, jsonb[], text[], text) is
  'Binds the secrets of a document that was just written: to any value if it is among the bindings from before (secret_bindings()), to the caller''s present value if the caller has stored it; one that does not exist yet, or that the caller gives now (p_given), is awaited. Raises SECRET_INVALID for another secret that exists, or is reserved.';
