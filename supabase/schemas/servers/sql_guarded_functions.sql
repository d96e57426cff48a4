-- Built-in functions whose time grows with the product of the lengths of their arguments, and which no timeout
-- interrupts, with a check of these lengths.
--
-- Searching one text in another takes the product of their lengths, and PostgreSQL looks for a cancellation only
-- before and after. For values from rows, only the database knows the lengths. So statements that could contain
-- such a call run with one of these schemas first in their search_path: each function and operator has the name
-- and arguments of a built-in one, and calls it unless that could take longer than about a tenth of a second.
-- They are several schemas, because a guard is slower than its function, and no index answers it.

create schema supaswarm_search_guards;
comment on schema supaswarm_search_guards is
  'Built-in functions and operators that search one value for parts of another, and refuse arguments with which no timeout would interrupt them. First in the search_path of some statements of execute_sql.';
create schema supaswarm_number_guards;
comment on schema supaswarm_number_guards is
  'Built-in calculations that refuse numbers with too many digits, as supaswarm_search_guards.';
create schema supaswarm_growth_guards;
comment on schema supaswarm_growth_guards is
  'Built-in functions and operators that build long values, up to 10 MB, as supaswarm_search_guards.';
create schema supaswarm_key_guards;
comment on schema supaswarm_key_guards is
  'The deletion of many keys of a JSON value, whose operator has the name of subtraction, as supaswarm_search_guards.';
create schema supaswarm_text_guards;
comment on schema supaswarm_text_guards is
  'Built-in functions that read a text in a time that can grow with the square of its length, as supaswarm_search_guards.';
create schema supaswarm_shape_guards;
comment on schema supaswarm_shape_guards is
  'Operators that compare each point of a path or polygon with each of another, as supaswarm_search_guards.';
create schema supaswarm_word_guards;
comment on schema supaswarm_word_guards is
  'The conversion of texts to words for full text search, as supaswarm_search_guards. Not used where an index has the words.';
grant usage on schema
  supaswarm_search_guards, supaswarm_number_guards, supaswarm_growth_guards, supaswarm_key_guards,
  supaswarm_text_guards, supaswarm_word_guards, supaswarm_shape_guards
  to authenticated;

create function private.guard_size(p_type oid, p_argument int)
returns text
language sql
stable
set search_path = ''
as $$
  -- pg_column_size() counts the compressed bytes of a stored value, but not of a list, which PL/pgSQL expands
  -- first, or of a new value.
  select replace(
    case
      when type.typname in ('bpchar', 'bytea', 'text', 'varchar') then 'octet_length($n)'
      when type.typname in ('path', 'polygon') then 'npoints($n)'
      when type.typname in ('bit', 'varbit') then 'length($n)'
      when type.typname = 'numeric' then '(octet_length(numeric_send($n)) + coalesce(scale($n), 0) / 2)'
      when type.typname = 'tsquery' then '(numnode($n) + 1)'
      when type.typname in ('int2', 'int4', 'int8') then 'abs($n::float8)'
      when type.typname in ('bool', 'char', 'float4', 'float8', 'name', 'regconfig') then '64'
      when type.typname like '%array' or type.typcategory = 'A' then 'pg_column_size($n)'
      when type.typname = 'jsonb' then 'pg_column_size(jsonb_build_array($n))'
      else 'octet_length($n::text)'
    end, '$n', '$' || p_argument)
  from pg_catalog.pg_type as type
  where type.oid = p_type;
$$;
comment on function private.guard_size(oid, int) is
  'An expression for the length of an argument of this type. Called at installation.';

create function private.create_guard(p_schema name, p_function oid, p_cost text)
returns void
language plpgsql
set search_path = ''
as $$
declare
  -- About 100 ms.
  c_max_cost constant text := '1e8';
  v_function pg_catalog.pg_proc;
  v_cost text := p_cost;
  v_call text;
  v_operator record;
