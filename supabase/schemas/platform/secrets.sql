-- Secrets are stored only in Vault and are read when a call needs them.

create function private.secret_value(p_name text)
returns text
language plpgsql
stable
set search_path = ''
as $$
begin
  return (select decrypted_secret from vault.decrypted_secrets where name = secret_value.p_name);
end;
$$;
comment on function private.secret_value(text) is 'A secret from Vault by name, or null.';

create function private.comparable_secret_name(p_name text)
returns text
language sql
immutable
set search_path = ''
as $$
  select lower(btrim(normalize(p_name, nfkc)));
$$;
comment on function private.comparable_secret_name(text) is 'The form in which names of secrets are compared.';

create function private.host_of(p_url text)
returns text
language sql
immutable
set search_path = ''
as $$
  select lower((regexp_match(p_url, '^[A-Za-z]+://(?:[^/?#\\@]*@)?([^/?#\\]+)'))[1]);
$$;
comment on function private.host_of(text) is 'The host of a URL, with its port.';

create function private.destination_of_tool(p_tool public.tools)
returns text
language sql
immutable
set search_path = ''
as $$
  select coalesce(p_tool.config ->> 'allowed_hosts', private.host_of(used_url.url), used_url.url, p_tool.type)
  from coalesce(p_tool.config ->> 'mcp_url', p_tool.config ->> 'url') as used_url (url);
$$;
comment on function private.destination_of_tool(public.tools) is
  'The host to which a tool sends credentials, or the list of its hosts; of a tool without an address its type.';

create function private.destination_of_provider(p_provider public.llm_providers)
returns text
language sql
immutable
set search_path = ''
as $$
  select coalesce(private.host_of(p_provider.base_url), p_provider.api);
$$;
comment on function private.destination_of_provider(public.llm_providers) is
  'The host to which a provider''s key is sent, or its API if it has the usual address.';

create function private.set_destination()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  if tg_table_name = 'user_tool_credentials' then
    select private.destination_of_tool(tool) into new.destination from public.tools as tool where tool.id = new.tool_id;
  else
    select private.destination_of_provider(provider) into new.destination
    from public.llm_providers as provider
    where provider.id = new.provider_id;
  end if;
  return new;
end;
$$;
comment on function private.set_destination() is
  'Row trigger: binds a user''s own credential or model key to the host that the tool or provider has when it is stored. Definer: the role that writes the row may not call private functions.';
create trigger set_destination before insert or update of vault_secret_name on public.user_tool_credentials
  for each row execute function private.set_destination();
create trigger set_destination before insert or update of vault_secret_name on public.user_provider_keys
  for each row execute function private.set_destination();

create table private.awaited_secrets (
  used_by text,
  name text,
  given_by uuid,
  given_at timestamptz,
  check ((given_by is null) = (given_at is null)),
  primary key (used_by, name)
);
comment on table private.awaited_secrets is
  'Secrets of which a document may send only the value that a person stored with operator_set_secret(), and before that none: not what another program stores under that name. Secrets without a row are bound, as those of documents that were written with SQL, and after private.bind_secret().';
comment on column private.awaited_secrets.used_by is 'The kind and name of the document.';
comment on column private.awaited_secrets.given_by is
  'Who stored the value with operator_set_secret(). Null: the document waits for a value. Not a foreign key: the value remains after the account is deleted.';
comment on column private.awaited_secrets.given_at is
  'The time of this value in Vault. When Vault has a newer one, the document waits.';
alter table private.awaited_secrets enable row level security;

create function private.is_awaited_secret(p_used_by text, p_name text)
returns boolean
language plpgsql
stable
set search_path = ''
as $$
begin
  return exists (
    select from private.awaited_secrets as awaited
    where awaited.used_by = p_used_by and awaited.name = p_name and not exists (
      select from vault.secrets as stored where stored.name = awaited.name and stored.updated_at = awaited.given_at
    )
  );
end;
$$;
comment on function private.is_awaited_secret(text, text) is
  'Whether a document waits for a secret: nobody has given it the value that Vault has now.';

create function private.bind_secret(p_name text)
returns void
language sql
set search_path = ''
as $$
  delete from private.awaited_secrets as awaited where awaited.name = p_name;
$$;
comment on function private.bind_secret(text) is
  'Gives a secret, with its present and later values, to all documents that name it. Called by who may read Vault.';

