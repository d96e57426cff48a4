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

create function private.visible_text(p_text text)
returns text
language plpgsql
immutable
set search_path = ''
as $$
declare
  -- White space, control characters and characters without a shape: what Unicode calls ignorable, and blank letters.
  c_invisible constant text := E'[[:space:]\u0001-\u0020\u007F-\u00A0\u00AD\u034F\u061C\u115F\u1160\u1680\u17B4\u17B5\u180B-\u180F'
    || E'\u2000-\u200F\u2028-\u202F\u205F-\u206F\u2800\u3000\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFFC\U0001D173-\U0001D17A\U000E0000-\U000E0FFF]+';
begin
  return regexp_replace(regexp_replace(p_text, '^' || c_invisible, ''), c_invisible || '$', '');
end;
$$;
comment on function private.visible_text(text) is
  'A text without characters that nobody sees at its beginning and end; empty if it has no others.';

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

create function private.slug_problem(p_field text, p_slug text, p_reserved text[] default '{}')
returns private.row_problem
language plpgsql
immutable
set search_path = ''
as $$
begin
  if p_slug = any (p_reserved) then
    return row(p_field, private.shown_value(p_slug) || ', which is a part of an endpoint''s path', 'Write another name.')::private.row_problem;
  end if;
  if p_slug ~ '^[a-z0-9][a-z0-9_-]{0,62}$' then
    return null;
  end if;
  return row(p_field, private.shown_value(p_slug),
    'Write 1 to 63 lowercase letters, digits, - and _, beginning with a letter or digit.')::private.row_problem;
end;
$$;
comment on function private.slug_problem(text, text, text[]) is
  'The problem of a text that cannot be a slug. p_reserved: words that stand at its place in a path.';

create function private.finds_reference(p_schema jsonb, p_reference text)
returns boolean
language plpgsql
immutable
set search_path = ''
as $$
begin
  return p_reference = '#' or case
    -- With an escaped path, an id or an anchor, only the whole check knows what it finds.
    when p_reference ~ '^#/' then
      p_reference like '%\%%' or p_schema #> array(
        select replace(replace(part, '~1', '/'), '~0', '~') from unnest((string_to_array(p_reference, '/'))[2:]) as part
      ) is not null
    else p_schema::text ~ '"(\$id|id|\$anchor)": "'
  end;
end;
$$;
comment on function private.finds_reference(jsonb, text) is
  'False when a $ref certainly refers to nothing in its schema, for example to another document.';

create function private.schema_keyword_problem(p_schema jsonb, p_field text, p_depth int, p_root jsonb)
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
      when v_keyword = 'multipleOf' and (v_value #>> '{}')::numeric <= 0 then 'a number above zero'
      when v_keyword in ('minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties', 'minContains', 'maxContains')
        and v_value::text !~ '^[0-9]+(\.0+)?$' then 'a whole number of zero or more'
      when v_keyword in ('pattern', 'title', 'description', 'format', '$ref') and jsonb_typeof(v_value) <> 'string' then 'a text'
      when v_keyword = 'uniqueItems' and jsonb_typeof(v_value) <> 'boolean' then 'true or false'
      when v_keyword = '$dynamicRef' then '$ref'
      when v_keyword = 'dependentRequired' and (jsonb_typeof(v_value) <> 'object'
        or jsonb_path_exists(v_value, 'strict $.* ? (@.type() != "array")')) then 'an object with a list of names for each name'
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

    if v_keyword = '$ref' and not private.finds_reference(p_root, v_value #>> '{}') then
      return row(p_field || '.$ref', format('is %s, which refers to nothing in the schema', left(v_value::text, 200)),
        'Define it under $defs, and refer to it with #/$defs/<name>.')::private.row_problem;
    elsif v_keyword = 'type' then
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
        v_problem := private.schema_document_problem(format('%s.%s.%s', p_field, v_keyword, v_wanted), v_item, p_depth + 1, p_root);
        if v_problem.field is not null then
          return v_problem;
        end if;
      end loop;
    elsif v_keyword in ('allOf', 'anyOf', 'oneOf', 'prefixItems') or v_keyword = 'items' and jsonb_typeof(v_value) = 'array' then
      for v_item in select * from jsonb_array_elements(v_value) loop
        v_problem := private.schema_document_problem(format('%s.%s[]', p_field, v_keyword), v_item, p_depth + 1, p_root);
        if v_problem.field is not null then
          return v_problem;
        end if;
      end loop;
    elsif v_keyword in ('items', 'additionalProperties', 'additionalItems', 'not', 'if', 'then', 'else', 'contains',
      'propertyNames', 'unevaluatedProperties', 'unevaluatedItems')
    then
      v_problem := private.schema_document_problem(p_field || '.' || v_keyword, v_value, p_depth + 1, p_root);
      if v_problem.field is not null then
        return v_problem;
      end if;
    end if;
  end loop;
  return null;
end;
$$;
comment on function private.schema_keyword_problem(jsonb, text, int, jsonb) is
  'The first problem of the keywords of a JSON Schema. See schema_document_problem().';

create function private.schema_document_problem(p_field text, p_schema jsonb, p_depth int default 0, p_root jsonb default null)
returns private.row_problem
language plpgsql
immutable
set search_path = ''
as $$
declare
  -- MAX_SCHEMA_CHARACTERS of the functions.
  c_max_characters constant int := 100000;
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
  if p_depth = 0 and length(p_schema::text) > c_max_characters then
    return row(p_field, format('has more than %s characters', c_max_characters), 'Write a smaller schema.')::private.row_problem;
  end if;
  if p_depth = 0 and p_schema ? '$schema'
    and (p_schema ->> '$schema') !~ '^https?://json-schema\.org/(draft-0[467]|draft/(2019-09|2020-12))/schema#?$'
  then
    return row(p_field || '.$schema', 'is ' || left((p_schema -> '$schema')::text, 200),
      'Leave it out, or write https://json-schema.org/draft/2020-12/schema.')::private.row_problem;
  end if;
  return private.schema_keyword_problem(p_schema, p_field, p_depth, coalesce(p_root, p_schema));
end;
$$;
comment on function private.schema_document_problem(text, jsonb, int, jsonb) is
  'The problem of a document that is not a valid JSON Schema: its draft, names of types, references to nothing, and the form of the keywords. Leaves regular expressions to what checks values. Unknown keywords are allowed, as the standard has it. Null is no problem. p_root is the whole schema of which p_schema is a part.';
