-- Definitions and settings over the API: operators read them, and people with the scope swarm:configure change them.
-- What they change of a definition shows as drift from the files of the last push.

create function private.operator_definitions()
returns table (
  kind text, slug text, definition jsonb, revision int, is_pushed boolean, pushed_at timestamptz, pushed_by text, drift jsonb
)
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  perform private.assert_operator('list the definitions');
  return query
    select known.kind, known.slug, known.definition,
      (select agent.revision from public.agents as agent where known.kind = 'agent' and agent.slug = known.slug),
      pushed.slug is not null, pushed.pushed_at, pushed.pushed_by,
      case when pushed.slug is not null then private.changed_fields(pushed.definition, known.definition) else '[]' end
    from private.definitions() as known
    left join private.pushed_definitions as pushed on pushed.kind = known.kind and pushed.slug = known.slug
    order by known.kind, known.slug;
end;
$$;
comment on function private.operator_definitions() is
  'All definitions, for operators. Definer: definitions have prompts, which users may not read; assert_operator() checks the caller.';
create view public.operator_definitions with (security_invoker = true) as
  select * from private.operator_definitions();
revoke all on public.operator_definitions from anon, authenticated, service_role;
comment on view public.operator_definitions is
  'Agents, HTTP and function tools, skills, alerts, row triggers, and schedules and webhooks of the service, in the words of the files in agents/. For operators and the service; INSUFFICIENT_SCOPE for all others.';
comment on column public.operator_definitions.revision is 'The newest revision of an agent; null for the other kinds.';
comment on column public.operator_definitions.drift is 'The fields that were changed in the database since the last push.';
grant execute on function private.operator_definitions() to authenticated, service_role;
grant select on public.operator_definitions to authenticated, service_role;

create function private.definition_of(p_kind text, p_slug text)
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
begin
  if p_kind = any (private.setting_kinds()) then
    return (select known.definition from private.setting_documents() as known where known.kind = p_kind and known.slug = p_slug);
  end if;
  return (select known.definition from private.definitions() as known where known.kind = p_kind and known.slug = p_slug);
end;
$$;
comment on function private.definition_of(text, text) is 'A definition or setting, or null if there is none.';

create function private.caller_email()
returns text
language plpgsql
stable
set search_path = ''
as $$
begin
  return (select caller.email from auth.users as caller where caller.id = auth.uid());
end;
$$;
comment on function private.caller_email() is 'The e-mail address of the calling user; null for the service.';

create function private.write_document(p_kind text, p_slug text, p_definition jsonb, p_attempt text)
returns jsonb
language plpgsql
set search_path = ''
as $$
declare
  v_bound_secrets constant jsonb[] := array(select private.secret_bindings());
  v_after jsonb;
begin
  perform set_config('supaswarm.pushed_by', coalesce(private.caller_email(), ''), true);
  if p_kind = any (private.setting_kinds()) then
    perform private.write_setting(p_kind => p_kind, p_slug => p_slug, p_definition => p_definition);
  elsif p_definition is null then
    perform private.remove_definition(p_kind, p_slug);
  else
    perform private.write_definitions(
      jsonb_build_array(jsonb_build_object('kind', p_kind, 'slug', p_slug, 'definition', p_definition))
    );
  end if;
  v_after := private.definition_of(p_kind, p_slug);
  if p_kind in ('tool', 'server', 'provider') then
    perform private.bind_document_secrets(
      p_kind => p_kind, p_slug => p_slug, p_bound => v_bound_secrets, p_given => '{}', p_attempt => p_attempt);
  end if;
  return v_after;
end;
$$;
comment on function private.write_document(text, text, jsonb, text) is
  'Writes or (null) removes a definition or setting for a caller of the API, who may only use keys for what they are bound to, and returns it as it is now. p_attempt completes the sentence "Cannot …". Raises SECRET_INVALID and what writing raises.';

create function private.operator_save_definition(p_kind text, p_slug text, p_definition jsonb, p_base jsonb, p_is_dry_run boolean)
returns jsonb
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_attempt constant text := format('save the %s "%s"', p_kind, p_slug);
  v_kinds constant text[] := private.definition_kinds() || private.setting_kinds();
  v_is_setting constant boolean := p_kind = any (private.setting_kinds());
  v_before jsonb;
  v_after jsonb;
  v_affected jsonb;
  v_problems jsonb;
