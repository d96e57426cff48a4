-- Tries: a draft of a tool or server runs before it is saved, for people who may save it.

create function private.begin_tool_try(p_try jsonb)
returns jsonb
language plpgsql
set search_path = ''
as $$
declare
  v_caller constant jsonb := p_try -> 'caller';
  v_kind constant text := p_try ->> 'kind';
  v_slug constant text := p_try ->> 'server';
  v_attempt constant text := format('try the %s "%s"', v_kind, v_slug);
  v_user_id constant uuid := private.tool_call_user(v_caller);
  v_tool public.tools;
  v_call jsonb;
begin
  perform set_config('request.jwt.claims', jsonb_strip_nulls(jsonb_build_object(
    'sub', v_user_id, 'client_id', v_caller ->> 'client_id',
    'supaswarm_actor', case when (v_caller ->> 'is_agent')::boolean then 'agent' end
  ))::text, true);
  perform private.assert_not_agent(v_attempt);
  if not (v_caller ->> 'is_service')::boolean
    and not private.grants_own_scope(v_user_id, v_caller ->> 'client_id', 'swarm:configure') then
    perform private.raise_missing_own_scope(v_attempt, 'swarm:configure');
  end if;
  perform private.take_from_minute(
    p_name => 'tool_list_refreshes_per_minute', p_user_id => v_user_id, p_action => v_attempt);
  begin
    -- An inactive draft can be tried too.
    perform private.write_document(
      p_kind => v_kind, p_slug => v_slug, p_definition => (p_try -> 'definition') - 'is_active', p_attempt => v_attempt);
    select tool.* into v_tool from public.tools as tool where tool.slug = v_slug;
    v_call := private.begin_tool_call(jsonb_build_object(
      'server', v_slug, 'tool_name', coalesce(p_try ->> 'tool_name', ''), 'caller', v_caller, 'is_charged', true));
    if (v_call ->> 'is_allowed')::boolean then
      v_call := v_call || jsonb_build_object(
        'secrets', private.required_call_secrets(p_tool => v_tool, p_user_id => v_user_id, p_is_agent => false));
    end if;
    -- Undoes the block's writes; variables keep their values.
    raise exception using errcode = 'SW001';
  exception
    when sqlstate 'SW001' then
      null;
  end;
  perform private.record_act('tool.tried', '{}', null,
    jsonb_build_object('kind', v_kind, 'slug', v_slug, 'tool', p_try ->> 'tool_name'));
  -- Nothing that is known of a saved tool of this name describes the draft. Its author decides what it does,
  -- so no scope of its name protects anything.
  return v_call || jsonb_build_object(
    'session_id', null, 'scopes', null, 'cached', null, 'tools_listed_at', null, 'listing_error', null,
    'breaker', 'closed', 'retry_at', null,
    'connection', (v_call -> 'connection') || '{"protocol": null, "discovery": null, "session": null, "are_instructions_approved": false}'
  );
end;
$$;
comment on function private.begin_tool_try(jsonb) is
  'The result of begin_tool_call() for a draft {kind (tool or server), server, definition, tool_name, caller} as if it were saved. The draft is written with the checks of a save and undone in the same statement, so no other transaction sees it. Counts as tool_list_refreshes_per_minute, and operator_acts records it. Only for the service and people whose own grant has swarm:configure. Raises AGENT_NOT_ALLOWED, INSUFFICIENT_SCOPE, QUOTA_EXCEEDED, SECRET_NOT_FOUND, CREDENTIAL_REQUIRED and what operator_save_definition() raises. Called by the gateway.';