create function private.hint_to_store(p_name text)
returns text
language sql
immutable
set search_path = ''
as $$
  select format('Store it in the console under Setup, Access, Keys, or with select vault.create_secret(''…'', %1$L), private.bind_secret(%1$L).', p_name);
$$;
comment on function private.hint_to_store(text) is 'What to do about a secret that Vault does not have.';

create function private.hint_to_bind(p_name text)
returns text
language sql
immutable
set search_path = ''
as $$
  select format('If it may be sent to the hosts that operator_secrets shows, run select private.bind_secret(%L), or store it once more where you have stored it: with operator_set_secret() or in the console under Setup, Access, Keys.', p_name);
$$;
comment on function private.hint_to_bind(text) is 'What to do about a secret that Vault has and that a document waits for.';

create function private.assert_secret_is_bound(p_used_by text, p_name text)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  if private.is_awaited_secret(p_used_by, p_name) then
    perform private.raise_error('SECRET_NOT_FOUND',
      format('Cannot use the secret %L: nobody has given its present value to the %s', p_name, p_used_by),
      private.hint_to_bind(p_name));
  end if;
end;
$$;
comment on function private.assert_secret_is_bound(text, text) is 'Raises SECRET_NOT_FOUND for a secret that the document waits for.';

create function private.document_of_tool(p_tool public.tools)
returns text
language sql
immutable
set search_path = ''
as $$
  select case p_tool.type when 'mcp_server' then 'server ' else 'tool ' end || p_tool.slug;
$$;
comment on function private.document_of_tool(public.tools) is 'The kind and name of a tool''s document.';

create function private.resolve_named_secrets(p_names jsonb, p_tool_id uuid)
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
declare
  v_name text;
  v_secret text;
  v_secrets jsonb := '{}'::jsonb;
  v_document constant text := (select private.document_of_tool(tool) from public.tools as tool where tool.id = p_tool_id);
begin
  for v_name in select jsonb_array_elements_text(p_names) loop
    v_secret := private.secret_value(v_name);
    if v_secret is null then
      perform private.raise_error('SECRET_NOT_FOUND',
        format('Cannot call the tool: Vault holds no secret named %L', v_name),
        private.hint_to_store(v_name) || ' If external-mcps.yaml has the server, run deno task mcps:sync.');
    end if;
    perform private.assert_secret_is_bound(v_document, v_name);
    v_secrets := v_secrets || jsonb_build_object(v_name, v_secret);
  end loop;
  return v_secrets;
end;
$$;
comment on function private.resolve_named_secrets(jsonb, uuid) is
  'The secrets that a tool''s headers and query parameters name in addition to its credential, {name: value}. Raises SECRET_NOT_FOUND. Called by the tool gateway.';

create function private.assert_shared_credential(p_tool_id uuid, p_user_id uuid, p_is_agent boolean)
returns void
language plpgsql
stable
set search_path = ''
as $$
declare
  v_tool public.tools;
begin
  select * into v_tool from public.tools where id = p_tool_id;
  if p_user_id is null
    or v_tool.credential_audience = 'everyone'
    or (v_tool.credential_audience = 'agents' and p_is_agent)
    or exists (select from public.tool_credential_audience where tool_id = p_tool_id and user_id = p_user_id)
  then
    return;
  end if;
  perform private.raise_error('CREDENTIAL_REQUIRED',
    format('Cannot call the tool %L: its shared credential may not be used for this call', v_tool.slug),
    format('Store your own credential with set_tool_credential(%L, ''…'')%s, or ask an operator for a row in tool_credential_audience.',
      v_tool.slug, case when v_tool.type = 'mcp_server' then ' or connect your account with mcp-oauth' else '' end));
end;
$$;
comment on function private.assert_shared_credential(uuid, uuid, boolean) is
  'Raises CREDENTIAL_REQUIRED when a tool''s shared secrets may not be used for a user''s call; p_is_agent is true when an agent makes the call. The service (null user) may always use them.';

create function private.resolve_tool_secret(p_tool_id uuid, p_user_id uuid, p_is_agent boolean default false)
returns text
language plpgsql
stable
set search_path = ''
as $$
declare
  v_tool public.tools;
  v_own public.user_tool_credentials;
  v_name text;
  v_secret text;
