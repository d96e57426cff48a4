-- Several external MCP servers at once over the API: what a change of them would do, and the change.

create function private.server_documents(p_is_file boolean)
returns jsonb
language sql
stable
set search_path = ''
as $$
  select coalesce(jsonb_object_agg(known.slug, known.definition), '{}')
  from private.setting_documents() as known
  join public.tools as tool on tool.slug = known.slug
  where known.kind = 'server' and (not p_is_file or tool.source = 'yaml');
$$;
comment on function private.server_documents(boolean) is
  'The documents of the external MCP servers by slug: all of them, or only those of external-mcps.yaml.';

create function private.change_of_server(p_is_listed boolean, p_wanted jsonb, p_before jsonb, p_after jsonb)
returns text
language sql
immutable
set search_path = ''
as $$
  select case
    when not p_is_listed then 'removed'
    when p_wanted is null then case when p_before is distinct from p_after then 'switched_off' else 'disabled' end
    when p_before is null then 'added'
    when p_before is distinct from p_after then 'changed'
    else 'unchanged'
  end;
$$;
comment on function private.change_of_server(boolean, jsonb, jsonb, jsonb) is
  'What a sync does to a server, in the words of mcps:sync.';

create function private.write_servers(p_servers jsonb, p_is_file boolean, p_given text[], p_attempt text)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_bound constant jsonb[] := array(select private.secret_bindings());
  v_foreign constant text := (
    select string_agg(tool.slug, ', ' order by tool.slug) from public.tools as tool
    where p_servers ? tool.slug and (tool.type <> 'mcp_server' or (tool.source = 'yaml') <> p_is_file)
  );
  v_slug text;
  v_definition jsonb;
begin
  if v_foreign is not null then
    perform private.raise_error('DEFINITION_INVALID', format('Cannot %s: %s', p_attempt, case
      when p_is_file then v_foreign || ' exists already and did not come from external-mcps.yaml'
      else v_foreign || ' comes from external-mcps.yaml, or is not an MCP server' end), 'Give the entry another name.');
  end if;
  for v_slug, v_definition in select key, nullif(value, 'null') from jsonb_each(p_servers) loop
    if p_is_file and v_definition is not null then
      perform private.assert_no_problem(private.setting_problem('server', v_slug, v_definition), 'DEFINITION_INVALID', p_attempt);
    elsif not p_is_file and v_definition is not null then
      perform private.write_setting(p_kind => 'server', p_slug => v_slug, p_definition => v_definition);
    end if;
  end loop;
  if p_is_file then
    perform private.sync_file_servers(p_servers);
  end if;
  for v_slug in select jsonb_object_keys(p_servers) loop
    -- The secrets of an entry of the file have its slug in their names.
    perform private.bind_document_secrets(p_kind => 'server', p_slug => v_slug, p_bound => v_bound, p_given => p_given || array(
      select used.name from private.used_secrets() as used
      where p_is_file and used.used_by = 'server ' || v_slug
        and starts_with(used.name, format('supaswarm/mcp/%s/', v_slug)) and not private.vault_has_secret(used.name)
    ), p_attempt => p_attempt);
  end loop;
exception when unique_violation then
  perform private.raise_error('DEFINITION_INVALID', format('Cannot %s: another tool has the display name of one of the servers', p_attempt),
    'Give the entry another display name.');
end;
$$;
comment on function private.write_servers(jsonb, boolean, text[], text) is
  'Writes the servers {slug: document, or null for a disabled one}; those of a file become the only ones from external-mcps.yaml. Raises DEFINITION_INVALID, SECRET_INVALID, TOOL_CONFIG_INVALID.';

create function private.store_server_secrets(p_secrets jsonb, p_named text[], p_is_file boolean, p_attempt text)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_name text;
  v_secret text;
