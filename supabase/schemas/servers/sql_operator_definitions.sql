-- Definitions that operators run with execute_sql, with the rights of the migrations. definition_limits.ts has the
-- kinds of statements; these functions check what they name, and what they have changed.

create table private.platform_objects (
  schema_name text not null,
  name text not null,
  primary key (schema_name, name)
);
comment on table private.platform_objects is
  'Relations and types of this platform in the schema public. Statements of the SQL tools never define them anew. Filled in by object_names.sql.';
alter table private.platform_objects enable row level security;

create function private.protected_definitions(p_schemas jsonb)
returns text
language sql
stable
set search_path = ''
as $$
  with relations as materialized (
    select relation.oid, relation.xmin, relation.reltype
    from pg_catalog.pg_class as relation
    join pg_catalog.pg_namespace as schema on schema.oid = relation.relnamespace
    where relation.oid >= 16384
      and schema.nspname <> 'pg_toast'
      and (
        not protected_definitions.p_schemas ? schema.nspname::text
        or exists (
          select from private.platform_objects as own
          where own.schema_name = schema.nspname and own.name = relation.relname
        )
      )
  ), types as materialized (
    select type.oid, type.xmin
    from pg_catalog.pg_type as type
    join pg_catalog.pg_namespace as schema on schema.oid = type.typnamespace
    where type.oid >= 16384
      and (
        not protected_definitions.p_schemas ? schema.nspname::text
        or exists (
          select from private.platform_objects as own
          where own.schema_name = schema.nspname and own.name = type.typname
        )
      )
  ), states (object) as (
    select row(1, oid, xmin)::text from relations
    union all
    select row(2, oid, xmin)::text from types
    union all
    select row(3, attrelid, attnum, xmin)::text from pg_catalog.pg_attribute where attrelid in (select oid from relations)
    union all
    select row(4, oid, xmin)::text from pg_catalog.pg_attrdef where adrelid in (select oid from relations)
    union all
    select row(5, oid, xmin)::text from pg_catalog.pg_constraint
    where conrelid in (select oid from relations) or contypid in (select oid from types)
    union all
    select row(6, indexrelid, xmin)::text from pg_catalog.pg_index where indrelid in (select oid from relations)
    union all
    select row(7, oid, xmin)::text from pg_catalog.pg_policy where polrelid in (select oid from relations)
    union all
    select row(8, oid, xmin)::text from pg_catalog.pg_rewrite where ev_class in (select oid from relations)
    union all
    -- Dropping a table of the project drops the internal triggers of its foreign keys.
    select row(9, oid, xmin)::text from pg_catalog.pg_trigger where tgrelid in (select oid from relations) and not tgisinternal
    union all
    select row(10, oid, xmin)::text from pg_catalog.pg_enum where enumtypid in (select oid from types)
    union all
    select row(11, oid, xmin)::text from pg_catalog.pg_statistic_ext where stxrelid in (select oid from relations)
    union all
    select row(12, inhrelid, inhparent, xmin)::text from pg_catalog.pg_inherits where inhparent in (select oid from relations)
    union all
    select row(13, classoid, objoid, objsubid, xmin)::text from pg_catalog.pg_description
    where objoid in (select oid from relations union all select oid from types)
    union all
    select row(20, oid, xmin)::text from pg_catalog.pg_proc where oid >= 16384
    union all
    select row(21, oid, xmin)::text from pg_catalog.pg_operator where oid >= 16384
    union all
    select row(22, oid, xmin)::text from pg_catalog.pg_cast where oid >= 16384
    union all
    select row(23, oid, xmin)::text from pg_catalog.pg_namespace
    union all
    select row(24, oid, xmin)::text from pg_catalog.pg_event_trigger
    union all
    select row(25, oid, xmin)::text from pg_catalog.pg_extension
    union all
    select row(26, oid, xmin)::text from pg_catalog.pg_default_acl
    union all
    select row(27, oid, xmin)::text from pg_catalog.pg_publication
    union all
    select row(28, roleid, member, xmin)::text from pg_catalog.pg_auth_members
    union all
    select row(29, setdatabase, setrole, xmin)::text from pg_catalog.pg_db_role_setting
  )
  select encode(sha256(convert_to(concat_ws(' ', count(*), sum(hashtextextended(object, 0))), 'UTF8')), 'hex')
  from states;
$$;
comment on function private.protected_definitions(jsonb) is
  'A value that differs after anything was defined, changed or dropped that an operator''s definition has to spare: relations and types of this platform and outside these schemas, and all functions, operators, casts, schemas, event triggers, extensions, publications, memberships and settings of roles. Compared within one transaction with a fixed snapshot.';

create function private.assert_spared(p_before text, p_schemas jsonb)
returns void
language plpgsql
set search_path = ''
as $$
begin
  if private.protected_definitions(p_schemas) <> p_before then
    perform private.raise_error('SQL_FORBIDDEN',
      'Cannot run the definition: it would change something that belongs to the platform or to a schema that is not exposed',
      'Nothing was changed. Change it with a migration.');
  end if;
end;
$$;
comment on function private.assert_spared(text, jsonb) is
  'Raises SQL_FORBIDDEN if the transaction has changed what private.protected_definitions() describes: whatever a definition names, this is what it may change.';

create function private.assert_definable(p_target jsonb, p_relation_id oid, p_type_id oid, p_schemas jsonb)
returns void
language plpgsql
stable
set search_path = ''
as $$
declare
  v_schema text := coalesce(p_target ->> 'schema', p_schemas ->> 0);
  v_name text := p_target ->> 'name';
  v_is_type boolean := p_target ->> 'kind' = 'type';
  v_id oid := case when v_is_type then p_type_id else p_relation_id end;
  v_owner oid;