begin
  select * into v_tool from public.tools where id = p_tool_id and credential_type is distinct from 'none';
  select * into v_own from public.user_tool_credentials where tool_id = v_tool.id and user_id = p_user_id;
  v_name := coalesce(v_own.vault_secret_name, v_tool.credential_secret_name);
  if v_name is null then
    return null;
  end if;
  if v_own.id is null then
    perform private.assert_shared_credential(p_tool_id, p_user_id, p_is_agent);
  elsif v_own.destination is distinct from private.destination_of_tool(v_tool) then
    perform private.raise_error('CREDENTIAL_REQUIRED',
      format('Cannot call the tool %L: your own credential was stored for another host than the one that the tool has now', v_tool.slug),
      format('Store it again with set_tool_credential(%1$L, ''…'') if the new host may receive it, or delete it with set_tool_credential(%1$L, null).', v_tool.slug));
  end if;

  v_secret := private.secret_value(v_name);
  if v_secret is null then
    perform private.raise_error('SECRET_NOT_FOUND',
      format('Cannot call the tool: Vault holds no secret named %L', v_name),
      private.hint_to_store(v_name) || ' Or set your own with set_tool_credential().');
  end if;
  if v_own.id is null then
    perform private.assert_secret_is_bound(private.document_of_tool(v_tool), v_name);
  end if;
  return v_secret;
end;
$$;
comment on function private.resolve_tool_secret(uuid, uuid, boolean) is
  'The credential for a tool call: the user''s own, else the tool''s; null when the tool names none. Raises SECRET_NOT_FOUND, and CREDENTIAL_REQUIRED when that user may not use the tool''s, or stored their own for another host. Called by the tool gateway.';

create function private.model_policy(p_user_id uuid, p_provider_id uuid, p_model text)
returns public.model_policies
language plpgsql
stable
set search_path = ''
as $$
declare
  v_policy public.model_policies;
begin
  select policy.* into v_policy
  from public.model_policies as policy
  where policy.provider_id = model_policy.p_provider_id
    and (policy.user_id is null or policy.user_id = model_policy.p_user_id)
    and (policy.model is null or policy.model = model_policy.p_model)
  order by policy.user_id nulls last, policy.model nulls last
  limit 1;
  return case when found then v_policy end;
end;
$$;
comment on function private.model_policy(uuid, uuid, text) is
  'The policy that applies to a user, provider and model. Null: everything is allowed.';

create function private.resolve_provider_secret(
  p_provider_id uuid, p_user_id uuid, p_model text default null,
  p_input_tokens bigint default null, p_output_tokens bigint default null,
  p_task_id uuid default null, p_may_wait boolean default false
)
returns table (
  secret text, key_source text, reservation_id uuid, max_output_tokens bigint, must_wait boolean, pause jsonb
)
language plpgsql
set search_path = ''
as $$
declare
  v_provider public.llm_providers;
  v_policy public.model_policies := private.model_policy(p_user_id, p_provider_id, p_model);
  v_own public.user_provider_keys;
  v_secret text;
  v_reserved private.job_reservation;
  v_pause jsonb;
