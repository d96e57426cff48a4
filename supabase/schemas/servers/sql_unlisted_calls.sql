-- Which functions a statement could run on this server although the SQL policy does not list them.
--
-- A name means what this server's catalogs say: a better matching signature wins whatever the
-- search_path is, row.name and (value).name call functions, a keyword of one version is a function's
-- name in another, and casts and checks of domains call functions without naming them. Every
-- candidate counts. Finding out which one PostgreSQL would choose takes a view or a function with
-- the statement as its body, which would run the project's event triggers.
--
-- The functions are in plpgsql, which keeps their plans: every statement runs them.

create function private.is_listed_function(p_function_id oid, p_names jsonb)
returns boolean
language sql
stable
set search_path = ''
as $$
  select proc.oid < 16384
    or is_listed_function.p_names -> 'opted_in' ? (schema.nspname || '.' || proc.proname)
    or exists (
      select from pg_catalog.pg_depend as member
      where member.classid = 'pg_catalog.pg_proc'::regclass and member.objid = proc.oid and member.deptype = 'e'
    )
  from pg_catalog.pg_proc as proc
  join pg_catalog.pg_namespace as schema on schema.oid = proc.pronamespace
  where proc.oid = is_listed_function.p_function_id;
$$;
comment on function private.is_listed_function(oid, jsonb) is
  'Whether a statement may run a function: one of PostgreSQL, of an extension, or in the policy. Built-in functions have smaller ids than all others.';

create function private.unlisted_functions(p_names jsonb)
returns setof text
language plpgsql
stable
set search_path = ''
as $$
declare
  v_names constant name[] := array(select jsonb_array_elements_text(p_names -> 'functions'));
begin
  -- Filter by name first, because the catalogs have an index on it and every statement runs this.
  return query
    select format('function %s.%s', schema.nspname, proc.proname)
    from pg_catalog.pg_proc as proc
    join pg_catalog.pg_namespace as schema on schema.oid = proc.pronamespace
    where proc.proname = any (v_names)
      and p_names -> 'schemas' ? schema.nspname::text
      and not private.is_listed_function(proc.oid, p_names);
end;
$$;
comment on function private.unlisted_functions(jsonb) is
  'Functions that a call without a schema could run instead of a built-in one of that name.';

create function private.takes_rows(p_type_id oid)
returns boolean
language sql
stable
set search_path = ''
as $$
  with recursive part (id) as (
    select takes_rows.p_type_id
    union
    select inner_type.id
    from part
    join pg_catalog.pg_type as type on type.oid = part.id
    cross join lateral (values (type.typbasetype), (type.typelem)) as inner_type (id)
    where inner_type.id <> 0
  )
  select exists (
    select
    from part
    join pg_catalog.pg_type as type on type.oid = part.id
    where type.typtype in ('c', 'p')
      or exists (
        select
        from pg_catalog.pg_cast as conversion
        join pg_catalog.pg_type as source on source.oid = conversion.castsource
        where conversion.casttarget = type.oid and source.typtype = 'c'
      )
  );
$$;
comment on function private.takes_rows(oid) is
  'Whether an argument of this type accepts a row: a composite or polymorphic type, a domain or a list of rows, or a type with a cast from rows.';

create function private.unlisted_attributes(p_names jsonb)
returns setof text
language plpgsql
stable
set search_path = ''
as $$
declare
  v_of_rows constant name[] := array(select jsonb_array_elements_text(p_names -> 'row_attributes'));
  v_of_values constant name[] := array(select jsonb_array_elements_text(p_names -> 'attributes'));
begin
  return query
    select format('function %s.%s', schema.nspname, proc.proname)
    from pg_catalog.pg_proc as proc
    join pg_catalog.pg_namespace as schema on schema.oid = proc.pronamespace
    where proc.proname = any (v_of_rows || v_of_values)
      -- Callable with one argument; the others have defaults.
      and proc.pronargs >= 1 and proc.pronargs - proc.pronargdefaults <= 1
      and (proc.proname = any (v_of_values) or private.takes_rows(proc.proargtypes[0]))
      and case schema.nspname
        when 'pg_catalog' then not p_names -> 'built_in' ? proc.proname::text
        else p_names -> 'schemas' ? schema.nspname::text
          and not p_names -> 'opted_in' ? (schema.nspname || '.' || proc.proname)
      end;
