-- Whether a value that a person enters matches a tool's JSON Schema.

create function private.schema_type(p_value jsonb)
returns text
language sql
immutable
set search_path = ''
as $$
  select case
    when jsonb_typeof(p_value) <> 'number' then jsonb_typeof(p_value)
    when trunc(p_value::numeric) = p_value::numeric then 'integer'
    else 'number'
  end;
$$;
comment on function private.schema_type(jsonb) is 'The narrowest type of a value in the words of JSON Schema.';

create function private.number_in(p_schema jsonb, p_keyword text)
returns numeric
language sql
immutable
set search_path = ''
as $$
  select (p_schema ->> p_keyword)::numeric where jsonb_typeof(p_schema -> p_keyword) = 'number';
$$;
comment on function private.number_in(jsonb, text) is 'The number that a keyword of a schema has; null when it has none.';

create function private.declared_names(p_schema jsonb)
returns jsonb
language sql
immutable
set search_path = ''
as $$
  select case jsonb_typeof(declared_names.p_schema -> 'properties')
    when 'object' then (select jsonb_agg(name) from jsonb_object_keys(declared_names.p_schema -> 'properties') as name)
  end;
$$;
comment on function private.declared_names(jsonb) is 'The list of the members that a schema declares; null when it declares none.';

create function private.nearest_question(p_name text, p_known jsonb)
returns text
language sql
immutable
set search_path = ''
as $$
  select coalesce('; did you mean ' || private.nearest_names(nearest_question.p_name, array(
    select known #>> '{}'
    from jsonb_array_elements(nearest_question.p_known) as known
    where jsonb_typeof(known) = 'string'
  )) || '?', '');
$$;
comment on function private.nearest_question(text, jsonb) is
  'The end of a message about a wrong name: "; did you mean …?" with the known names [text] that are similar; empty when none is.';

