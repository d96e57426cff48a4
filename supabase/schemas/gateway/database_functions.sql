-- Database functions as tools: the schema of their arguments, and the statement that calls them.

create function private.json_schema_of_type(p_type oid)
returns jsonb
language sql
stable
set search_path = ''
as $$
  select case
    when type.typtype = 'd' then private.json_schema_of_type(type.typbasetype)
    when type.typcategory = 'A' then
      jsonb_build_object('type', 'array', 'items', private.json_schema_of_type(type.typelem))
    when type.typtype = 'e' then jsonb_build_object(
      'type', 'string',
      'enum', (select jsonb_agg(label.enumlabel order by label.enumsortorder)
               from pg_catalog.pg_enum label where label.enumtypid = p_type))
    when type.typtype = 'c' then '{"type": "object"}'
    else case type.typname
      when 'int2' then '{"type": "integer"}'
      when 'int4' then '{"type": "integer"}'
      when 'int8' then '{"type": "integer"}'
      when 'float4' then '{"type": "number"}'
      when 'float8' then '{"type": "number"}'
      when 'numeric' then '{"type": "number"}'
      when 'bool' then '{"type": "boolean"}'
      when 'json' then '{}'
      when 'jsonb' then '{}'
      when 'uuid' then '{"type": "string", "format": "uuid"}'
      when 'date' then '{"type": "string", "format": "date"}'
      when 'timestamptz' then '{"type": "string", "format": "date-time"}'
      when 'text' then '{"type": "string"}'
      when 'varchar' then '{"type": "string"}'
      else jsonb_build_object('type', 'string', 'description', 'PostgreSQL ' || format_type(p_type, null))
    end
  end
  from pg_catalog.pg_type type
  where type.oid = p_type;
$$;
comment on function private.json_schema_of_type(oid) is 'The JSON Schema of JSON values that a PostgreSQL type accepts.';

create function private.tool_function_arguments(p_function oid)
returns table (place int, name text, type oid, has_default boolean)
language sql
stable
set search_path = ''
as $$
  with inputs as (
    select argument.place, argument.type, function.pronargs, function.pronargdefaults,
      coalesce(function.proargnames[argument.place], '') as name,
      row_number() over (order by argument.place) as input_place
    from pg_catalog.pg_proc function
    cross join lateral unnest(coalesce(function.proallargtypes, function.proargtypes::oid[]))
      with ordinality as argument (type, place)
    where function.oid = p_function
      and coalesce(function.proargmodes[argument.place], 'i') in ('i', 'b')
  )
  select inputs.place::int, inputs.name, inputs.type,
    inputs.input_place > inputs.pronargs - inputs.pronargdefaults
  from inputs
  order by inputs.place;
$$;
comment on function private.tool_function_arguments(oid) is 'The input arguments of a database function in order.';

create function private.find_tool_function(p_function text)
returns oid
language plpgsql
stable
set search_path = ''
as $$
declare
  v_names text[];
  v_found oid[];
  v_problem text;
begin
  begin
    v_names := parse_ident(p_function);
  exception when invalid_parameter_value then
    v_names := '{}';
  end;
  select array_agg(function.oid) into v_found
  from pg_catalog.pg_proc function
  join pg_catalog.pg_namespace namespace on namespace.oid = function.pronamespace
  where namespace.nspname = v_names[1] and function.proname = v_names[2];

  v_problem := case
    when cardinality(v_names) <> 2 then 'it is not of the form schema.name'
    when v_found is null then 'it does not exist'
    when cardinality(v_found) > 1 then 'it is overloaded'
    else (
      select case
        when function.prokind <> 'f' then 'it is not a plain function'
        when function.provariadic <> 0 then 'it is variadic'
        when exists (
          select 1 from private.tool_function_arguments(function.oid) argument where argument.name = ''
        ) then 'an argument has no name'
        when exists (
          select from private.tool_function_arguments(function.oid) as argument
          join pg_catalog.pg_type as type on type.oid = argument.type and type.typtype = 'p'
        ) then 'an argument can have any type'
        when function.prorettype in ('pg_catalog.trigger'::regtype, 'pg_catalog.event_trigger'::regtype) then 'it is for triggers'
        when function.prorettype = 'pg_catalog.record'::regtype and function.proargmodes is null
          then 'its result has no declared columns'
      end
      from pg_catalog.pg_proc function
      where function.oid = v_found[1]
    )
  end;
  if v_problem is not null then
    perform private.raise_error('TOOL_CONFIG_INVALID',
      format('Cannot use the database function %s as a tool: %s', p_function, v_problem),
      'Name one function as schema.name, with named arguments and no overloads.');
  end if;
  return v_found[1];
end;
$$;
comment on function private.find_tool_function(text) is
  'The one plain function of that name (schema.name). Raises TOOL_CONFIG_INVALID when it cannot be a tool.';

create function private.describe_tool_function(p_function text)
returns jsonb
language sql
stable
set search_path = ''
as $$
  select jsonb_build_object(
    'name', function.proname,
    'description', obj_description(function.oid, 'pg_proc'),
    'is_read_only', function.provolatile <> 'v',
    'input_schema', jsonb_build_object(
      'type', 'object',
      'properties', coalesce(
        (select jsonb_object_agg(argument.name, private.json_schema_of_type(argument.type))
         from private.tool_function_arguments(function.oid) argument), '{}'),
      'required', coalesce(
        (select jsonb_agg(argument.name order by argument.place)
         from private.tool_function_arguments(function.oid) argument where not argument.has_default), '[]'),
      'additionalProperties', false
    )
  )
  from pg_catalog.pg_proc function
  where function.oid = private.find_tool_function(p_function);
$$;
comment on function private.describe_tool_function(text) is
  'A database function as a tool: {name, description, is_read_only, input_schema}. Called by the gateway.';

create function private.tool_function_statement(p_function text, p_arguments jsonb, p_max_rows int)
returns text
language sql
stable
set search_path = ''
as $$
  -- "result.*" is the whole result, also when an argument or one of its own columns has the name "result".
  with function as (
    select found.oid, found.prorettype, found.proname, found.pronamespace::regnamespace::text as namespace
    from pg_catalog.pg_proc found
    where found.oid = private.find_tool_function(p_function)
  ),
  given as (
    select
      string_agg(format('%I %s', argument.name, format_type(argument.type, null)), ', ') as columns,
      string_agg(format('%I => given.%I', argument.name, argument.name), ', ') as arguments
    from function
    cross join lateral private.tool_function_arguments(function.oid) argument
    where p_arguments ? argument.name
  )
  select format(
    'select %s as result from %s %s.%I(%s) as result where $1::jsonb is not null limit %s',
    case when function.prorettype = 'void'::regtype then 'null::jsonb' else 'to_jsonb(result.*)' end,
    case when given.columns is null then ''
      else format('jsonb_to_record($1::jsonb) as given (%s) cross join lateral', given.columns) end,
    function.namespace, function.proname, coalesce(given.arguments, ''), p_max_rows
  )
  from function, given;
$$;
comment on function private.tool_function_statement(text, jsonb, int) is
  'The statement that calls a database function by name with the typed arguments in the object $1; missing arguments take their defaults. The gateway runs it as the caller.';
