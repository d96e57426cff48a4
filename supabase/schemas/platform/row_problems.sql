-- What is wrong with a row or a value, and the checks that every kind of row needs.

create type private.row_problem as (field text, problem text, hint text);
comment on type private.row_problem is
  'What is wrong: the field as a path, the problem, which completes the sentence "<field> …", and what to write instead. All null: nothing.';

create function private.assert_no_problem(p_problem private.row_problem, p_code text, p_attempt text)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  if p_problem.field is not null then
    perform private.raise_error(p_code,
      format('Cannot %s: %s %s', p_attempt, p_problem.field, p_problem.problem), p_problem.hint);
  end if;
end;
$$;
comment on function private.assert_no_problem(private.row_problem, text, text) is
  'Raises a problem with a code; p_attempt completes the sentence "Cannot …".';
revoke all on function private.assert_no_problem(private.row_problem, text, text) from public;

create function private.shown_value(p_value text)
returns text
language sql
immutable
set search_path = ''
as $$
  select case
    when shown_value.p_value is null then 'is missing'
    else 'is ' || to_json(left(shown_value.p_value, 200))::text
  end;
$$;
comment on function private.shown_value(text) is 'The beginning of a problem: "is missing", or "is" and the quoted value, 200 characters at most.';
revoke all on function private.shown_value(text) from public;

create function private.choice_problem(p_field text, p_value text, p_known text[])
returns private.row_problem
language plpgsql
immutable
set search_path = ''
as $$
begin
  if p_value = any (p_known) then
    return null;
  end if;
  return row(p_field, private.shown_value(p_value),
    private.did_you_mean(coalesce(p_value, ''), p_known)
      || format('Allowed values are %s.', array_to_string(p_known, ', ')))::private.row_problem;
end;
$$;
comment on function private.choice_problem(text, text, text[]) is
  'The problem of a value, also a missing one, that is not one of the known values.';
revoke all on function private.choice_problem(text, text, text[]) from public;

create function private.url_problem(p_field text, p_url text)
returns private.row_problem
language plpgsql
immutable
set search_path = ''
as $$
begin
  if p_url ~* '^https?://[^/?#\s]+' and p_url !~ '\s' then
    return null;
  end if;
  return row(p_field, private.shown_value(p_url),
    'Write an absolute URL that begins with https:// or http://.')::private.row_problem;
end;
$$;
comment on function private.url_problem(text, text) is 'The problem of a text that is not an absolute http or https URL.';
revoke all on function private.url_problem(text, text) from public;

create function private.slug_problem(p_field text, p_slug text)
returns private.row_problem
language plpgsql
immutable
set search_path = ''
as $$
begin
  if p_slug ~ '^[a-z0-9][a-z0-9_-]{0,62}$' then
    return null;
  end if;
  return row(p_field, private.shown_value(p_slug),
    'Write 1 to 63 lowercase letters, digits, - and _, beginning with a letter or digit.')::private.row_problem;
end;
$$;
comment on function private.slug_problem(text, text) is 'The problem of a text that cannot be a slug.';
revoke all on function private.slug_problem(text, text) from public;

create function private.schema_keyword_problem(p_schema jsonb, p_field text, p_depth int)
returns private.row_problem
language plpgsql
immutable
set search_path = ''
as $$
declare
  c_types constant text[] := array['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'];
  v_keyword text;
  v_value jsonb;
  v_item jsonb;
  v_problem private.row_problem;
  v_wanted text;