begin
  select * into v_function from pg_catalog.pg_proc where oid = p_function;
  for v_place in 1 .. v_function.pronargs loop
    v_cost := replace(v_cost, format('{%s}', v_place),
      private.guard_size(v_function.proargtypes[v_place - 1], v_place) || '::float8');
  end loop;
  v_call := format('pg_catalog.%I(%s)', v_function.proname,
    (select string_agg(
       case when place = v_function.pronargs and v_function.provariadic <> 0 then 'variadic ' else '' end || '$' || place,
       ', ' order by place)
     from generate_series(1, v_function.pronargs) as place));
  execute format(
    'create function %I.%I(%s) returns %s%s language plpgsql %s %s parallel safe set search_path = '''' as %L',
    p_schema, v_function.proname,
    (select string_agg(
       case when argument.place = v_function.pronargs and v_function.provariadic <> 0 then 'variadic ' else '' end
         || format_type(argument.type, null),
       ', ' order by argument.place)
     from unnest(v_function.proargtypes::oid[]) with ordinality as argument (type, place)),
    case when v_function.proretset then 'setof ' else '' end,
    format_type(v_function.prorettype, null),
    case v_function.provolatile when 'i' then 'immutable' else 'stable' end,
    case when v_function.proisstrict then 'strict' else '' end,
    format(
      'begin if %s > %s then raise program_limit_exceeded using message = %L, hint = %L; end if; return %s%s; end',
      v_cost, c_max_cost,
      format('the arguments of %s are too long: no timeout could interrupt the call', v_function.proname),
      'Shorten them, for example with left(value, 1000), or compare smaller parts.',
      case when v_function.proretset then 'query select ' else '' end, v_call)
  );
  for v_operator in
    select operator.oprname, operator.oprleft, operator.oprright
    from pg_catalog.pg_operator as operator
    where operator.oprcode = p_function and operator.oprkind = 'b'
  loop
    execute format('create operator %I.%s (leftarg = %s, rightarg = %s, function = %I.%I)',
      p_schema, v_operator.oprname, format_type(v_operator.oprleft, null), format_type(v_operator.oprright, null),
      p_schema, v_function.proname);
  end loop;
end;
$$;
comment on function private.create_guard(name, oid, text) is
  'Creates the function of a schema of guards that calls a built-in one while the cost, an expression in which {1} is the length of $1, is at most 10^8; and its operators. Called at installation.';

do $$
declare
  v_guard record;
begin
  for v_guard in
    -- Each function of PostgreSQL that has one of these implementations, under whatever name.
    with guard (schema, symbols, cost) as (
      values
        ('search', 'array_to_text array_to_text_null arraycontained arraycontains arrayoverlap bitposition byteanlike bytealike bytealtrim '
          || 'byteapos byteartrim byteatrim btrim jsonb_contained jsonb_contains jsonb_exists_all jsonb_exists_any ltrim namelike nameiclike '
          || 'nameicnlike namenlike rtrim split_part text_to_array text_to_array_null text_to_table text_to_table_null '
          || 'texticlike texticnlike textlike textnlike textpos translate tsq_mcontained tsq_mcontains', '{1} * {2}'),
        -- The result can also be too long.
        ('search', 'replace_text', '{1} * greatest({2}, {3} / greatest({2}, 1))'),
        ('search', 'ts_rankcd_tt ts_rankcd_ttf', '({1} + {2}) * {2}'),
        ('search', 'ts_rankcd_wtt ts_rankcd_wttf', '({2} + {3}) * {3}'),
        ('search', 'ts_rank_tt ts_rank_ttf', 'least({1}, 256 * {2}) ^ 2'),
        ('search', 'ts_rank_wtt ts_rank_wttf', 'least({2}, 256 * {3}) ^ 2'),
        ('key', 'jsonb_delete_array', '{1} * {2}'),
        ('number', 'numeric_mul', '{1} * {2}'),
        ('number', 'numeric_div numeric_div_trunc numeric_gcd numeric_lcm numeric_log numeric_mod', '({1} + {2}) ^ 2'),
        ('number', 'numeric_exp numeric_fac numeric_ln numeric_sqrt', '{1} ^ 2'),
        -- The digits of the result.
        ('number', 'numeric_power', '({1} + {2} + case when {1} > 100 or {2} > 100 then {1} * {2} else '
          || 'abs($2::float8) * abs(log(greatest(abs($1::float8), 1e-300))) end) ^ 2'),
        ('number', 'width_bucket_numeric', '({1} + {2} + {3}) ^ 2'),
        ('shape', 'path_distance path_inter poly_contain poly_contained poly_distance poly_overlap poly_same', '{1} * {2} * 10'),
        -- Combining marks are sorted by insertion.
        ('text', 'unicode_normalize_func unicode_is_normalized', '{1} ^ 2'),
        -- Each level indents all that is in it.
        ('text', 'jsonb_pretty', '4 * (length($1::text) - length(translate($1::text, ''[{'', '''')))::float8 '
          || '* (length($1::text) - length(translate($1::text, ''[{,'', '''')))'),
        -- The parser of words may look ahead from each of them to the end.
        ('text', 'phraseto_tsquery plainto_tsquery to_tsquery websearch_to_tsquery', '{1} ^ 2 / 250'),
        ('text', 'phraseto_tsquery_byid plainto_tsquery_byid to_tsquery_byid websearch_to_tsquery_byid '
          || 'ts_headline_byid ts_headline_byid_opt ts_headline_json_byid ts_headline_json_byid_opt '
          || 'ts_headline_jsonb_byid ts_headline_jsonb_byid_opt', '{2} ^ 2 / 250'),
        ('text', 'ts_headline ts_headline_opt ts_headline_json ts_headline_json_opt ts_headline_jsonb ts_headline_jsonb_opt',
          '{1} ^ 2 / 250'),
        ('word', 'to_tsvector json_to_tsvector json_string_to_tsvector jsonb_to_tsvector jsonb_string_to_tsvector',
          '{1} ^ 2 / 250'),
        ('word', 'to_tsvector_byid json_to_tsvector_byid json_string_to_tsvector_byid jsonb_to_tsvector_byid '
          || 'jsonb_string_to_tsvector_byid', '{2} ^ 2 / 250'),
        ('growth', 'array_cat bitcat byteacat jsonb_concat textcat tsvector_concat', '({1} + {2}) * 10'),
        ('growth', 'repeat', '{1} * {2} * 10'),
        ('growth', 'lpad rpad', '{2} * 10')
    )
    select guard.schema, function.oid, guard.cost
    from guard
    join pg_catalog.pg_proc as function
      on function.prosrc = any (string_to_array(guard.symbols, ' ')) and function.oid < 16384
      and function.pronamespace = 'pg_catalog'::regnamespace
    order by function.oid
  loop
    perform private.create_guard(format('supaswarm_%s_guards', v_guard.schema)::name, v_guard.oid, v_guard.cost);
  end loop;
end;
$$;
drop function private.create_guard(name, oid, text), private.guard_size(oid, int);
revoke all on all functions in schema
  supaswarm_search_guards, supaswarm_number_guards, supaswarm_growth_guards, supaswarm_key_guards
  from public;
grant execute on all functions in schema
  supaswarm_search_guards, supaswarm_number_guards, supaswarm_growth_guards, supaswarm_key_guards,
  supaswarm_text_guards, supaswarm_word_guards, supaswarm_shape_guards
  to authenticated;

create function private.indexes_words(p_names jsonb)
returns boolean
language sql
stable
set search_path = ''
as $$
  select exists (
    select
    from pg_catalog.pg_index as index
    join pg_catalog.pg_class as relation on relation.oid = index.indrelid
    join pg_catalog.pg_namespace as schema on schema.oid = relation.relnamespace
    where index.indexprs is not null
      and indexes_words.p_names -> 'schemas' ? schema.nspname::text
      and indexes_words.p_names -> 'relations' ? relation.relname::text
      and pg_get_indexdef(index.indexrelid) like '%to_tsvector(%'
  );
$$;
comment on function private.indexes_words(jsonb) is
  'Whether an index of one of these tables contains to_tsvector(), so that a guard would keep a search from using it, and whoever wrote a row has waited for its words. Takes {schemas, relations}. Called by the SQL tools as the functions'' own role.';
