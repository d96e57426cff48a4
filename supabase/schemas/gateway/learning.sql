-- Learning from successful calls: their arguments for the same user, and the shape of the arguments for
-- all users.

create function private.parameter_shape(p_value jsonb, p_schema jsonb, p_max_depth int default 32)
returns jsonb
language plpgsql
immutable
set search_path = ''
as $$
declare
  v_text text := p_value #>> '{}';
begin
  if p_schema -> 'enum' @> jsonb_build_array(p_value) or p_schema -> 'const' = p_value then
    return p_value;
  end if;
  if p_max_depth = 0 and jsonb_typeof(p_value) in ('object', 'array') then
    return to_jsonb(format('<%s>', jsonb_typeof(p_value)));
  end if;
  case jsonb_typeof(p_value)
    when 'object' then
      return coalesce((
        select jsonb_object_agg(field.key, private.parameter_shape(
          field.value, p_schema -> 'properties' -> field.key, p_max_depth - 1))
        from jsonb_each(p_value) as field
        where p_schema -> 'properties' ? field.key
      ), '"<object>"');
    when 'array' then
      return case
        when jsonb_array_length(p_value) = 0 then '[]'
        else jsonb_build_array(private.parameter_shape(p_value -> 0, p_schema -> 'items', p_max_depth - 1))
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
comment on function private.parameter_shape(jsonb, jsonb, int) is
  'The keys, types, formats and enum values of arguments, without other values; below p_max_depth levels only the type. Keys that the schema does not declare are omitted, because they may be data.';
grant execute on function private.parameter_shape(jsonb, jsonb, int) to service_role;

create function private.storable_parameters(
  p_value jsonb, p_max_characters int default 256, p_max_items int default null, p_max_depth int default 32
)
returns jsonb
language plpgsql
immutable
set search_path = ''
as $$
declare
  c_secret_key constant text :=
    '(password|passphrase|passwd|secret|authorization|credential|cookie|api[_-]?key|private[_-]?key|access[_-]?key|token$)';
  c_secret_value constant text :=
    '(\meyJ[\w-]{8,}\.[\w-]{8,}\.|\m(sk|pk|rk|sb|gh[opusr]|github_pat|xox[abposr]|glpat|AKIA|AIza)[_-]?[A-Za-z0-9_-]{16,}|-----BEGIN|://[^/\s:@]+:[^/\s@]+@|\m(Bearer|Basic) +[A-Za-z0-9._~+/-]{8,})';