begin
  perform private.assert_has_own_scope(v_attempt, 'swarm:configure');
  if p_slug is null or (p_kind = any (v_kinds)) is not true or jsonb_typeof(p_definition) <> 'object' then
    perform private.raise_error('DEFINITION_INVALID', format('Cannot %s: definitions are objects with a kind and a slug', v_attempt),
      format('The kinds are %s.', array_to_string(v_kinds, ', ')));
  end if;
  -- A concurrent push or save waits.
  perform pg_advisory_xact_lock(hashtextextended('supaswarm:push', 0));
  v_before := private.definition_of(p_kind, p_slug);
  if v_before is distinct from p_base then
    perform private.raise_error('DEFINITION_CHANGED', format('Cannot %s: %s', v_attempt, case
      when p_base is null then 'it exists already'
      when v_before is null then 'it was removed in the meantime'
      else 'it was changed in the meantime'
    end), format('Read it from %s and repeat your change.', case when v_is_setting then 'operator_settings' else 'operator_definitions' end));
  end if;
  v_affected := case when v_is_setting then private.affected_by_setting(p_kind => p_kind, p_slug => p_slug, p_definition => p_definition)
    else private.affected_by(p_kind, p_slug) end;
  begin
    v_after := private.write_document(
      p_kind => p_kind, p_slug => p_slug, p_definition => p_definition, p_attempt => v_attempt);
    v_problems := (
      select coalesce(jsonb_agg(to_jsonb(listed)), '[]') from private.configuration_problems() as listed
      where listed.kind = p_kind and listed.name = p_slug
    );
    if p_is_dry_run then
      -- Undoes the block's writes; variables keep their values.
      raise exception using errcode = 'SW001';
    end if;
  exception
    when sqlstate 'SW001' then
      null;
  end;
  if p_is_dry_run is not true and v_before is distinct from v_after then
    perform private.record_act(
      case when p_definition is null then 'definition.removed' else 'definition.saved' end, '{}', null,
      jsonb_build_object('kind', p_kind, 'slug', p_slug, 'fields', private.changed_fields(v_before, v_after))
    );
  end if;
  return jsonb_build_object(
    'before', v_before, 'after', v_after, 'fields', private.changed_fields(v_before, v_after),
    'affected', v_affected, 'problems', v_problems
  );
end;
$$;
comment on function private.operator_save_definition(text, text, jsonb, jsonb, boolean) is
  'Writes or removes a definition or setting. Definer: users may not write the registry; assert_has_own_scope() checks the caller.';

create function public.operator_save_definition(
  p_kind text, p_slug text, p_definition jsonb, p_base jsonb default null, p_is_dry_run boolean default false
)
returns jsonb
language sql
set search_path = ''
as $$
  select private.operator_save_definition(
    p_kind => operator_save_definition.p_kind, p_slug => operator_save_definition.p_slug,
    p_definition => operator_save_definition.p_definition, p_base => operator_save_definition.p_base,
    p_is_dry_run => operator_save_definition.p_is_dry_run
  );
$$;
comment on function public.operator_save_definition(text, text, jsonb, jsonb, boolean) is
  'Writes a definition or setting (null removes it; an agent that has tasks is deactivated instead) and returns {before, after, fields, affected, problems}, as push does. p_base: what the caller read, null for a new one; it must still be current. p_is_dry_run: change nothing, and return what would change. operator_acts records the change. For people with the scope swarm:configure and the service. Raises INSUFFICIENT_SCOPE, AGENT_NOT_ALLOWED, DEFINITION_CHANGED, DEFINITION_INVALID, SECRET_INVALID for a secret that is not a key of the project, and what writing the row raises, such as AGENT_INVALID.';
revoke all on function public.operator_save_definition(text, text, jsonb, jsonb, boolean) from public, anon, authenticated, service_role;
grant execute on function private.operator_save_definition(text, text, jsonb, jsonb, boolean),
  public.operator_save_definition(text, text, jsonb, jsonb, boolean) to authenticated, service_role;

create function private.operator_rollback_agent(p_slug text, p_revision int)
returns int
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_revision int;
begin
  perform private.assert_has_own_scope(format('roll back the agent "%s"', p_slug), 'swarm:configure');
  v_revision := private.rollback_agent(p_slug => p_slug, p_revision => p_revision, p_author => private.caller_email());
  perform private.record_act('agent.rolled_back', '{}', null,
    jsonb_build_object('kind', 'agent', 'slug', p_slug, 'to', p_revision, 'revision', v_revision));
  return v_revision;
end;
$$;
comment on function private.operator_rollback_agent(text, int) is
  'Rolls back an agent. Definer: users may not write the registry; assert_has_own_scope() checks the caller.';

create function public.operator_rollback_agent(p_slug text, p_revision int)
returns int
language sql
set search_path = ''
as $$
  select private.operator_rollback_agent(operator_rollback_agent.p_slug, operator_rollback_agent.p_revision);
$$;
comment on function public.operator_rollback_agent(text, int) is
  'Writes an earlier revision of an agent as its newest, and returns the newest number. operator_acts records it. For people with the scope swarm:configure and the service. Raises INSUFFICIENT_SCOPE, AGENT_NOT_ALLOWED, AGENT_NOT_FOUND, REVISION_NOT_FOUND, DEFINITION_INVALID, and the codes for what the revision names and no longer exists.';
revoke all on function public.operator_rollback_agent(text, int) from public, anon, authenticated, service_role;
grant execute on function private.operator_rollback_agent(text, int), public.operator_rollback_agent(text, int)
  to authenticated, service_role;
