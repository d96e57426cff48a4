-- What is learned from calls that worked: arguments for the user who made them, their shape for all.

create function private.parameter_shape(p_value jsonb, p_schema jsonb)
returns jsonb
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_text text := p_value #>> '{}';
begin
  if p_schema -> 'enum' @> jsonb_build_array(p_value) or p_schema -> 'const' = p_value then
    return p_value;
  end if;
  case jsonb_typeof(p_value)
    when 'object' then
      return coalesce((
        select jsonb_object_agg(field.key, private.parameter_shape(field.value, p_schema -> 'properties' -> field.key))
        from jsonb_each(p_value) as field
        where p_schema -> 'properties' ? field.key
      ), '"<object>"');
    when 'array' then
      return case
        when jsonb_array_length(p_value) = 0 then '[]'
        else jsonb_build_array(private.parameter_shape(p_value -> 0, p_schema -> 'items'))
      end;
    when 'string' then
      return to_jsonb(case
        when v_text ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then '<uuid>'
        when v_text ~ '^\d{4}-\d\d-\d\d$' then '<date>'
        when v_text ~ '^\d{4}-\d\d-\d\d[T ]\d\d:\d\d' then '<date-time>'
        when v_text ~ '^[^@\s]+@[^@\s]+\.[^@\s]+$' then '<email>'
        when v_text ~* '^https?://' then '<url>'
        else '<string>'
      end);
    when 'number' then
      return to_jsonb(case when v_text ~ '^-?\d+$' then '<integer>' else '<number>' end);
    when 'boolean' then
      return to_jsonb('<boolean>'::text);
    else
      return 'null'::jsonb;
  end case;
end;
$$;
comment on function private.parameter_shape(jsonb, jsonb) is
  'The keys, types, formats and enum values of arguments, without any other value. Keys that the schema does not declare are left out: they may be data.';
revoke all on function private.parameter_shape(jsonb, jsonb) from public;
grant execute on function private.parameter_shape(jsonb, jsonb) to service_role;

create function private.storable_parameters(p_value jsonb)
returns jsonb
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  c_max_characters constant int := 256;
  c_secret_key constant text :=
    '(password|passphrase|passwd|secret|authorization|credential|cookie|api[_-]?key|private[_-]?key|access[_-]?key|token$)';
begin
  case jsonb_typeof(p_value)
    when 'object' then
      return coalesce((
        select jsonb_object_agg(field.key, case
          when field.key ~* c_secret_key then '"<redacted>"'
          else private.storable_parameters(field.value)
        end)
        from jsonb_each(p_value) as field
      ), '{}');
    when 'array' then
      return coalesce((
        select jsonb_agg(private.storable_parameters(item.value) order by item.place)
        from jsonb_array_elements(p_value) with ordinality as item (value, place)
      ), '[]');
    when 'string' then
      return case
        when length(p_value #>> '{}') > c_max_characters
          then to_jsonb(format('<text of %s characters>', length(p_value #>> '{}')))
        else p_value
      end;
    else
      return p_value;
  end case;
end;
$$;
comment on function private.storable_parameters(jsonb) is
  'Arguments as they may be remembered: no value under a key that names a secret, no text longer than 256 characters.';
revoke all on function private.storable_parameters(jsonb) from public;
grant execute on function private.storable_parameters(jsonb) to service_role;

create function private.append_parameters(p_sets jsonb, p_set jsonb)
returns jsonb
language sql
immutable
security invoker
set search_path = ''
as $$
  with kept as (
    select item.value, item.place
    from jsonb_array_elements(p_sets) with ordinality as item (value, place)
    where item.value <> p_set
    order by item.place desc
    limit 9
  )
  select coalesce(jsonb_agg(kept.value order by kept.place), '[]') || jsonb_build_array(p_set)
  from kept;
$$;
comment on function private.append_parameters(jsonb, jsonb) is
  'The ten most recent distinct sets, newest last; a repeated set moves to the newest place.';
revoke all on function private.append_parameters(jsonb, jsonb) from public;
grant execute on function private.append_parameters(jsonb, jsonb) to service_role;

create function public.record_mcp_tool_execution(
  p_connection_id uuid,
  p_tool_name text,
  p_parameters jsonb,
  p_success boolean default true
)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_tool record;
begin
  if not p_success or jsonb_typeof(p_parameters) is distinct from 'object' then
    return;
  end if;
  -- One statement, so that a concurrent success waits for the row and then appends to the
  -- list as it has become.
  update public.mcp_tools_cache cached
  set successful_parameters = private.append_parameters(
        cached.successful_parameters,
        case when connection.user_id is null
          then private.parameter_shape(p_parameters, cached.tool_schema -> 'inputSchema')
          else private.storable_parameters(p_parameters)
        end),
      last_successful_call = clock_timestamp(),
      success_count = cached.success_count + 1
  from public.agent_mcp_connections connection
  where connection.id = cached.connection_id
    and cached.connection_id = p_connection_id
    and cached.tool_name = p_tool_name
  returning connection.tool_id, connection.user_id, cached.tool_version, cached.tool_schema, cached.openai_schema
  into v_tool;

  if not found or v_tool.user_id is null then
    return;
  end if;
  insert into public.mcp_tools_cache as cached (
    connection_id, tool_name, tool_version, tool_schema, openai_schema,
    successful_parameters, last_successful_call, success_count
  )
  values (
    private.ensure_connection(v_tool.tool_id, null), p_tool_name,
    v_tool.tool_version, v_tool.tool_schema, v_tool.openai_schema,
    jsonb_build_array(private.parameter_shape(p_parameters, v_tool.tool_schema -> 'inputSchema')),
    clock_timestamp(), 1
  )
  on conflict (connection_id, tool_name) do update
  set successful_parameters = private.append_parameters(
        cached.successful_parameters, excluded.successful_parameters -> 0),
      last_successful_call = excluded.last_successful_call,
      success_count = cached.success_count + 1;
end;
$$;
comment on function public.record_mcp_tool_execution(uuid, text, jsonb, boolean) is
  'Remembers the arguments of a call that worked on the caller''s own connection, and their shape on the connection without a user. Called by the gateway; a failed call changes nothing.';
revoke all on function public.record_mcp_tool_execution(uuid, text, jsonb, boolean) from public, anon, authenticated;
grant execute on function public.record_mcp_tool_execution(uuid, text, jsonb, boolean) to service_role;

create function public.record_mcp_tool_success(p_connection_id uuid)
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  update public.agent_mcp_connections connection
  set health = 'healthy', last_success_at = clock_timestamp(), failure_count = 0
  where connection.id = p_connection_id;
$$;
comment on function public.record_mcp_tool_success(uuid) is
  'Marks a connection healthy: its server answered. Called by the gateway.';
revoke all on function public.record_mcp_tool_success(uuid) from public, anon, authenticated;
grant execute on function public.record_mcp_tool_success(uuid) to service_role;