begin
  -- Limits the recursion, because the database's stack is limited.
  if p_max_depth = 0 and jsonb_typeof(p_value) in ('object', 'array') then
    return '"<left out>"'::jsonb;
  end if;
  case jsonb_typeof(p_value)
    when 'object' then
      return coalesce((
        select jsonb_object_agg(field.key, case
          when field.key ~* c_secret_key then '"<redacted>"'
          else private.storable_parameters(field.value, p_max_characters, p_max_items, p_max_depth - 1)
        end)
        from jsonb_each(p_value) as field
      ), '{}');
    when 'array' then
      return coalesce((
        select jsonb_agg(
          private.storable_parameters(item.value, p_max_characters, p_max_items, p_max_depth - 1)
          order by item.place)
        from jsonb_array_elements(p_value) with ordinality as item (value, place)
        where item.place <= coalesce(p_max_items, item.place)
      ), '[]');
    when 'string' then
      return case
        when length(p_value #>> '{}') > p_max_characters
          then to_jsonb(format('<text of %s characters>', length(p_value #>> '{}')))
        when p_value #>> '{}' ~ c_secret_value then '"<redacted>"'
        else p_value
      end;
    else
      return p_value;
  end case;
end;
$$;
comment on function private.storable_parameters(jsonb, int, int, int) is
  'Arguments in the form that may be stored: without values under keys that name a secret, without text that looks like a key or token, with texts and lists cut to the given lengths (null items: whole lists), and without values below p_max_depth levels.';
grant execute on function private.storable_parameters(jsonb, int, int, int) to service_role;

create function private.example_parameters(p_parameters jsonb)
returns jsonb
language plpgsql
immutable
set search_path = ''
as $$
declare
  c_max_characters constant int := 4096;
  v_set jsonb := private.storable_parameters(p_parameters, 256, 10);
begin
  if length(v_set::text) > c_max_characters then
    v_set := private.storable_parameters(p_parameters, 64, 3);
  end if;
  if length(v_set::text) > c_max_characters then
    v_set := private.storable_parameters(p_parameters, 16, 1);
  end if;
  if length(v_set::text) > c_max_characters then
    v_set := (
      select jsonb_object_agg(left(field.key, 32), '<left out>'::text)
      from (select key from jsonb_object_keys(p_parameters) as keys (key) limit 16) as field
    );
  end if;
  return v_set;
end;
$$;
comment on function private.example_parameters(jsonb) is
  'Arguments as an example for the next call: storable_parameters() with at most 4,096 characters. To fit, long texts and lists are cut more and more. The remaining items of a list still match the tool''s schema.';
grant execute on function private.example_parameters(jsonb) to service_role;

create function private.max_examples()
returns int
language sql
immutable
set search_path = ''
as $$
  select 10;
$$;
comment on function private.max_examples() is 'How many sets of arguments that worked are kept for a tool.';
grant execute on function private.max_examples() to service_role;

create function private.append_parameters(p_sets jsonb, p_set jsonb)
returns jsonb
language plpgsql
immutable
set search_path = ''
as $$
begin
  if p_sets -> -1 = p_set then
    return p_sets;
  end if;
  return (
    with kept as (
      select item.value, item.place
      from jsonb_array_elements(p_sets) with ordinality as item (value, place)
      where item.value <> p_set
      order by item.place desc
      limit private.max_examples() - 1
    )
    select coalesce(jsonb_agg(kept.value order by kept.place), '[]') || jsonb_build_array(p_set)
    from kept
  );
end;
$$;
comment on function private.append_parameters(jsonb, jsonb) is
  'The ten most recent distinct sets, newest last. A repeated set moves to the end.';
grant execute on function private.append_parameters(jsonb, jsonb) to service_role;

create function private.without_parameters(p_sets jsonb, p_set jsonb)
returns jsonb
language sql
immutable
set search_path = ''
as $$
  select coalesce(jsonb_agg(item.value order by item.place), '[]')
  from jsonb_array_elements(p_sets) with ordinality as item (value, place)
  where item.value <> p_set;
$$;
comment on function private.without_parameters(jsonb, jsonb) is 'The sets without the given one.';

create function private.renew_shared_definition(p_service_id uuid, p_cached_id uuid)
returns boolean
language plpgsql
set search_path = ''
as $$
begin
  update public.mcp_tools_cache as shared
  set tool_version = own.tool_version,
      tool_schema = own.tool_schema,
      openai_schema = own.openai_schema,
      schema_losses = own.schema_losses,
      definition_hash = own.definition_hash,
      is_own = false,
      scopes = own.scopes,
      last_updated = clock_timestamp()
  from public.mcp_tools_cache as own, public.agent_mcp_connections as service
  where own.id = renew_shared_definition.p_cached_id
    and own.state = 'approved'
    and service.id = renew_shared_definition.p_service_id
    and shared.connection_id = service.id
    and shared.tool_name = own.tool_name
    -- Only a newer definition: users with different definitions must not keep replacing each other's.
    and own.last_updated > greatest(shared.last_updated, service.tools_listed_at);
  return found;
end;
$$;
comment on function private.renew_shared_definition(uuid, uuid) is
  'Copies the definition of a user''s row to the connection without a user if it is newer than that connection''s own, and returns true if it did. Learned arguments of another argument schema are deleted.';
grant execute on function private.renew_shared_definition(uuid, uuid) to service_role;

create function private.learn_parameters(
  p_connection_id uuid,
  p_tool_name text,
  p_parameters jsonb
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_known record;
  v_set jsonb;
  v_tool record;
  v_service_id uuid;
  v_shape jsonb;
begin
  if jsonb_typeof(p_parameters) is distinct from 'object' then
    return;
  end if;
  select connection.user_id, cached.tool_schema, cached.successful_parameters as sets, cached.last_successful_call
  into v_known
  from public.mcp_tools_cache as cached
  join public.agent_mcp_connections as connection on connection.id = cached.connection_id
  where cached.connection_id = p_connection_id and cached.tool_name = p_tool_name;
  v_set := case when v_known.user_id is null
    then private.parameter_shape(p_parameters, v_known.tool_schema -> 'inputSchema')
    else private.example_parameters(p_parameters)
  end;
  -- At most once a second when there is nothing new or no room: else all callers of a busy tool would wait
  -- for the same two rows.
  if v_known.last_successful_call > clock_timestamp() - interval '1 second'
    and (jsonb_array_length(v_known.sets) = private.max_examples()
      or v_set in (select known.value from jsonb_array_elements(v_known.sets) as known)) then
    return;
  end if;
  -- One statement, so that a concurrent success waits for the row and then appends to the updated list.
  update public.mcp_tools_cache cached
  set successful_parameters = private.append_parameters(cached.successful_parameters, v_set),
      last_successful_call = clock_timestamp(),
      success_count = cached.success_count + 1
  from public.agent_mcp_connections connection
  where connection.id = cached.connection_id
    and cached.connection_id = p_connection_id
    and cached.tool_name = p_tool_name
  returning cached.id, connection.tool_id, connection.user_id, cached.tool_version, cached.tool_schema,
    cached.openai_schema, cached.schema_losses, cached.definition_hash, cached.scopes
  into v_tool;

  if not found or v_tool.user_id is null then
    return;
  end if;
  v_service_id := coalesce(
    (private.connection_of(v_tool.tool_id, null)).id, private.ensure_connection(v_tool.tool_id, null));
  v_shape := jsonb_build_array(private.parameter_shape(p_parameters, v_tool.tool_schema -> 'inputSchema'));
  insert into public.mcp_tools_cache as cached (
    connection_id, tool_name, tool_version, tool_schema, openai_schema, schema_losses, definition_hash, is_own, scopes,
    successful_parameters, last_successful_call, success_count
  )
  values (
    v_service_id, p_tool_name,
    v_tool.tool_version, v_tool.tool_schema, v_tool.openai_schema, v_tool.schema_losses,
    v_tool.definition_hash, false, v_tool.scopes,
    v_shape, clock_timestamp(), 1
  )
  on conflict (connection_id, tool_name) do update
  set successful_parameters = private.append_parameters(
        cached.successful_parameters, excluded.successful_parameters -> 0),
      last_successful_call = excluded.last_successful_call,
      success_count = cached.success_count + 1
  -- A server may define a tool differently for each user; do not mix shapes of different schemas.
  where cached.tool_schema -> 'inputSchema' = excluded.tool_schema -> 'inputSchema';
  if not found and private.renew_shared_definition(v_service_id, v_tool.id) then
    update public.mcp_tools_cache as shared
    set successful_parameters = v_shape, last_successful_call = clock_timestamp(), success_count = 1
    where shared.connection_id = v_service_id and shared.tool_name = p_tool_name;
  end if;
end;
$$;
comment on function private.learn_parameters(uuid, text, jsonb) is
  'Stores the arguments of a successful call on the caller''s own connection, and their shape on the connection without a user. Calls within a second after another teach only new arguments, while there are fewer than max_examples(). Called by the gateway.';
grant execute on function private.learn_parameters(uuid, text, jsonb) to service_role;

create function public.record_mcp_tool_execution(
  p_connection_id uuid,
  p_tool_name text,
  p_parameters jsonb,
  p_success boolean default true
)
returns void
language plpgsql
set search_path = ''
as $$
begin
  perform private.assert_not_agent('record the tool call');
  if p_success then
    perform private.learn_parameters(p_connection_id, p_tool_name, p_parameters);
  end if;
end;
$$;
comment on function public.record_mcp_tool_execution(uuid, text, jsonb, boolean) is
  'Stores the arguments of a successful call; does nothing for a failed call. Called by the service. Raises AGENT_NOT_ALLOWED.';
revoke all on function public.record_mcp_tool_execution(uuid, text, jsonb, boolean) from public, anon, authenticated, service_role;
grant execute on function public.record_mcp_tool_execution(uuid, text, jsonb, boolean) to service_role;

create function private.learned_parameters(p_connection_id uuid, p_tool_name text default null)
returns table (
  cached_id uuid, successful_parameters jsonb, is_shape boolean, success_count int, last_successful_call timestamptz
)
language plpgsql
stable
set search_path = ''
as $$
begin
  return query
    select
      cached.id,
      case when own.is_known then cached.successful_parameters else coalesce(shared.successful_parameters, '[]') end,
      not own.is_known,
      case when own.is_known then cached.success_count else coalesce(shared.success_count, 0) end,
      case when own.is_known then cached.last_successful_call else shared.last_successful_call end
    from public.mcp_tools_cache as cached
    join public.agent_mcp_connections as connection on connection.id = cached.connection_id
    cross join lateral (
      select connection.user_id is not null and cached.successful_parameters <> '[]' as is_known
    ) as own
    left join public.agent_mcp_connections as service
      on service.tool_id = connection.tool_id and service.user_id is null
    left join public.mcp_tools_cache as shared
      on shared.connection_id = service.id and shared.tool_name = cached.tool_name
      and shared.tool_schema -> 'inputSchema' = cached.tool_schema -> 'inputSchema'
    where cached.connection_id = p_connection_id
      and (p_tool_name is null or cached.tool_name = p_tool_name);
end;
$$;
comment on function private.learned_parameters(uuid, text) is
  'Arguments of earlier successful calls with the tools of a connection, or with one of them: the sets of the connection''s user, or else (is_shape) the shapes from all users. Called by the gateway after a failed call outside tasks, and for lists of tools.';
grant execute on function private.learned_parameters(uuid, text) to service_role;

create function private.learned_sets(p_connection_id uuid, p_tool_name text, p_parameters jsonb)
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
begin
  return (
    select jsonb_build_array(
      private.example_parameters(p_parameters),
      private.parameter_shape(p_parameters, cached.tool_schema -> 'inputSchema'))
    from public.mcp_tools_cache cached
    where cached.connection_id = p_connection_id and cached.tool_name = p_tool_name
  );
end;
$$;
comment on function private.learned_sets(uuid, text, jsonb) is
  'What a successful call with these arguments adds: [the set that its user sees, the shape that all users see].';

create function private.delete_parameters(p_execution_id uuid)
returns int
language plpgsql
set search_path = ''
as $$
declare
  v_call record;
  v_own jsonb;
  v_forgotten int;
begin
  select execution.tool_id, execution.tool_name, execution.user_id, execution.request_data, execution.learned_sets
  into v_call
  from public.mcp_executions execution
  where execution.id = p_execution_id and execution.status = 'success';
  if not found or jsonb_typeof(v_call.request_data) is distinct from 'object' then
    return 0;
  end if;
  v_own := coalesce(v_call.learned_sets -> 0, private.example_parameters(v_call.request_data));

  -- Lock the user's row before the shared row, as record_mcp_tool_execution() does.
  update public.mcp_tools_cache cached
  set successful_parameters = private.without_parameters(cached.successful_parameters, v_own)
  from public.agent_mcp_connections connection
  where connection.id = cached.connection_id
    and connection.tool_id = v_call.tool_id and connection.user_id = v_call.user_id
    and cached.tool_name = v_call.tool_name
    and cached.successful_parameters @> jsonb_build_array(v_own);
  get diagnostics v_forgotten = row_count;

  update public.mcp_tools_cache cached
  set successful_parameters = private.without_parameters(
        cached.successful_parameters,
        coalesce(
          v_call.learned_sets -> 1,
          private.parameter_shape(v_call.request_data, cached.tool_schema -> 'inputSchema')))
  from public.agent_mcp_connections connection
  where connection.id = cached.connection_id
    and connection.tool_id = v_call.tool_id and connection.user_id is null
    and cached.tool_name = v_call.tool_name;
  return v_forgotten;
end;
$$;
comment on function private.delete_parameters(uuid) is
  'Deletes the arguments that a call added, for its user and as a shape for all, because the call got a bad grade. Returns how many of the user''s own sets were removed. The next successful call with the same arguments adds them again.';

create function private.record_connection_success(p_connection_id uuid)
returns void
language plpgsql
set search_path = ''
as $$
begin
  -- At most once a second: a busy connection would create dead rows faster than vacuum removes them.
  update public.agent_mcp_connections connection
  set health = 'healthy', last_success_at = clock_timestamp(), failure_count = 0, retry_at = null
  where connection.id = p_connection_id
    and ((connection.failure_count, connection.retry_at, connection.health)
        is distinct from (0, null::timestamptz, 'healthy')
      or connection.last_success_at is null
      or connection.last_success_at < clock_timestamp() - interval '1 second');
end;
$$;
comment on function private.record_connection_success(uuid) is
  'Marks a connection healthy because its server answered. Throttled to one write a second. Called by the gateway.';
grant execute on function private.record_connection_success(uuid) to service_role;

create function public.record_mcp_tool_success(p_connection_id uuid)
returns void
language plpgsql
set search_path = ''
as $$
begin
  perform private.assert_not_agent('record the tool call');
  perform private.record_connection_success(p_connection_id);
end;
$$;
comment on function public.record_mcp_tool_success(uuid) is
  'Marks a connection healthy because its server answered. Called by the service. Raises AGENT_NOT_ALLOWED.';
revoke all on function public.record_mcp_tool_success(uuid) from public, anon, authenticated, service_role;
grant execute on function public.record_mcp_tool_success(uuid) to service_role;