begin
  if p_target ->> 'effect' = 'use' then
    if v_id is null then
      perform private.raise_error('SQL_FAILED',
        format('Cannot run the definition: the type "%s" does not exist', v_name), 'Name an existing type.');
    end if;
    return;
  end if;
  if p_target ->> 'effect' = 'create' then
    if not exists (select from pg_catalog.pg_namespace where nspname = v_schema) then
      perform private.raise_error('SQL_FAILED',
        format('Cannot run the definition: the schema %I does not exist', v_schema), 'Name an exposed schema.');
    elsif not has_schema_privilege(v_schema, 'create') then
      perform private.raise_error('SQL_RIGHT_MISSING',
        format('Cannot run the definition: permission denied, the migration role lacks CREATE on schema %I', v_schema),
        format('Run as the owner of the schema: grant create on schema %I to %I;', v_schema, current_user));
    end if;
    v_id := null;
    if v_is_type then
      select type.oid into v_id
      from pg_catalog.pg_type as type
      join pg_catalog.pg_namespace as schema on schema.oid = type.typnamespace
      where schema.nspname = v_schema and type.typname = v_name;
    else
      select relation.oid into v_id
      from pg_catalog.pg_class as relation
      join pg_catalog.pg_namespace as schema on schema.oid = relation.relnamespace
      where schema.nspname = v_schema and relation.relname = v_name;
    end if;
    if v_id is not null and not (p_target ->> 'may_exist')::boolean then
      perform private.raise_error('SQL_FAILED',
        format('Cannot run the definition: %I.%I already exists', v_schema, v_name), 'Choose another name, or change it with ALTER.');
    end if;
  elsif v_id is null and not (p_target ->> 'may_miss')::boolean then
    perform private.raise_error('SQL_FAILED',
      format('Cannot run the definition: "%s" does not exist', v_name), 'generate_schema lists what there is.');
  end if;
  if v_id is null then
    return;
  end if;
  if v_is_type then
    select schema.nspname, type.typname, type.typowner into v_schema, v_name, v_owner
    from pg_catalog.pg_type as type
    join pg_catalog.pg_namespace as schema on schema.oid = type.typnamespace
    where type.oid = v_id;
  else
    select schema.nspname, relation.relname, relation.relowner into v_schema, v_name, v_owner
    from pg_catalog.pg_class as relation
    join pg_catalog.pg_namespace as schema on schema.oid = relation.relnamespace
    where relation.oid = v_id;
  end if;
  if not p_schemas ? v_schema
    or exists (select from private.platform_objects as own where own.schema_name = v_schema and own.name = v_name)
  then
    perform private.raise_error('SQL_FORBIDDEN',
      format('Cannot run the definition: %I.%I belongs to the platform or to a schema that is not exposed', v_schema, v_name),
      'Change it with a migration.');
  elsif not pg_has_role(v_owner, 'usage') then
    perform private.raise_error('SQL_RIGHT_MISSING',
      format('Cannot run the definition: permission denied, the migration role is not the owner of %I.%I', v_schema, v_name),
      format('Let its owner %s run it.', v_owner::regrole));
  end if;
end;
$$;
comment on function private.assert_definable(jsonb, oid, oid, jsonb) is
  'Raises SQL_RIGHT_MISSING, SQL_FORBIDDEN or SQL_FAILED if the current role cannot define a target {kind relation|type, schema, name, effect create|change|use, may_exist, may_miss}. The ids are what its name means in the search path of the statement. Called by the SQL tools as the functions'' own role, before they offer a definition and before they run it.';

create function private.open_new_relation(p_relation_id oid)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_kind "char" := (
    select relkind from pg_catalog.pg_class
    -- Another transaction could have created it first: then the statement changed nothing.
    where oid = p_relation_id and xmin = pg_current_xact_id()::xid
  );
  v_sequence regclass;
begin
  if v_kind in ('r', 'p') then
    execute format('alter table %s enable row level security', p_relation_id::regclass);
    -- Without TRUNCATE, REFERENCES and TRIGGER, which policies do not limit.
    execute format('revoke all on %s from anon, authenticated', p_relation_id::regclass);
    execute format('grant select, insert, update, delete on %s to authenticated', p_relation_id::regclass);
    for v_sequence in
      select owned.objid::regclass
      from pg_catalog.pg_depend as owned
      join pg_catalog.pg_class as sequence on sequence.oid = owned.objid and sequence.relkind = 'S'
      where owned.classid = 'pg_catalog.pg_class'::regclass
        and owned.refclassid = 'pg_catalog.pg_class'::regclass
        and owned.refobjid = p_relation_id and owned.deptype in ('a', 'i')
    loop
      execute format('revoke all on sequence %s from anon, authenticated', v_sequence);
      execute format('grant usage on sequence %s to authenticated', v_sequence);
    end loop;
  elsif v_kind = 'v' then
    execute format('revoke all on %s from anon, authenticated', p_relation_id::regclass);
    execute format('grant select on %s to authenticated', p_relation_id::regclass);
  end if;
end;
$$;
comment on function private.open_new_relation(oid) is
  'Enables row level security on a table that an operator has just created, and gives signed-in users the rights that policies limit: they see the table, and no row until a policy exists. A view, which has the rights of its reader, can be read.';

create function private.record_definition(p_confirmation_id uuid, p_statement text)
returns void
language sql
set search_path = ''
as $$
  select private.record_act('schema.changed', '{}', null,
    jsonb_build_object('confirmation_id', p_confirmation_id, 'statement', p_statement));
  -- PostgREST listens to this channel.
  select pg_notify('pgrst', 'reload schema');
$$;
comment on function private.record_definition(uuid, text) is
  'Records a definition that the calling operator runs, and makes the REST API read the schema again after the commit.';
