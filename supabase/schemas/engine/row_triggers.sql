-- Row triggers: changes of a project's own rows that start jobs. A definition names a table, events, conditions and an
-- agent; it is attached to the table with one statement trigger for each event. row_starts.sql has what that records.
--
-- Conditions, columns and the input are structure. The statement that reads the changed rows is built from it here,
-- with quoted names and values, and stored where only the platform writes.

create table public.row_triggers (
  id uuid primary key default gen_random_uuid(),
  name text not null unique check (length(name) between 1 and 100),
  table_name text not null,
  events text[] not null check (events <> '{}' and events <@ '{insert,update,delete}'),
  columns text[],
  conditions jsonb not null default '[]' check (jsonb_typeof(conditions) = 'array'),
  agent text not null,
  input jsonb check (jsonb_typeof(input) = 'object'),
  owner_column text,
  starts_per text not null default 'row' check (starts_per in ('row', 'statement')),
  key text[],
  debounce_seconds int not null default 0 check (debounce_seconds between 0 and 86400),
  max_per_hour int not null default 20 check (max_per_hour > 0),
  is_active boolean not null default true,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
revoke all on public.row_triggers from anon, authenticated, service_role;
comment on table public.row_triggers is
  'Which changes of rows start jobs. The service writes the rows, mostly by a push of triggers.yaml; each active one has a statement trigger on its table for each event. operator_row_starts shows what has not become a job.';
comment on column public.row_triggers.table_name is 'The table, exactly as it is called: orders, or shop.orders outside of the default schema. It has a primary key.';
comment on column public.row_triggers.events is 'insert, update, delete. A truncate starts nothing.';
comment on column public.row_triggers.columns is 'An update counts only if one of these columns has changed. Null: every update counts.';
comment on column public.row_triggers.conditions is 'All of [{column, op, value}] must hold for the row as it is after the change, or for the deleted row. op: eq, neq, gt, gte, lt, lte, in, is_null, not_null.';
comment on column public.row_triggers.agent is 'Slug of the agent.';
comment on column public.row_triggers.input is 'The input of a job, {key: column}. Null: {event, row}, for an update also old; with starts_per statement the columns of the primary key.';
comment on column public.row_triggers.owner_column is 'The column with the id of the user for whom the job runs. Null, or null in a row: the user who changed the row, or the service.';
comment on column public.row_triggers.starts_per is 'row: a job for each row. statement: one for all rows that a statement changes for an owner, with the input {event, table, rows}; 1,000 rows at most.';
comment on column public.row_triggers.key is 'Columns for which changes are the same to debounce_seconds and max_per_hour. Null: the primary key.';
comment on column public.row_triggers.debounce_seconds is 'A job starts this long after the last change of its key, with that change''s input. 0: each change starts a job.';
comment on column public.row_triggers.max_per_hour is 'Jobs of one key in an hour, with starts_per statement of one owner; further starts fail with TRIGGER_LIMIT_REACHED. Ends loops of jobs that change their own rows.';
alter table public.row_triggers enable row level security;
grant select, insert, update, delete on public.row_triggers to service_role;

create table private.row_trigger_statements (
  trigger_id uuid not null references public.row_triggers (id) on delete cascade,
  event text not null,
  statement text not null,
  primary key (trigger_id, event)
);
comment on table private.row_trigger_statements is
  'The statement with which a row trigger records the starts of an event. Built by row_start_statement() when the definition is saved, and run by record_row_starts().';
alter table private.row_trigger_statements enable row level security;

-- Tables ------------------------------------------------------------------------------------------

create function private.schema_of_table(p_table_name text)
returns text
language sql
immutable
set search_path = ''
as $$
  select case when strpos(p_table_name, '.') = 0 then 'public' else split_part(p_table_name, '.', 1) end;
$$;
comment on function private.schema_of_table(text) is 'The schema of a table as row triggers name it.';

create function private.triggered_table(p_table_name text)
returns oid
language sql
stable
set search_path = ''
as $$
  select relation.oid
  from pg_catalog.pg_class as relation
  join pg_catalog.pg_namespace as schema on schema.oid = relation.relnamespace
  where schema.nspname = private.schema_of_table(p_table_name)
    and relation.relname = case when strpos(p_table_name, '.') = 0 then p_table_name
      else substr(p_table_name, strpos(p_table_name, '.') + 1) end
    and relation.relkind in ('r', 'p');
$$;
comment on function private.triggered_table(text) is 'The table that a row trigger names; null if there is none.';

create function private.column_type(p_table oid, p_column text)
returns oid
language sql
stable
set search_path = ''
as $$
  select atttypid from pg_catalog.pg_attribute
  where attrelid = p_table and attname = p_column and attnum > 0 and not attisdropped;
$$;
comment on function private.column_type(oid, text) is 'The type of a table''s column; null if there is none.';

create function private.primary_key_of(p_table oid)
returns text[]
language sql
stable
set search_path = ''
as $$
  select array_agg(attribute.attname::text order by part.place)
  from pg_catalog.pg_index as key
  cross join unnest(key.indkey::int2[]) with ordinality as part (attnum, place)
  join pg_catalog.pg_attribute as attribute on attribute.attrelid = key.indrelid and attribute.attnum = part.attnum
  where key.indrelid = p_table and key.indisprimary;
$$;
comment on function private.primary_key_of(oid) is 'The columns of a table''s primary key; null if it has none.';

create function private.is_platform_table(p_table oid)
returns boolean
language plpgsql
stable
set search_path = ''
as $$
begin
  return schema.oid = 'private'::regnamespace
    or schema.nspname ~ '^(pg_|supaswarm_|_)'
    or schema.nspname = any (
      '{information_schema,auth,storage,realtime,vault,cron,net,pgmq,pgsodium,extensions,graphql,graphql_public,supabase_functions,supabase_migrations}'
    )
    or exists (
      select from private.platform_objects as own where own.schema_name = schema.nspname and own.name = relation.relname
    )
  from pg_catalog.pg_class as relation
  join pg_catalog.pg_namespace as schema on schema.oid = relation.relnamespace
  where relation.oid = p_table;
end;
$$;
comment on function private.is_platform_table(oid) is
  'True for tables of this platform, of Supabase and of PostgreSQL: a job that starts at a change of them could change its own conditions.';

-- The statement -----------------------------------------------------------------------------------

create function private.row_condition(p_condition jsonb, p_type oid)
returns text
language sql
immutable
set search_path = ''
as $$
  with parts as (
    select format('changed_row.%I', p_condition ->> 'column') as subject,
      case when p_type = 'jsonb'::regtype then (p_condition -> 'value')::text else p_condition ->> 'value' end as value
  )
  select case p_condition ->> 'op'
    when 'is_null' then subject || ' is null'
    when 'not_null' then subject || ' is not null'
    when 'eq' then format('%s = %L', subject, value)
    when 'neq' then format('%s is distinct from %L', subject, value)
    when 'gt' then format('%s > %L', subject, value)
    when 'gte' then format('%s >= %L', subject, value)
    when 'lt' then format('%s < %L', subject, value)
    when 'lte' then format('%s <= %L', subject, value)
    when 'in' then format('%s in (%s)', subject, (
      select string_agg(format('%L', case when p_type = 'jsonb'::regtype then item::text else item #>> '{}' end), ', ')
      from jsonb_array_elements(p_condition -> 'value') as item
    ))
  end
  from parts;
$$;
comment on function private.row_condition(jsonb, oid) is
  'A condition {column, op, value} on a column of this type as SQL. Names and values are quoted, and op is one of a list.';

create function private.row_values(p_alias text, p_columns text[])
returns text
language sql
immutable
set search_path = ''
as $$
  select case when cardinality(p_columns) = 1 then format('coalesce(%I.%I::text, '''')', p_alias, p_columns[1])
    else (select format('jsonb_build_array(%s)::text', string_agg(format('%I.%I', p_alias, name), ', ' order by place))
      from unnest(p_columns) with ordinality as listed (name, place)) end;
$$;
comment on function private.row_values(text, text[]) is 'SQL for the values of a row''s columns as one text, which is empty for null.';

create function private.row_input(p_trigger public.row_triggers, p_event text, p_primary_key text[])
returns text
language sql
immutable
set search_path = ''
as $$
  select case
    when p_trigger.input is null and p_trigger.starts_per = 'row' then
      format('jsonb_build_object(''event'', %L, ''row'', to_jsonb(changed_row)%s)', p_event,
        case when p_event = 'update' then ', ''old'', to_jsonb(earlier_row)' else '' end)
    else (
      select format('jsonb_build_object(%s)', string_agg(format('%L, changed_row.%I', entry.key, entry.value), ', '))
      from (
        select key, value from jsonb_each_text(p_trigger.input)
        union all
        select name, name from unnest(p_primary_key) as name where p_trigger.input is null
      ) as entry
    )
  end;
$$;
comment on function private.row_input(public.row_triggers, text, text[]) is 'SQL for what a changed row adds to the input of its job.';

create function private.row_start_statement(
  p_trigger public.row_triggers, p_event text, p_new_rows text default 'new_rows', p_old_rows text default 'old_rows'
)
returns text
language plpgsql
stable
set search_path = ''
as $$
declare
  -- The keys of as many rows are far below the size of an input.
  c_most_rows constant int := 1000;
  v_table constant oid := private.triggered_table(p_trigger.table_name);
  v_primary_key constant text[] := private.primary_key_of(v_table);
  v_source text;
  v_where text[] := array(
    select private.row_condition(condition, private.column_type(v_table, condition ->> 'column'))
    from jsonb_array_elements(p_trigger.conditions) as condition
  );
  v_rows text;
begin
  v_source := case p_event
    when 'insert' then format('%s as changed_row', p_new_rows)
    when 'delete' then format('%s as changed_row', p_old_rows)
    -- A row whose primary key has changed has no earlier row, and all of its columns count as changed.
    else format('%s as changed_row left join %s as earlier_row on %s', p_new_rows, p_old_rows, (
      select string_agg(format('earlier_row.%1$I = changed_row.%1$I', name), ' and ') from unnest(v_primary_key) as name
    ))
  end;
  if p_event = 'update' and p_trigger.columns is not null then
    v_where := v_where || format('(earlier_row.%I is null or %s)', v_primary_key[1], (
      -- Values of json and xml cannot be compared.
      select string_agg(format('changed_row.%1$I%2$s is distinct from earlier_row.%1$I%2$s', name,
        case when private.column_type(v_table, name) in ('json'::regtype, 'xml'::regtype) then '::text' else '' end), ' or ')
      from unnest(p_trigger.columns) as name
    ));
  end if;
  v_rows := format('select %s as row_key, coalesce(%s, $2) as owner_id, %s as input from %s where %s',
    case p_trigger.starts_per when 'row' then private.row_values('changed_row', coalesce(p_trigger.key, v_primary_key)) else '''''' end,
    case when p_trigger.owner_column is null then 'null::uuid' else format('changed_row.%I', p_trigger.owner_column) end,
    private.row_input(p_trigger, p_event, v_primary_key), v_source, coalesce(nullif(array_to_string(v_where, ' and '), ''), 'true'));
  if p_trigger.starts_per = 'statement' then
    v_rows := format('select '''' as row_key, owner_id, jsonb_build_object(''event'', %L, ''table'', %L, ''rows'', jsonb_agg(input)) as input
      from (select owner_id, input, (row_number() over (partition by owner_id) - 1) / %s as part from (%s) as one_row) as numbered
      group by owner_id, part', p_event, p_trigger.table_name, c_most_rows, v_rows);
  end if;
  return format('
    select $1 as trigger_id, %L as event,
      case when length(row_key) > 200 then md5(row_key) else row_key end as row_key,
      coalesce(case when is_refused then $2 else owner_id end, ''00000000-0000-0000-0000-000000000000'') as owner_key, $4 as client_id, $5 as client_scopes,
      case when not is_refused then input end as input, %s as is_debounced, $6 as due_at,
      case when is_refused then $7 end as error
    from (select *, not $3 and owner_id is distinct from $2 as is_refused from (%s) as matching) as judged',
    p_event, case when p_trigger.debounce_seconds > 0 then 'true' else 'false' end, v_rows);
end;
$$;
comment on function private.row_start_statement(public.row_triggers, text, text, text) is
  'The query of the rows of row_starts for the changed rows of an event. Parameters: the trigger, the user who writes (null: the service), whether the writer may name any owner, the OAuth client and its scopes, when the starts are due, and the error of a row of another owner. Raises what PostgreSQL raises for columns that do not exist.';
