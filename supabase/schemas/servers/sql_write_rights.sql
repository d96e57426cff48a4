-- What a write would need and its caller lacks. The SQL tools check it before they ask a person to confirm,
-- so that only statements that can succeed are offered.

create function private.has_write_policy(p_relation_id oid, p_command text)
returns boolean
language sql
stable
set search_path = ''
as $$
  select not row_security_active(has_write_policy.p_relation_id) or exists (
    select
    from pg_catalog.pg_policy as policy
    where policy.polrelid = has_write_policy.p_relation_id
      and policy.polpermissive
      and policy.polcmd in ('*', case has_write_policy.p_command when 'insert' then 'a' when 'update' then 'w' else 'd' end)
      and exists (
        select from unnest(policy.polroles) as role (id)
        where role.id = 0 or pg_has_role(role.id, 'usage')
      )
      and pg_get_expr(
        case has_write_policy.p_command when 'insert' then coalesce(policy.polwithcheck, policy.polqual) else policy.polqual end,
        policy.polrelid
      ) is distinct from 'false'
  );
$$;
comment on function private.has_write_policy(oid, text) is
  'Whether row level security could let the calling role insert, update or delete some row of a table.';

create function private.missing_write_right(p_relation_id oid, p_command text, p_columns jsonb)
returns text
language sql
stable
set search_path = ''
as $$
  with columns as (
    select attribute.attnum, attribute.attname
    from pg_catalog.pg_attribute as attribute
    where attribute.attrelid = missing_write_right.p_relation_id
      and attribute.attnum > 0 and not attribute.attisdropped
      and missing_write_right.p_columns ? attribute.attname::text
  ), sequences as materialized (
    -- Columns that the statement omits take their defaults with the caller's rights.
    select distinct sequence.oid
    from pg_catalog.pg_attrdef as column_default
    join pg_catalog.pg_attribute as attribute
      on attribute.attrelid = column_default.adrelid and attribute.attnum = column_default.adnum
    join pg_catalog.pg_depend as used
      on used.classid = 'pg_catalog.pg_attrdef'::regclass and used.objid = column_default.oid
      and used.refclassid = 'pg_catalog.pg_class'::regclass
    join pg_catalog.pg_class as sequence on sequence.oid = used.refobjid and sequence.relkind = 'S'
    where column_default.adrelid = missing_write_right.p_relation_id
      and missing_write_right.p_command = 'insert'
      and not missing_write_right.p_columns ? attribute.attname::text
  )
  select missing
  from (
    select 1 as place, format('%s on %s', upper(missing_write_right.p_command), missing_write_right.p_relation_id::regclass) as missing
    where not has_table_privilege(missing_write_right.p_relation_id, missing_write_right.p_command)
      and not (
        missing_write_right.p_command in ('insert', 'update')
        and has_any_column_privilege(missing_write_right.p_relation_id, missing_write_right.p_command)
      )
    union all
    select 2, format('%s on column %I of %s', upper(missing_write_right.p_command), columns.attname, missing_write_right.p_relation_id::regclass)
    from columns
    where missing_write_right.p_command in ('insert', 'update')
      and not has_column_privilege(missing_write_right.p_relation_id, columns.attnum, missing_write_right.p_command)
    union all
    select 3, format('USAGE on sequence %s', sequences.oid::regclass)
    from sequences
    where not has_sequence_privilege(sequences.oid, 'usage, update')
    union all
    select 4, format('a policy of %s for %s', missing_write_right.p_relation_id::regclass, upper(missing_write_right.p_command))
    where not private.has_write_policy(missing_write_right.p_relation_id, missing_write_right.p_command)
  ) as problems
  order by place, missing
  limit 1;
$$;
comment on function private.missing_write_right(oid, text, jsonb) is
  'The right that the calling role lacks to insert, update or delete: on the table, a column, the sequence of a default, or a policy; null if it lacks none that is known beforehand. p_columns are the columns that the statement sets, or null if unknown. Called by the SQL tools as the caller.';
grant execute on function private.has_write_policy(oid, text), private.missing_write_right(oid, text, jsonb) to authenticated;