create function private.schema_problem(p_schema jsonb, p_value jsonb, p_path text, p_is_whole boolean default true)
returns text
language plpgsql
immutable
set search_path = ''
as $$
declare
  v_type constant text := private.schema_type(p_value);
  v_types constant jsonb := p_schema -> 'type';
  v_size constant numeric := case v_type
    when 'string' then length(p_value #>> '{}')
    when 'array' then jsonb_array_length(p_value)
    when 'integer' then p_value::numeric
    when 'number' then p_value::numeric
  end;
  v_bound constant text := case v_type when 'string' then 'Length' when 'array' then 'Items' else 'imum' end;
  -- The gateway does not send members that a schema with properties does not declare.
  v_is_closed constant boolean := p_is_whole and jsonb_typeof(p_schema -> 'properties') = 'object' and not p_schema ?| array[
    'patternProperties', 'unevaluatedProperties', 'propertyNames', '$ref', '$dynamicRef', 'allOf', 'anyOf', 'oneOf',
    'if', 'dependentSchemas', 'dependencies'];
  v_keyword text;
  v_name text;
  v_place int := -1;
  v_inner jsonb;
  v_problem text;
begin
  if p_schema = 'false' then
    return p_path || ' is not allowed';
  end if;
  -- Older drafts ignore what is beside a reference.
  if jsonb_typeof(p_schema) is distinct from 'object' or p_schema ? '$ref' then
    return null;
  end if;
  if jsonb_typeof(v_types) in ('string', 'array') and not v_types ? v_type and not (v_type = 'integer' and v_types ? 'number') then
    return format('%s is of the type %s, but the schema requires %s', p_path, v_type, v_types);
  end if;
  if jsonb_typeof(p_schema -> 'enum') = 'array'
    and not exists (select from jsonb_array_elements(p_schema -> 'enum') as member where member = p_value)
  then
    return format('%s is not one of %s', p_path, left((p_schema -> 'enum')::text, 500)) || case v_type
      when 'string' then private.nearest_question(p_value #>> '{}', p_schema -> 'enum') else '' end;
  end if;
  if p_schema ? 'const' and p_schema -> 'const' <> p_value then
    return format('%s is not %s', p_path, left((p_schema -> 'const')::text, 500));
  end if;
  if v_size < private.number_in(p_schema, 'min' || v_bound) or v_size > private.number_in(p_schema, 'max' || v_bound)
    or v_bound = 'imum' and (
      v_size <= private.number_in(p_schema, 'exclusiveMinimum') or v_size >= private.number_in(p_schema, 'exclusiveMaximum'))
  then
    return format('%s is outside the limits of the schema: %s', p_path, (
      select string_agg(format('%s %s', keyword, left(p_schema ->> keyword, 50)), ', ' order by place)
      from unnest(array['min' || v_bound, 'max' || v_bound, 'exclusiveMinimum', 'exclusiveMaximum'])
        with ordinality as limits (keyword, place)
      where p_schema ? keyword
    ));
  end if;

  if v_type = 'object' then
    if jsonb_typeof(p_schema -> 'required') = 'array' then
      for v_name in select jsonb_array_elements_text(p_schema -> 'required') loop
        if not p_value ? v_name then
          return format('%s lacks %s', p_path, v_name) || coalesce(
            ', one of ' || left((p_schema #> array['properties', v_name, 'enum'])::text, 500), '');
        end if;
      end loop;
    end if;
    for v_name, v_inner in select * from jsonb_each(p_value) loop
      if jsonb_typeof(p_schema -> 'properties') = 'object' and p_schema -> 'properties' ? v_name then
        v_problem := private.schema_problem(p_schema #> array['properties', v_name], v_inner, p_path || '.' || v_name, p_is_whole);
      elsif p_schema ? 'additionalProperties' and not p_schema ? 'patternProperties' then
        v_problem := private.schema_problem(p_schema -> 'additionalProperties', v_inner, p_path || '.' || v_name, p_is_whole)
          || case p_schema -> 'additionalProperties'
            when 'false' then private.nearest_question(v_name, private.declared_names(p_schema)) else '' end;
      elsif v_is_closed and not coalesce(p_schema -> 'required' ? v_name, false) then
        v_problem := format('%s.%s is not declared', p_path, v_name)
          || private.nearest_question(v_name, private.declared_names(p_schema));
      end if;
      if v_problem is not null then
        return v_problem;
      end if;
    end loop;
  elsif v_type = 'array' and not p_schema ? 'prefixItems' then
    for v_inner in select jsonb_array_elements(p_value) loop
      v_place := v_place + 1;
      v_problem := private.schema_problem(p_schema -> 'items', v_inner, format('%s[%s]', p_path, v_place), p_is_whole);
      if v_problem is not null then
        return v_problem;
      end if;
    end loop;
  end if;

  if jsonb_typeof(p_schema -> 'allOf') = 'array' then
    for v_inner in select jsonb_array_elements(p_schema -> 'allOf') loop
      v_problem := private.schema_problem(v_inner, p_value, p_path, false);
      if v_problem is not null then
        return v_problem;
      end if;
    end loop;
  end if;
  foreach v_keyword in array array['anyOf', 'oneOf'] loop
    if jsonb_typeof(p_schema -> v_keyword) = 'array' and not exists (
      select from jsonb_array_elements(p_schema -> v_keyword) as alternative
      where private.schema_problem(alternative, p_value, p_path, false) is null
    ) then
      return format('%s matches none of the schema''s alternatives', p_path);
    end if;
  end loop;
  return null;
end;
$$;
comment on function private.schema_problem(jsonb, jsonb, text, boolean) is
  'Why a value does not match a JSON Schema, with the path of the part; null when nothing is found. Checks types, enum, const, limits, members, items and alternatives; leaves $ref, pattern and format to the gateway, which checks the whole schema before a call. p_is_whole is true where members that no part of the schema declares are not allowed. What it refuses, the whole check refuses too, if p_is_whole is false.';
