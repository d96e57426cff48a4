-- Settings over the API, for operators to read. People with the scope swarm:configure change them by
-- operator_save_definition().

create function private.setting_facts(p_kind text, p_slug text)
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
begin
  return private.without_nulls(case p_kind
    when 'provider' then (
      select jsonb_build_object('has_key', case when provider.api_key_secret_name is not null
        then exists (select from vault.secrets as stored where stored.name = provider.api_key_secret_name) end)
      from public.llm_providers as provider
      where provider.name = p_slug
    )
    when 'model' then jsonb_build_object('catalog', private.catalog_document(p_slug), 'about', (
      select jsonb_build_object('window_tokens', listed.window_tokens,
        'abilities', (select jsonb_agg(replace(ability, '_', ' ')) from unnest(listed.abilities) as ability),
        'sources', listed.sources, 'read_on', listed.read_on)
      from private.model_catalog as listed
      where listed.provider || '/' || listed.model = p_slug
    ))
    when 'policy' then (
      select jsonb_build_object('spent_usd', private.usd_of((private.current_spending(policy)).spent_micro_usd))
      from public.model_policies as policy
      where policy.spending_cap_micro_usd is not null and private.policy_slug(policy) = p_slug
    )
    when 'server' then (
      select jsonb_build_object('is_from_file', tool.source = 'yaml', 'is_listed', exists (
        select from public.agent_mcp_connections as connection where connection.tool_id = tool.id and connection.was_listed
      ))
      from public.tools as tool
      where tool.slug = p_slug
    )
    when 'documents' then (
      select jsonb_build_object(
        'indexed_at', project.indexed_at,
        'indexed_commit', project.indexed_commit,
        'document_count', (select count(*) from public.documents as document where document.project_id = project.id),
        'last_sync', (
          select jsonb_build_object('status', sync.status, 'at', coalesce(sync.finished_at, sync.created_at), 'error', sync.error)
          from public.quoth_syncs as sync
          where sync.project_id = project.id
          order by sync.created_at desc
          limit 1
        ),
        'webhook_path', '/functions/v1/' || 'quoth-sync' || '/' || project.slug
      )
      from public.projects as project
      where project.slug = p_slug
    )
    else '{}'
  end);
end;
$$;
comment on function private.setting_facts(text, text) is 'What operators see beside a setting, such as whether a provider has its key. Never a secret.';

create function private.operator_settings()
returns table (kind text, slug text, definition jsonb, facts jsonb)
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  perform private.assert_operator('list the settings');
  return query
    select known.kind, known.slug, known.definition, coalesce(private.setting_facts(known.kind, known.slug), '{}')
    from private.setting_documents() as known
    order by known.kind, known.slug;
end;
$$;
comment on function private.operator_settings() is
  'All settings, for operators. Definer: it reads addresses, names of secrets and quotas, which users may not; assert_operator() checks the caller.';

create function private.operator_setting_kinds()
returns table (kind text, schema json)
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  perform private.assert_operator('list the kinds of settings');
  return query select known.kind, private.setting_schema(known.kind) from unnest(private.setting_kinds()) as known (kind);
end;
$$;
comment on function private.operator_setting_kinds() is
  'The kinds of settings, for operators. Definer: the schemas are private; assert_operator() checks the caller.';

create view public.operator_settings with (security_invoker = true) as
  select * from private.operator_settings();
revoke all on public.operator_settings from anon, authenticated, service_role;
comment on view public.operator_settings is
  'What the project has beside its definitions, one document each: external MCP servers, limits of tool calls, model providers, prices, policies of models, quotas, audiences, retention, and projects with documents. For operators and the service; INSUFFICIENT_SCOPE for all others.';
comment on column public.operator_settings.facts is
  'What is shown beside the document: of a provider has_key, of a model its prices in the catalog and what it can do, of a policy spent_usd in the current period, of a server is_from_file, of documents the last sync.';
create view public.operator_setting_kinds with (security_invoker = true) as
  select * from private.operator_setting_kinds();
revoke all on public.operator_setting_kinds from anon, authenticated, service_role;
comment on view public.operator_setting_kinds is
  'The kinds of settings, each with the JSON Schema of its documents. For operators and the service; INSUFFICIENT_SCOPE for all others.';
grant execute on function private.operator_settings(), private.operator_setting_kinds() to authenticated, service_role;
grant select on public.operator_settings, public.operator_setting_kinds to authenticated, service_role;