begin
  for v_name, v_secret in select key, value from jsonb_each_text(p_secrets) loop
    if v_name <> all (p_named) then
      perform private.raise_error('SECRET_INVALID', format('Cannot %s: no server of it names the secret "%s"', p_attempt, v_name),
        'Send only the secrets that the servers name.');
    elsif p_is_file and starts_with(v_name, 'supaswarm/mcp/') then
      perform private.assert_may_administer(p_attempt);
      perform private.assert_secret_is_valid(v_secret);
      perform private.set_secret(p_name => v_name, p_secret => v_secret, p_description => 'By external-mcps.yaml');
      -- The name is that of one server, and only its entry can have it.
      perform private.bind_secret(v_name);
      perform private.record_act('secret.set', '{}', null, jsonb_build_object('name', v_name));
    else
      perform private.operator_set_secret(v_name, v_secret);
    end if;
  end loop;
  v_name := (
    select named.name from unnest(p_named) as named (name)
    where not exists (select from vault.secrets as stored where stored.name = named.name)
    order by named.name
    limit 1
  );
  if v_name is not null then
    perform private.raise_error('SECRET_NOT_FOUND', format('Cannot %s: Vault has no secret "%s"', p_attempt, v_name),
      'Send its value in p_secrets, or disable the entry.');
  end if;
end;
$$;
comment on function private.store_server_secrets(jsonb, text[], boolean, text) is
  'Stores the secrets {name: value} that the servers of a sync name. Raises SECRET_INVALID, SECRET_NOT_FOUND for a named one that is still missing, INSUFFICIENT_SCOPE for callers who may not store keys.';

create function private.operator_sync_servers(
  p_servers jsonb, p_is_file boolean, p_secrets jsonb, p_state text, p_is_dry_run boolean
)
returns jsonb
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_attempt constant text := 'sync the MCP servers';
  v_before jsonb;
  v_after jsonb;
  v_state text;
  v_changes jsonb;
  v_named text[];
  v_gone text[];
begin
  perform private.assert_has_own_scope(v_attempt, 'swarm:configure');
  if jsonb_typeof(p_servers) is distinct from 'object' or jsonb_typeof(p_secrets) is distinct from 'object' or exists (
    select from jsonb_each(p_servers) as listed where jsonb_typeof(listed.value) not in ('object', 'null')
  ) then
    perform private.raise_error('DEFINITION_INVALID', format('Cannot %s: the servers are an object of documents by name', v_attempt),
      'Send {"notes": {"config": {"mcp_url": "https://…"}}}; null is a disabled server.');
  end if;
  perform private.assert_definition_is_flat(v_attempt, p_servers);
  -- A concurrent save, push or sync waits.
  perform pg_advisory_xact_lock(hashtextextended('supaswarm:push', 0));
  perform pg_advisory_xact_lock(hashtextextended('supaswarm:mcps-sync', 0));
  v_before := private.server_documents(p_is_file);
  v_state := md5(v_before::text);
  if not p_is_dry_run and p_state is distinct from v_state then
    perform private.raise_error('DEFINITION_CHANGED', format('Cannot %s: the servers were changed since the plan', v_attempt),
      'Plan again, and send the state of that plan.');
  end if;
  v_named := array(
    select distinct named.name
    from jsonb_each(p_servers) as listed, private.secrets_named_in(nullif(listed.value, 'null')) as named (name)
  );
  -- A disabled entry keeps its secrets.
  v_gone := array(
    select stored.name from vault.secrets as stored
    where p_is_file and starts_with(stored.name, 'supaswarm/mcp/') and stored.name <> all (v_named)
      and p_servers -> split_part(stored.name, '/', 3) is distinct from 'null'
  );
  begin
    perform private.write_servers(
      p_servers => p_servers, p_is_file => p_is_file, p_attempt => v_attempt,
      p_given => array(select given.name from jsonb_object_keys(p_secrets) as given (name)));
    v_after := private.server_documents(p_is_file);
    v_changes := (
      select coalesce(jsonb_agg(private.without_nulls(jsonb_build_object(
        'slug', listed.slug,
        'change', private.change_of_server(
          p_servers ? listed.slug, nullif(p_servers -> listed.slug, 'null'), v_before -> listed.slug, v_after -> listed.slug),
        'fields', nullif(private.changed_fields(v_before -> listed.slug, v_after -> listed.slug), '[]'),
        'before', v_before -> listed.slug,
        'after', v_after -> listed.slug
      )) order by listed.slug), '[]')
      from (
        select jsonb_object_keys(p_servers) as slug
        union
        select jsonb_object_keys(v_before) where p_is_file
      ) as listed
    );
    if p_is_dry_run then
      -- Undoes the block's writes; variables keep their values.
      raise exception using errcode = 'SW001';
    end if;
    perform private.store_server_secrets(
      p_secrets => p_secrets, p_named => v_named, p_is_file => p_is_file, p_attempt => v_attempt);
    perform private.set_secret(p_name => gone.name, p_secret => null, p_description => null),
      private.record_act('secret.removed', '{}', null, jsonb_build_object('name', gone.name))
    from unnest(v_gone) as gone (name);
    perform private.record_act(
      case when one.value -> 'after' is null then 'definition.removed' else 'definition.saved' end, '{}', null,
      jsonb_build_object('kind', 'server', 'slug', one.value -> 'slug', 'fields', one.value -> 'fields')
    )
    from jsonb_array_elements(v_changes) as one
    where one.value ? 'fields';
  exception
    when sqlstate 'SW001' then
      null;
  end;
  return jsonb_build_object(
    'state', v_state,
    'servers', (
      select coalesce(jsonb_agg(one.value || jsonb_build_object('used_by', coalesce(private.affected_by_setting(
        p_kind => 'server', p_slug => one.value ->> 'slug', p_definition => null) -> 'used_by', '[]'))), '[]')
      from jsonb_array_elements(v_changes) as one
    ),
    'secrets', (
      select coalesce(jsonb_agg(jsonb_build_object('name', listed.name, 'state', listed.state) order by listed.name), '[]')
      from (
        select named.name, case when exists (select from vault.secrets as stored where stored.name = named.name)
          then 'stored' else 'missing' end
        from unnest(v_named) as named (name)
        union all
        select gone.name, 'removed' from unnest(v_gone) as gone (name)
      ) as listed (name, state)
    )
  );