begin
  select * into v_provider from public.llm_providers where id = p_provider_id and is_active;
  if not found then
    perform private.raise_error('PROVIDER_NOT_FOUND',
      'Cannot call the model: its provider does not exist or is not active',
      'Set the agent''s provider_id to an active row of llm_providers.');
  end if;
  v_pause := private.pause_in_force('provider', v_provider.name);
  if v_pause is not null then
    return query select null::text, 'none'::text, null::uuid, null::bigint, false, v_pause;
    return;
  end if;
  if not coalesce(v_policy.is_allowed, true) then
    perform private.raise_error('MODEL_POLICY_DENIED',
      format('Cannot call the model: a policy forbids %s of provider %L',
        coalesce(p_model, 'every model'), v_provider.name),
      'Name another model, or ask the operator to change model_policies.');
  end if;
  if p_task_id is not null then
    v_reserved := private.reserve_job_cost(p_task_id, p_provider_id, coalesce(p_model, v_provider.default_model),
      p_input_tokens, p_output_tokens, p_may_wait);
    if v_reserved.must_wait then
      return query select null::text, 'none'::text, null::uuid, null::bigint, true, null::jsonb;
      return;
    end if;
  end if;

  if coalesce(v_policy.allow_own_key, true) then
    select * into v_own from public.user_provider_keys where user_id = p_user_id and provider_id = p_provider_id;
    v_secret := private.secret_value(v_own.vault_secret_name);
    if v_secret is not null then
      if v_own.destination is distinct from private.destination_of_provider(v_provider) then
        perform private.raise_error('MODEL_KEY_MISSING',
          format('Cannot call the model: your own key was stored for another host than the one that provider %L has now', v_provider.name),
          format('Store it again with set_provider_key(%1$L, ''…'') if the new host may receive it, or delete it with set_provider_key(%1$L, null).', v_provider.name));
      end if;
      return query select v_secret, 'user'::text, v_reserved.id, v_reserved.max_output_tokens, false, null::jsonb;
      return;
    end if;
  end if;
  if coalesce(v_policy.allow_organisation_key, true) then
    v_secret := private.secret_value(v_provider.api_key_secret_name);
    if v_secret is not null then
      perform private.assert_secret_is_bound('provider ' || v_provider.name, v_provider.api_key_secret_name);
      return query select v_secret, 'organisation'::text, private.reserve_spending(
        v_policy, v_provider, coalesce(p_model, v_provider.default_model), p_input_tokens,
        coalesce(v_reserved.max_output_tokens, p_output_tokens), v_reserved.id), v_reserved.max_output_tokens, false, null::jsonb;
      return;
    end if;
  end if;
  if v_provider.requires_api_key then
    perform private.raise_error('MODEL_KEY_MISSING',
      format('Cannot call the model: there is no key for provider %L; Vault holds no secret named %L',
        v_provider.name, v_provider.api_key_secret_name),
      format('%s On a local stack, put %s into .env (there, agents/<slug>.script.yaml can answer instead). Or set your own with set_provider_key(%L, ''…'').',
        private.hint_to_store(v_provider.api_key_secret_name), v_provider.api_key_secret_name, v_provider.name));
  end if;
  return query select null::text, 'none'::text, v_reserved.id, v_reserved.max_output_tokens, false, null::jsonb;
end;
$$;
comment on function private.resolve_provider_secret(uuid, uuid, text, bigint, bigint, uuid, boolean) is
  'The API key for a model call and its source: the user''s own key if a policy allows it, else the organization''s. Under a spending cap of a policy, or the cost cap of the task''s job, the same statement reserves the cost of the call from the given numbers of tokens: write at most max_output_tokens, and pass the reservation_id to record_usage(). must_wait: ask again when running calls of the job have ended (only with p_may_wait). With pause, the provider is paused, and there is no key. Raises PROVIDER_NOT_FOUND, MODEL_POLICY_DENIED, MODEL_KEY_MISSING (also for an own key that was stored for another host), SECRET_NOT_FOUND for one that the provider waits for, PRICE_UNKNOWN, SPENDING_CAP_REACHED, BUDGET_EXCEEDED. Called by the model port.';

-- Users' own secrets: users set a value, never the name of a secret -----------------------------

create function private.set_secret(p_name text, p_secret text, p_description text)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_id uuid := (select id from vault.decrypted_secrets where name = p_name);
begin
  if p_secret is null then
    delete from vault.secrets where id = v_id;
  elsif v_id is null then
    perform vault.create_secret(p_secret, p_name, p_description);
  else
    perform vault.update_secret(v_id, p_secret);
  end if;
end;
$$;
comment on function private.set_secret(text, text, text) is 'Creates, replaces or (null) deletes a secret in Vault.';

create function private.calling_user()
returns uuid
language plpgsql
stable
set search_path = ''
as $$
begin
  if auth.uid() is null then
    perform private.raise_error('CALLER_REQUIRED', 'Cannot store the secret: the caller is not a user',
      'Sign in and call with the user''s token; the service stores secrets with vault.create_secret().');
  end if;
  return auth.uid();
end;
$$;
comment on function private.calling_user() is 'The signed-in user. Raises CALLER_REQUIRED.';

create function private.assert_secret_is_valid(p_secret text)
returns void
language plpgsql
immutable
set search_path = ''
as $$
begin
  if p_secret is not null and (p_secret = '' or length(p_secret) > 8192 or p_secret ~ '[[:cntrl:]]') then
    perform private.raise_error('SECRET_INVALID',
      'Cannot store the secret: it is empty, longer than 8,192 characters or contains control characters',
      'Send the credential itself, without line breaks, or null to delete it.');
  end if;