begin
  for v_keyword, v_value in select * from jsonb_each(p_schema) loop
    v_wanted := case
      when v_keyword in ('minimum', 'maximum', 'multipleOf') and jsonb_typeof(v_value) <> 'number' then 'a number'
      when v_keyword in ('exclusiveMinimum', 'exclusiveMaximum') and jsonb_typeof(v_value) not in ('number', 'boolean')
        then 'a number'
      when v_keyword in ('minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties')
        and v_value::text !~ '^[0-9]+(\.0+)?$' then 'a whole number of zero or more'
      when v_keyword in ('pattern', 'title', 'description', '$ref') and jsonb_typeof(v_value) <> 'string' then 'a text'
      when v_keyword = 'enum' and (jsonb_typeof(v_value) <> 'array' or v_value = '[]') then 'a list of at least one value'
      when v_keyword = 'required' and (jsonb_typeof(v_value) <> 'array'
        or exists (select from jsonb_array_elements(v_value) as name where jsonb_typeof(name) <> 'string'))
        then 'the list of the names of the required members, on the schema of the object'
      when v_keyword in ('properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas')
        and jsonb_typeof(v_value) <> 'object' then 'an object with a schema for each name'
      when v_keyword in ('allOf', 'anyOf', 'oneOf', 'prefixItems') and (jsonb_typeof(v_value) <> 'array' or v_value = '[]')
        then 'a list of at least one schema'
    end;
    if v_wanted is not null then
      return row(p_field || '.' || v_keyword, 'is ' || left(v_value::text, 200), format('Write %s.', v_wanted))::private.row_problem;
    end if;

    if v_keyword = 'type' then
      if jsonb_typeof(v_value) not in ('string', 'array') or v_value = '[]' then
        return row(p_field || '.type', 'is ' || left(v_value::text, 200),
          format('Write one of %s, or a list of them.', array_to_string(c_types, ', ')))::private.row_problem;
      end if;
      for v_item in
        select * from jsonb_array_elements(case jsonb_typeof(v_value) when 'array' then v_value else jsonb_build_array(v_value) end)
      loop
        v_problem := private.choice_problem(p_field || '.type', v_item #>> '{}', c_types);
        if v_problem.field is not null then
          return v_problem;
        end if;
      end loop;
    elsif v_keyword in ('properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas') then
      for v_wanted, v_item in select * from jsonb_each(v_value) loop
        v_problem := private.schema_document_problem(format('%s.%s.%s', p_field, v_keyword, v_wanted), v_item, p_depth + 1);
        if v_problem.field is not null then
          return v_problem;
        end if;
      end loop;
    elsif v_keyword in ('allOf', 'anyOf', 'oneOf', 'prefixItems') or v_keyword = 'items' and jsonb_typeof(v_value) = 'array' then
      for v_item in select * from jsonb_array_elements(v_value) loop
        v_problem := private.schema_document_problem(format('%s.%s[]', p_field, v_keyword), v_item, p_depth + 1);
        if v_problem.field is not null then
          return v_problem;
        end if;
      end loop;
    elsif v_keyword in ('items', 'additionalProperties', 'additionalItems', 'not', 'if', 'then', 'else', 'contains',
      'propertyNames', 'unevaluatedProperties', 'unevaluatedItems')
    then
      v_problem := private.schema_document_problem(p_field || '.' || v_keyword, v_value, p_depth + 1);
      if v_problem.field is not null then
        return v_problem;
      end if;
    end if;
  end loop;
  return null;
end;
$$;
comment on function private.schema_keyword_problem(jsonb, text, int) is
  'The first problem of the keywords of a JSON Schema. See schema_document_problem().';
revoke all on function private.schema_keyword_problem(jsonb, text, int) from public;

create function private.schema_document_problem(p_field text, p_schema jsonb, p_depth int default 0)
returns private.row_problem
language plpgsql
immutable
set search_path = ''
as $$
begin
  if p_schema is null or jsonb_typeof(p_schema) = 'boolean' and p_depth > 0 then
    return null;
  end if;
  if jsonb_typeof(p_schema) <> 'object' then
    return row(p_field, 'is ' || left(p_schema::text, 200), 'Write a JSON Schema, such as {"type": "string"}.')::private.row_problem;
  end if;
  if p_depth > 64 then
    return row(p_field, 'is nested more than 64 levels deep', 'Write a schema with fewer levels.')::private.row_problem;
  end if;
  return private.schema_keyword_problem(p_schema, p_field, p_depth);
end;
$$;
comment on function private.schema_document_problem(text, jsonb, int) is
  'The problem of a document that is not a valid JSON Schema: names of types, and the form of the keywords that apply schemas. Unknown keywords are allowed, as the standard has it. Null is no problem.';
revoke all on function private.schema_document_problem(text, jsonb, int) from public;