end;
$$;
comment on function private.unlisted_attributes(jsonb) is
  'Functions that row.name or (value).name could call, which PostgreSQL does when the row has no such column. Functions of extensions count, because nothing else has checked their names.';

create function private.unlisted_operators(p_names jsonb)
returns setof text
language plpgsql
stable
set search_path = ''
as $$
declare
  v_names constant name[] := array(select jsonb_array_elements_text(p_names -> 'operators'));
begin
  return query
    select format('operator %s.%s', schema.nspname, operator.oprname)
    from pg_catalog.pg_operator as operator
    join pg_catalog.pg_namespace as schema on schema.oid = operator.oprnamespace
    where operator.oprname = any (v_names)
      and p_names -> 'schemas' ? schema.nspname::text
      and not private.is_listed_function(operator.oprcode, p_names);
end;
$$;
comment on function private.unlisted_operators(jsonb) is
  'Operators of the project that an operator without a schema could mean.';

create function private.named_types(p_names jsonb, p_with_relations boolean)
returns setof oid
language sql
stable
set search_path = ''
as $$
  with recursive found (id) as (
    select type.oid
    from pg_catalog.pg_type as type
    join pg_catalog.pg_namespace as schema on schema.oid = type.typnamespace
    where type.typname = any (array(select jsonb_array_elements_text(named_types.p_names -> 'types'))::name[])
      and named_types.p_names -> 'schemas' ? schema.nspname::text
    union
    select relation.reltype
    from pg_catalog.pg_class as relation
    where named_types.p_with_relations
      and relation.relname = any (array(select jsonb_array_elements_text(named_types.p_names -> 'relations'))::name[])
    union
    select argument.id
    from pg_catalog.pg_proc as proc
    cross join lateral unnest(proc.prorettype || coalesce(proc.proallargtypes, proc.proargtypes::oid[])) as argument (id)
    join pg_catalog.pg_namespace as schema on schema.oid = proc.pronamespace
    where named_types.p_with_relations
      and proc.proname = any (array(select jsonb_array_elements_text(named_types.p_names -> 'called'))::name[])
      and named_types.p_names -> 'opted_in' ? (schema.nspname || '.' || proc.proname)
    union
    select part.id
    from found
    join pg_catalog.pg_type as type on type.oid = found.id
    cross join lateral (
      values (type.typelem), (type.typarray), (type.typbasetype)
      union all
      select attribute.atttypid
      from pg_catalog.pg_attribute as attribute
      where attribute.attrelid = type.typrelid and attribute.attnum > 0 and not attribute.attisdropped
      union all
      select unnest(array[range.rngtypid, range.rngsubtype, range.rngmultitypid])
      from pg_catalog.pg_range as range
      where type.oid in (range.rngtypid, range.rngmultitypid)
    ) as part (id)
    where part.id >= 16384
  )
  select id from found;
$$;
comment on function private.named_types(jsonb, boolean) is
  'The types of the project that values of a statement can have: named ones and, if wanted, those of its relations and functions; with all parts of these types.';

create function private.unlisted_casts(p_names jsonb)
returns setof text
language plpgsql
stable
set search_path = ''
as $$
begin
  return query
    select format('cast from %s to %s', format_type(conversion.castsource, null), format_type(conversion.casttarget, null))
    from pg_catalog.pg_cast as conversion
    where conversion.oid >= 16384
      and conversion.castfunc <> 0
      and not private.is_listed_function(conversion.castfunc, p_names)
      -- PostgreSQL makes this cast with each type of ranges.
      and not exists (
        select from pg_catalog.pg_range as range
        where (range.rngtypid, range.rngmultitypid) = (conversion.castsource, conversion.casttarget)
      )
      and not exists (
        select from unnest(array[conversion.castsource, conversion.casttarget]) as type (id)
        where type.id >= 16384
          and type.id not in (select private.named_types(p_names, true))
      );
end;
$$;
comment on function private.unlisted_casts(jsonb) is
  'Casts of the project that PostgreSQL could apply to values of a statement, also without being asked for.';