end;
$$;
comment on function private.assert_secret_is_valid(text) is 'Raises SECRET_INVALID for a value that cannot be sent in a header.';

create function private.set_tool_credential(p_tool_slug text, p_secret text)
returns void
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_user_id uuid := private.calling_user();
  v_tool_id uuid := (select id from public.tools where slug = p_tool_slug and is_active);
  v_name text;
begin
  perform private.assert_person_may('store the credential', 'credentials:write');
  if v_tool_id is null then
    perform private.raise_error('TOOL_NOT_FOUND',
      format('Cannot store the credential: there is no active tool %L', p_tool_slug),
      'Read the slugs from the table tools.');
  end if;
  perform private.assert_secret_is_valid(p_secret);
  v_name := format('supaswarm/user/%s/tool/%s', v_user_id, v_tool_id);
  perform private.set_secret(v_name, p_secret, 'A user''s own credential for the tool ' || p_tool_slug);
  if p_secret is null then
    delete from public.user_tool_credentials where user_id = v_user_id and tool_id = v_tool_id;
  else
    insert into public.user_tool_credentials (user_id, tool_id, vault_secret_name)
    values (v_user_id, v_tool_id, v_name)
    on conflict (user_id, tool_id) do update
    set vault_secret_name = excluded.vault_secret_name, type = 'secret', needs_authorization = false, overridden_at = now();
  end if;
  perform private.request_listing(v_tool_id, v_user_id);
end;
$$;
comment on function private.set_tool_credential(text, text) is
  'Stores the caller''s own credential for a tool. Definer: users may not write to Vault.';

create function public.set_tool_credential(p_tool_slug text, p_secret text)
returns void
language sql
set search_path = ''
as $$
  select private.set_tool_credential(p_tool_slug, p_secret);
$$;
comment on function public.set_tool_credential(text, text) is
  'Stores the caller''s own credential for a tool in Vault, which is used instead of the tool''s shared credential; null deletes it. An OAuth client needs the scope credentials:write. Raises TOOL_NOT_FOUND, SECRET_INVALID, CALLER_REQUIRED, AGENT_NOT_ALLOWED, INSUFFICIENT_SCOPE.';
revoke all on function public.set_tool_credential(text, text) from public, anon, authenticated, service_role;
grant execute on function private.set_tool_credential(text, text), public.set_tool_credential(text, text)
  to authenticated;

create function private.set_provider_key(p_provider text, p_secret text)
returns void
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_user_id uuid := private.calling_user();
  v_provider_id uuid := (select id from public.llm_providers where name = p_provider and is_active);
  v_name text;
begin
  perform private.assert_person_may('store the key', 'credentials:write');
  if v_provider_id is null then
    perform private.raise_error('PROVIDER_NOT_FOUND',
      format('Cannot store the key: there is no active provider %L', p_provider),
      'Read the names from the table llm_providers.');
  end if;
  perform private.assert_secret_is_valid(p_secret);
  v_name := format('supaswarm/user/%s/provider/%s', v_user_id, v_provider_id);
  perform private.set_secret(v_name, p_secret, 'A user''s own key for the provider ' || p_provider);
  if p_secret is null then
    delete from public.user_provider_keys where user_id = v_user_id and provider_id = v_provider_id;
  else
    insert into public.user_provider_keys (user_id, provider_id, vault_secret_name)
    values (v_user_id, v_provider_id, v_name)
    on conflict (user_id, provider_id) do update set vault_secret_name = excluded.vault_secret_name, updated_at = now();
  end if;
end;
$$;
comment on function private.set_provider_key(text, text) is
  'Stores the caller''s own key for a provider. Definer: users may not write to Vault.';

create function public.set_provider_key(p_provider text, p_secret text)
returns void
language sql
set search_path = ''
as $$
  select private.set_provider_key(p_provider, p_secret);
$$;
comment on function public.set_provider_key(text, text) is
  'Stores the caller''s own key for a model provider in Vault, which is used instead of the organization''s key if a policy allows it; null deletes it. An OAuth client needs the scope credentials:write. Raises PROVIDER_NOT_FOUND, SECRET_INVALID, CALLER_REQUIRED, AGENT_NOT_ALLOWED, INSUFFICIENT_SCOPE.';
revoke all on function public.set_provider_key(text, text) from public, anon, authenticated, service_role;
grant execute on function private.set_provider_key(text, text), public.set_provider_key(text, text) to authenticated;
