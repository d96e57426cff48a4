-- The lists of tools that servers send, and the servers that cannot list theirs.

create function private.newest_versions(p_tools jsonb)
returns jsonb
language sql
immutable
set search_path = ''
as $$
  select coalesce(jsonb_agg(newest.tool order by newest.place), '[]')
  from (
    select distinct on (listed.tool ->> 'name') listed.tool, listed.place
    from jsonb_array_elements(p_tools) with ordinality as listed (tool, place)
    order by listed.tool ->> 'name',
      string_to_array(substring(listed.tool ->> 'version' from '^[0-9]{1,9}(?:\.[0-9]{1,9})*$'), '.')::int[] desc nulls last,
      listed.place
  ) as newest;
$$;
comment on function private.newest_versions(jsonb) is
  'The newest version of each tool in [{name, version}]. Older versions are not listed; the server still implements them.';

create unlogged table private.prepared_tools (
  connection_id uuid not null references public.agent_mcp_connections (id) on delete cascade,
  definition_hash text not null,
  openai_schema jsonb not null,
  schema_losses jsonb not null,
  primary key (connection_id, definition_hash)
);
comment on table private.prepared_tools is
  'Converted definitions of lists that are not complete yet, so that a caller that dies leaves its work to the next one. record_tools() deletes them.';
alter table private.prepared_tools enable row level security;

create function private.forms_of(p_connection_id uuid)
returns table (definition_hash text, openai_schema jsonb, schema_losses jsonb)
language sql
stable
set search_path = ''
as $$
  select prepared.definition_hash, prepared.openai_schema, prepared.schema_losses
  from private.prepared_tools as prepared
  where prepared.connection_id = p_connection_id
  union all
  select form.hash, form.openai_schema, form.schema_losses
  from public.agent_mcp_connections as connection
  join public.mcp_tools_cache as cached on cached.connection_id = connection.id
  cross join lateral (
    values
      (cached.definition_hash, cached.openai_schema, cached.schema_losses),
      (cached.held_definition ->> 'hash', cached.held_definition -> 'openai_schema', cached.held_definition -> 'schema_losses')
  ) as form (hash, openai_schema, schema_losses)
  -- Another release may convert in another way.
  where connection.id = p_connection_id and connection.prepared_by = private.schema_version() and form.hash is not null;
$$;
comment on function private.forms_of(uuid) is 'The stored forms of a connection''s definitions, as this release converts them: these need not be converted again when the server lists them. Called by the gateway.';

create function private.prepare_tools(p_connection_id uuid, p_tools jsonb)
returns void
language sql
set search_path = ''
as $$
  insert into private.prepared_tools (connection_id, definition_hash, openai_schema, schema_losses)
  select p_connection_id, tool.hash, tool.openai_schema, tool.schema_losses
  from jsonb_to_recordset(p_tools) as tool (hash text, openai_schema jsonb, schema_losses jsonb)
  on conflict do nothing;
$$;
comment on function private.prepare_tools(uuid, jsonb) is
  'Stores converted definitions [{hash, openai_schema, schema_losses}] of a list that is not complete yet. Called by the gateway.';

create function private.with_forms(p_connection_id uuid, p_tools jsonb)
returns jsonb
language sql
stable
set search_path = ''
as $$
  select coalesce(jsonb_agg(
    case when form.definition_hash is null then listed.tool else listed.tool || jsonb_build_object(
      'openai_schema', form.openai_schema, 'schema_losses', form.schema_losses) end
    order by listed.place), '[]')
  from jsonb_array_elements(p_tools) with ordinality as listed (tool, place)
  left join (
    select distinct on (stored.definition_hash) stored.* from private.forms_of(p_connection_id) as stored
  ) as form on form.definition_hash = listed.tool ->> 'hash' and listed.tool -> 'openai_schema' = 'null';
$$;
comment on function private.with_forms(uuid, jsonb) is
  'The tools [{hash, openai_schema}] of a list, with the stored forms of those that were sent without.';

create function private.record_tools(p_connection_id uuid, p_listing jsonb)
returns int
language plpgsql
set search_path = ''
as $$
declare
  v_tools jsonb := private.with_forms(p_connection_id, private.newest_versions(p_listing -> 'tools'));
  v_is_remote boolean := (p_listing ->> 'is_remote')::boolean;
  v_pin jsonb;
  v_changed int;