create function private.makes_values(p_names jsonb)
returns boolean
language sql
stable
set search_path = ''
as $$
  select (makes_values.p_names ->> 'makes_rows')::boolean or exists (
    select
    from pg_catalog.pg_proc as proc
    where proc.proname = any (array(select jsonb_array_elements_text(makes_values.p_names -> 'called'))::name[])
      and proc.pronamespace = 'pg_catalog'::regnamespace
      and (proc.pronargs >= 2 or proc.proname = 'array_agg')
      and exists (
        select
        from unnest(proc.proargtypes::oid[]) as argument (id)
        join pg_catalog.pg_type as type on type.oid = argument.id
        where type.typtype = 'p' and type.typname like 'any_%'
      )
  ) or (makes_values.p_names ->> 'has_texts')::boolean and exists (
    select
    from private.named_types(makes_values.p_names, true) as row_type (id)
    join pg_catalog.pg_type as type on type.oid = row_type.id
    join pg_catalog.pg_attribute as attribute
      on attribute.attrelid = type.typrelid and attribute.attnum > 0 and not attribute.attisdropped
    join pg_catalog.pg_type as list on list.oid = attribute.atttypid
    where list.oid >= 16384 and list.typcategory in ('A', 'R')
  );
$$;
comment on function private.makes_values(jsonb) is
  'Whether a statement could convert a value to the type of a column without naming it: by functions that make rows or lists, and by polymorphic functions and operators, which give an unknown text the type of another argument. The operators are those of lists and ranges.';

create function private.unlisted_checks(p_names jsonb)
returns setof text
language plpgsql
stable
set search_path = ''
as $$
begin
  return query
    select format('check of the domain %s', format_type(rule.contypid, null))
    from pg_catalog.pg_constraint as rule
    join pg_catalog.pg_depend as used
      on used.classid = 'pg_catalog.pg_constraint'::regclass and used.objid = rule.oid
    left join pg_catalog.pg_operator as operator
      on used.refclassid = 'pg_catalog.pg_operator'::regclass and operator.oid = used.refobjid
    where rule.contypid <> 0
      and rule.contype = 'c'
      and (used.refclassid = 'pg_catalog.pg_proc'::regclass or operator.oid is not null)
      and not private.is_listed_function(coalesce(operator.oprcode, used.refobjid), p_names)
      and rule.contypid in (
        select private.named_types(p_names, private.makes_values(p_names))
      );
end;
$$;
comment on function private.unlisted_checks(jsonb) is
  'Domains that a statement can convert a value to, whose check calls a function of the project. Rows of a table were checked when they were written, unless the statement makes new ones.';

create function private.read_sequences(p_names jsonb)
returns setof text
language plpgsql
stable
set search_path = ''
as $$
declare
  v_names constant name[] := array(select jsonb_array_elements_text(p_names -> 'read'));
begin
  return query
    select format('sequence %s.%s', schema.nspname, relation.relname)
    from pg_catalog.pg_class as relation
    join pg_catalog.pg_namespace as schema on schema.oid = relation.relnamespace
    where relation.relname = any (v_names)
      and relation.relkind = 'S'
      and p_names -> 'schemas' ? schema.nspname::text;
end;
$$;
comment on function private.read_sequences(jsonb) is
  'Sequences that a statement reads like tables: last_value tells how many rows others have written, and policies do not limit it.';

create function private.unlisted_calls(p_names jsonb)
returns setof text
language plpgsql
stable
set search_path = ''
as $$
begin
  return query
    select private.unlisted_functions(p_names)
    union
    select private.unlisted_attributes(p_names)
    union
    select private.unlisted_operators(p_names)
    union
    select private.unlisted_casts(p_names)
    union
    select private.unlisted_checks(p_names)
    union
    select private.read_sequences(p_names);
end;
$$;
comment on function private.unlisted_calls(jsonb) is
  'Everything that a statement could run on this server although the SQL policy does not list it. Takes {schemas, opted_in, functions, called, row_attributes, attributes, built_in, operators, types, relations, read, has_texts, makes_rows}. Called by the SQL tools as the functions'' own role.';