end;
$$;
comment on function private.operator_sync_servers(jsonb, boolean, jsonb, text, boolean) is
  'Writes several MCP servers. Definer: users may not write the registry or Vault; assert_has_own_scope() checks the caller.';

create function public.operator_sync_servers(
  p_servers jsonb, p_is_file boolean default false, p_secrets jsonb default '{}', p_state text default null,
  p_is_dry_run boolean default false
)
returns jsonb
language sql
set search_path = ''
as $$
  select private.operator_sync_servers(
    p_servers => operator_sync_servers.p_servers, p_is_file => operator_sync_servers.p_is_file,
    p_secrets => operator_sync_servers.p_secrets, p_state => operator_sync_servers.p_state,
    p_is_dry_run => operator_sync_servers.p_is_dry_run
  );
$$;
comment on function public.operator_sync_servers(jsonb, boolean, jsonb, text, boolean) is
  'Writes external MCP servers {slug: document as in operator_settings, or null for a disabled one} in one transaction, and returns {state, servers: [{slug, change, fields, before, after, used_by}], secrets: [{name, state: stored, missing or removed}]}. p_is_file: the servers are those of external-mcps.yaml, so that its other servers are removed; otherwise they are added to the settings, and nothing is removed. p_secrets: values of secrets that the servers name, for people who may store keys. p_is_dry_run: change nothing, and return what would change; a change needs p_state of that plan. operator_acts records each change. For people with the scope swarm:configure and the service. Raises INSUFFICIENT_SCOPE, AGENT_NOT_ALLOWED, DEFINITION_CHANGED, DEFINITION_INVALID, SECRET_INVALID, SECRET_NOT_FOUND, TOOL_CONFIG_INVALID.';
revoke all on function public.operator_sync_servers(jsonb, boolean, jsonb, text, boolean) from public, anon, authenticated, service_role;
grant execute on function private.operator_sync_servers(jsonb, boolean, jsonb, text, boolean),
  public.operator_sync_servers(jsonb, boolean, jsonb, text, boolean) to authenticated, service_role;