begin
  -- Serialize concurrent listings, so that the later list is stored as a whole.
  perform from public.agent_mcp_connections connection
  where connection.id = p_connection_id
  for no key update;
  if v_is_remote and not coalesce((p_listing ->> 'is_trusted')::boolean, false) then
    v_pin := private.pin_definitions(
      p_connection_id,
      (select coalesce(jsonb_object_agg(tool ->> 'name', tool -> 'hash'), '{}') from jsonb_array_elements(v_tools) as tool),
      (p_listing ->> 'holds_new')::boolean
    );
  end if;

  insert into public.mcp_tools_cache as cached
    (connection_id, tool_name, tool_version, tool_schema, openai_schema, schema_losses, definition_hash, scopes, state, held_definition)
  select p_connection_id, tool ->> 'name', tool ->> 'version', tool -> 'schema', tool -> 'openai_schema',
    coalesce(tool -> 'schema_losses', '{}'), tool ->> 'hash', array(select jsonb_array_elements_text(tool -> 'scopes')), judged.state,
    case when judged.state <> 'approved' then jsonb_build_object(
      'version', tool -> 'version', 'schema', tool -> 'schema',
      'openai_schema', tool -> 'openai_schema',
      'schema_losses', coalesce(tool -> 'schema_losses', '{}'), 'hash', tool -> 'hash') end
  from jsonb_array_elements(v_tools) as tool
  cross join lateral (
    select case
      when v_pin is null or v_pin -> (tool ->> 'name') ? (tool ->> 'hash') then 'approved'
      when v_pin ? (tool ->> 'name') then 'quarantined'
      else 'pending'
    end as state
  ) as judged
  on conflict (connection_id, tool_name) do update
  set state = excluded.state,
      held_definition = excluded.held_definition,
      scopes = excluded.scopes,
      -- A definition that is not approved is stored next to the approved one.
      tool_version = case when excluded.state = 'approved' then excluded.tool_version else cached.tool_version end,
      tool_schema = case when excluded.state = 'approved' then excluded.tool_schema else cached.tool_schema end,
      openai_schema = case when excluded.state = 'approved' then excluded.openai_schema else cached.openai_schema end,
      schema_losses = case when excluded.state = 'approved' then excluded.schema_losses else cached.schema_losses end,
      definition_hash = case when excluded.state = 'approved' then excluded.definition_hash else cached.definition_hash end,
      is_own = cached.is_own or excluded.state = 'approved',
      last_updated = now()
  where (cached.tool_version, cached.tool_schema, cached.openai_schema, cached.schema_losses, cached.scopes, cached.state, cached.held_definition, cached.is_own)
    is distinct from
    (excluded.tool_version, excluded.tool_schema, excluded.openai_schema, excluded.schema_losses, excluded.scopes, excluded.state, excluded.held_definition, cached.is_own or excluded.state = 'approved');
  get diagnostics v_changed = row_count;

  delete from public.mcp_tools_cache cached
  where cached.connection_id = p_connection_id
    and not exists (
      select 1 from jsonb_array_elements(v_tools) as tool where tool ->> 'name' = cached.tool_name
    );

  delete from private.prepared_tools as prepared where prepared.connection_id = p_connection_id;
  update public.agent_mcp_connections connection
  set tools_listed_at = clock_timestamp(), prepared_by = private.schema_version(), dropped_tools = coalesce(p_listing -> 'dropped', '[]'),
      listing_started_at = null, listing_failed_at = null, listing_error = null
  where connection.id = p_connection_id;
  if v_is_remote then
    perform private.record_connection_answer(p_connection_id);
  end if;
  return v_changed;
end;
$$;
comment on function private.record_tools(uuid, jsonb) is
  'Stores the complete list of a server {tools: [{name, version, schema, openai_schema, schema_losses, hash, scopes}], dropped, is_remote, is_trusted, holds_new}. Keeps the newest of several versions of a tool, writes only rows that differ, removes tools that are missing from the list, takes the stored forms of tools that come without, and holds back unapproved definitions of remote servers unless the operator trusts the server. Returns how many rows were written. Called by the gateway.';

create function private.delete_outdated_parameters()
returns trigger
language plpgsql
set search_path = ''
as $$
begin
  new.successful_parameters := '[]';
  new.success_count := 0;
  return new;
end;
$$;
comment on function private.delete_outdated_parameters() is
  'Row trigger: deletes learned arguments when the schema of the arguments changes, because they are no example for the new schema.';

create trigger delete_outdated_parameters before update of tool_schema on public.mcp_tools_cache
  for each row when (old.tool_schema -> 'inputSchema' is distinct from new.tool_schema -> 'inputSchema')
  execute function private.delete_outdated_parameters();

create function private.report_absent_tools(p_task_id uuid, p_servers jsonb)
returns void
language sql
set search_path = ''
as $$
  update public.tasks as task
  set warnings = task.warnings || coalesce((
    select jsonb_agg(jsonb_build_object('server', absent.server, 'code', absent.code, 'message', left(absent.message, 500)))
    from jsonb_to_recordset(p_servers) as absent (server text, code text, message text)
    where not task.warnings @> jsonb_build_array(jsonb_build_object('server', absent.server, 'code', absent.code))
  ), '[]')
  where task.id = report_absent_tools.p_task_id and jsonb_array_length(task.warnings) < 20;

  select private.emit_event(task.id, task.master_task_id, 'tool.failed', jsonb_build_object(
    'server', absent.server, 'error_code', absent.code, 'text', absent.message
  ))
  from (
    -- Events of a task are written under its lock; see read_events().
    select id, master_task_id from public.tasks where id = report_absent_tools.p_task_id for no key update
  ) as task
  cross join jsonb_to_recordset(p_servers) as absent (server text, code text, message text)
  -- Report once per task, not at each claim.
  where not exists (
    select from private.task_events as event
    where event.task_id = task.id
      and event.type = 'tool.failed'
      and not event.payload ? 'step_seq'
      and event.payload ->> 'server' = absent.server
      and event.payload ->> 'error_code' = absent.code
  );
$$;
comment on function private.report_absent_tools(uuid, jsonb) is
  'Adds a warning to a task, and an event to its trace, for each server [{server, code, message}] that could not list its tools. Called by the gateway.';
