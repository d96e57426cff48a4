-- The database's structure as a caller sees it, for generate_schema and the tools that use its result.

create function private.visible_relations(p_schemas jsonb)
returns table (id oid, schema_name text, name text, kind text)
language sql
stable
set search_path = ''
as $$
  select
    relation.oid,
    schema.nspname::text,
    relation.relname::text,
    case relation.relkind
      when 'r' then 'table'
      when 'p' then 'partitioned_table'
      when 'f' then 'foreign_table'
      when 'v' then 'view'
      else 'materialized_view'
    end
  from pg_catalog.pg_class as relation
  join pg_catalog.pg_namespace as schema on schema.oid = relation.relnamespace
  where visible_relations.p_schemas ? schema.nspname
    and relation.relkind in ('r', 'p', 'f', 'v', 'm')
    and not relation.relispartition
    and has_schema_privilege(schema.oid, 'usage')
    and (
      has_table_privilege(relation.oid, 'select, insert, update, delete')
      or has_any_column_privilege(relation.oid, 'select, insert, update')
    )
    and not exists (
      select from pg_catalog.pg_depend as member
      where member.classid = 'pg_catalog.pg_class'::regclass and member.objid = relation.oid and member.deptype = 'e'
    );
$$;
comment on function private.visible_relations(jsonb) is
  'Tables and views of these schemas on which the calling role has any right, without partitions and members of extensions.';

create function private.accepted_writes(p_relation_id oid)
returns text[]
language sql
stable
set search_path = ''
as $$
  select coalesce(array_agg(write.name) filter (where case relation.relkind
    when 'm' then false
    when 'v' then pg_relation_is_updatable(relation.oid, true) & write.event <> 0
    -- Only a wrapper with a handler can tell.
    when 'f' then wrapper.fdwhandler <> 0 and pg_relation_is_updatable(relation.oid, true) & write.event <> 0
    else true
  end), '{}')
  from pg_catalog.pg_class as relation
  left join pg_catalog.pg_foreign_table as foreign_table on foreign_table.ftrelid = relation.oid
  left join pg_catalog.pg_foreign_server as server on server.oid = foreign_table.ftserver
  left join pg_catalog.pg_foreign_data_wrapper as wrapper on wrapper.oid = server.srvfdw
  -- The numbers of PostgreSQL's own events.
  cross join (values ('insert', 8), ('update', 4), ('delete', 16)) as write (name, event)
  where relation.oid = accepted_writes.p_relation_id;
$$;
comment on function private.accepted_writes(oid) is
  'The writes that a relation can take from anyone: none for a materialized view, and for a view those that its query or its triggers allow.';

create function private.hides_rows(p_relation_id oid)
returns boolean
language sql
stable
set search_path = ''
as $$
  select row_security_active(hides_rows.p_relation_id)
    or not has_table_privilege(hides_rows.p_relation_id, 'select');
$$;
comment on function private.hides_rows(oid) is
  'Whether the calling role may not read every row of a table, so that its size and statistics would tell about rows of others.';

create function private.describe_columns(p_schemas jsonb)
returns table (relation_id oid, columns json)
language sql
stable
set search_path = ''
as $$
  with relations as materialized (
    select
      id,
      has_table_privilege(id, 'select') as is_readable,
      has_table_privilege(id, 'insert') as is_insertable,
      has_table_privilege(id, 'update') as is_updatable,
      kind = 'view' as is_view,
      private.accepted_writes(id) as accepted
    from private.visible_relations(describe_columns.p_schemas)
  )
  select
    relation.id,
    json_agg(json_build_object(
      'name', attribute.attname,
      'type', format_type(attribute.atttypid, attribute.atttypmod),
      'is_nullable', not attribute.attnotnull,
      'default', pg_get_expr(column_default.adbin, column_default.adrelid),
      'identity', case attribute.attidentity when 'a' then 'always' when 'd' then 'by default' end,
      'generation', case attribute.attgenerated when 's' then 'stored' when 'v' then 'virtual' end,
      -- Check single columns only when the role has no right on the whole table.
      'is_readable', relation.is_readable or has_column_privilege(relation.id, attribute.attnum, 'select'),
      'is_insertable', 'insert' = any (relation.accepted)
        and (relation.is_insertable or has_column_privilege(relation.id, attribute.attnum, 'insert'))
        and (not relation.is_view or pg_column_is_updatable(relation.id, attribute.attnum, true)),
      'is_updatable', 'update' = any (relation.accepted)
        and (relation.is_updatable or has_column_privilege(relation.id, attribute.attnum, 'update'))
        and (not relation.is_view or pg_column_is_updatable(relation.id, attribute.attnum, true)),
      'comment', description.description
    ) order by attribute.attnum)
  from relations as relation
  join pg_catalog.pg_attribute as attribute
    on attribute.attrelid = relation.id and attribute.attnum > 0 and not attribute.attisdropped
  left join pg_catalog.pg_attrdef as column_default
    on column_default.adrelid = attribute.attrelid and column_default.adnum = attribute.attnum
  left join pg_catalog.pg_description as description
    on description.classoid = 'pg_catalog.pg_class'::regclass
    and description.objoid = relation.id and description.objsubid = attribute.attnum
  where relation.is_readable or relation.is_insertable or relation.is_updatable
    or has_column_privilege(relation.id, attribute.attnum, 'select, insert, update')
  group by relation.id;
$$;
comment on function private.describe_columns(jsonb) is 'The columns of each visible relation that the calling role may use.';

create function private.describe_constraints(p_schemas jsonb)
returns table (relation_id oid, constraints json)
language sql
stable
set search_path = ''
as $$
  with relations as materialized (
    select id, schema_name, name from private.visible_relations(describe_constraints.p_schemas)
  )
  select
    relation.id,
    json_agg(json_build_object(
      'name', rule.conname,
      'kind', case rule.contype
        when 'p' then 'primary_key' when 'u' then 'unique' when 'f' then 'foreign_key'
        when 'x' then 'exclusion' else 'check'
      end,
      'columns', coalesce((
        select json_agg(attribute.attname order by key.place)
        from unnest(rule.conkey) with ordinality as key (number, place)
        join pg_catalog.pg_attribute as attribute
          on attribute.attrelid = relation.id and attribute.attnum = key.number
      ), '[]'),
      'definition', case when rule.contype in ('c', 'x') then pg_get_constraintdef(rule.oid) end,
      'target_schema', target.schema_name,
      'target_table', target.name,
      'target_columns', (
        select json_agg(attribute.attname order by key.place)
        from unnest(rule.confkey) with ordinality as key (number, place)
        join pg_catalog.pg_attribute as attribute
          on attribute.attrelid = target.id and attribute.attnum = key.number
      ),
      'on_delete', case rule.confdeltype
        when 'a' then 'no action' when 'r' then 'restrict' when 'c' then 'cascade'
        when 'n' then 'set null' when 'd' then 'set default'
      end
    ) order by rule.conname)
  from relations as relation
  join pg_catalog.pg_constraint as rule
    on rule.conrelid = relation.id and rule.contype in ('p', 'u', 'f', 'c', 'x')
  left join relations as target on target.id = rule.confrelid
  group by relation.id;
$$;
comment on function private.describe_constraints(jsonb) is
  'Keys, checks and exclusions of each visible relation. The target of a foreign key is omitted when the calling role may not use it.';

create function private.describe_indexes(p_schemas jsonb)
returns table (relation_id oid, indexes json)
language sql
stable
set search_path = ''
as $$
  select
    relation.id,
    json_agg(json_build_object(
      'name', entry.relname,
      'method', method.amname,
      'columns', (
        select json_agg(coalesce(attribute.attname, pg_get_indexdef(entry.oid, key.place::int, true)) order by key.place)
        from unnest(index.indkey::int2[]) with ordinality as key (number, place)
        left join pg_catalog.pg_attribute as attribute
          on attribute.attrelid = relation.id and attribute.attnum = key.number and key.number > 0
        where key.place <= index.indnkeyatts
      ),
      'is_unique', index.indisunique,
      'is_primary', index.indisprimary,
      'is_valid', index.indisvalid,
      'is_constraint', exists (
        select from pg_catalog.pg_constraint as rule
        where rule.conrelid = relation.id and rule.conindid = entry.oid and rule.contype in ('p', 'u', 'x')
      ),
      'predicate', pg_get_expr(index.indpred, relation.id, true),
      'definition', pg_get_indexdef(entry.oid),
      'scan_count', case when not private.hides_rows(relation.id) then pg_stat_get_numscans(entry.oid) end,
      'estimated_bytes', case when not private.hides_rows(relation.id)
        then entry.relpages::bigint * current_setting('block_size')::bigint end
    ) order by entry.relname)
  from private.visible_relations(describe_indexes.p_schemas) as relation
  join pg_catalog.pg_index as index on index.indrelid = relation.id
  join pg_catalog.pg_class as entry on entry.oid = index.indexrelid
  join pg_catalog.pg_am as method on method.oid = entry.relam
  group by relation.id;
$$;
comment on function private.describe_indexes(jsonb) is
  'The indexes of each visible relation. scan_count counts since the database''s statistics were last reset; like estimated_bytes it is null when the calling role may not read all rows.';

create function private.describe_row_policies(p_schemas jsonb)
returns table (relation_id oid, policies json)
language sql
stable
set search_path = ''
as $$
  select
    relation.id,
    json_agg(json_build_object(
      'name', policy.polname,
      'command', case policy.polcmd
        when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update' when 'd' then 'delete' else 'all'
      end,
      'is_permissive', policy.polpermissive,
      'using', pg_get_expr(policy.polqual, relation.id),
      'check', pg_get_expr(policy.polwithcheck, relation.id),
      'columns', (
        select coalesce(json_agg(distinct attribute.attname), '[]')
        from pg_catalog.pg_depend as used
        join pg_catalog.pg_attribute as attribute
          on attribute.attrelid = used.refobjid and attribute.attnum = used.refobjsubid
        where used.classid = 'pg_catalog.pg_policy'::regclass and used.objid = policy.oid
          and used.refclassid = 'pg_catalog.pg_class'::regclass and used.refobjid = relation.id
          and used.refobjsubid > 0
      )
    ) order by policy.polname)
  from private.visible_relations(describe_row_policies.p_schemas) as relation
  join pg_catalog.pg_policy as policy on policy.polrelid = relation.id
  where exists (
    select from unnest(policy.polroles) as role (id)
    where role.id = 0 or pg_has_role(role.id, 'member')
  )
  group by relation.id;
$$;
comment on function private.describe_row_policies(jsonb) is
  'The policies of each visible relation that apply to the calling role, with the relation''s columns that they name.';

create function private.view_definition(p_view_id oid, p_schemas jsonb)
returns text
language sql
stable
set search_path = ''
as $$
  select pg_get_viewdef(view_definition.p_view_id)
  where not exists (
    select
    from pg_catalog.pg_rewrite as rule
    join pg_catalog.pg_depend as used
      on used.classid = 'pg_catalog.pg_rewrite'::regclass and used.objid = rule.oid
      and used.refclassid = 'pg_catalog.pg_class'::regclass
    where rule.ev_class = view_definition.p_view_id
      and used.refobjid <> view_definition.p_view_id
      and used.refobjid not in (select id from private.visible_relations(view_definition.p_schemas))
  );
$$;
comment on function private.view_definition(oid, jsonb) is
  'A view''s query; null when it names a relation that the calling role may not use.';

create function private.describe_partitions(p_relation_id oid, p_schemas jsonb)
returns json
language sql
stable
set search_path = ''
as $$
  select coalesce(json_agg(json_build_object(
    'schema', schema.nspname,
    'name', part.relname,
    'parent_schema', parent_schema.nspname,
    'parent_name', parent.relname,
    'bound', case when not private.hides_rows(describe_partitions.p_relation_id) then pg_get_expr(part.relpartbound, part.oid) end,
    'partition_key', pg_get_partkeydef(part.oid)
  ) order by tree.level, schema.nspname collate "C", part.relname collate "C"), '[]')
  from pg_partition_tree(describe_partitions.p_relation_id) as tree
  join pg_catalog.pg_class as part on part.oid = tree.relid
  join pg_catalog.pg_namespace as schema on schema.oid = part.relnamespace
  join pg_catalog.pg_class as parent on parent.oid = tree.parentrelid
  join pg_catalog.pg_namespace as parent_schema on parent_schema.oid = parent.relnamespace
  where tree.level > 0
    and describe_partitions.p_schemas ? schema.nspname
    and has_table_privilege(describe_partitions.p_relation_id, 'select, insert, update, delete');
$$;
comment on function private.describe_partitions(oid, jsonb) is
  'The partitions of a table on all levels, parents first; none for a caller who has rights on single columns only. A bound has values of columns, so it is null for a caller who may not read every row.';

create function private.describe_relations(p_schemas jsonb)
returns json
language sql
stable
set search_path = ''
as $$
  with relations as materialized (
    select id, schema_name, name, kind from private.visible_relations(describe_relations.p_schemas)
  )
  select coalesce(json_agg(json_build_object(
    'schema', relation.schema_name,
    'name', relation.name,
    'kind', relation.kind,
    'comment', obj_description(relation.id, 'pg_class'),
    'row_estimate', case when entry.reltuples >= 0 and not private.hides_rows(relation.id) then entry.reltuples::bigint end,
    'has_row_security', entry.relrowsecurity,
    'privileges', (
      select coalesce(json_agg(privilege.name order by privilege.place), '[]')
      from unnest(array['select', 'insert', 'update', 'delete']) with ordinality as privilege (name, place)
      where has_table_privilege(relation.id, privilege.name)
        and (privilege.name = 'select' or privilege.name = any (private.accepted_writes(relation.id)))
    ),
    'partition_key', case when has_table_privilege(relation.id, 'select, insert, update, delete')
      then pg_get_partkeydef(relation.id) end,
    'partitions', case when relation.kind = 'partitioned_table'
      then private.describe_partitions(relation.id, describe_relations.p_schemas) else '[]' end,
    'inherits', (
      select coalesce(json_agg(json_build_object('schema', parent.schema_name, 'name', parent.name) order by line.inhseqno), '[]')
      from pg_catalog.pg_inherits as line
      join relations as parent on parent.id = line.inhparent
      where line.inhrelid = relation.id
    ),
    'foreign_server', (
      select server.srvname
      from pg_catalog.pg_foreign_table as foreign_table
      join pg_catalog.pg_foreign_server as server on server.oid = foreign_table.ftserver
      where foreign_table.ftrelid = relation.id
    ),
    'columns', coalesce(columns.columns, '[]'),
    'constraints', coalesce(constraints.constraints, '[]'),
    'indexes', coalesce(indexes.indexes, '[]'),
    'policies', coalesce(policies.policies, '[]'),
    'definition', case when relation.kind in ('view', 'materialized_view')
      then private.view_definition(relation.id, describe_relations.p_schemas) end
  ) order by relation.schema_name collate "C", relation.name collate "C"), '[]')
  from relations as relation
  join pg_catalog.pg_class as entry on entry.oid = relation.id
  left join private.describe_columns(describe_relations.p_schemas) as columns on columns.relation_id = relation.id
  left join private.describe_constraints(describe_relations.p_schemas) as constraints
    on constraints.relation_id = relation.id
  left join private.describe_indexes(describe_relations.p_schemas) as indexes on indexes.relation_id = relation.id
  left join private.describe_row_policies(describe_relations.p_schemas) as policies on policies.relation_id = relation.id;
$$;
comment on function private.describe_relations(jsonb) is 'Everything that is known about the visible relations, by schema and name.';

create function private.visible_types(p_schemas jsonb)
returns table (id oid, kind text, schema_name text, name text)
language sql
stable
set search_path = ''
as $$
  with used as materialized (
    select distinct coalesce(nullif(type.typelem, 0), type.oid) as id
    from private.visible_relations(visible_types.p_schemas) as relation
    join pg_catalog.pg_attribute as attribute
      on attribute.attrelid = relation.id and attribute.attnum > 0 and not attribute.attisdropped
    join pg_catalog.pg_type as type on type.oid = attribute.atttypid
    where attribute.atttypid >= 16384
      and has_column_privilege(relation.id, attribute.attnum, 'select, insert, update')
  )
  select
    type.oid,
    case type.typtype when 'e' then 'enum' when 'd' then 'domain' when 'c' then 'composite' else 'range' end,
    schema.nspname::text,
    type.typname::text
  from pg_catalog.pg_type as type
  join pg_catalog.pg_namespace as schema on schema.oid = type.typnamespace
  where type.typtype in ('e', 'd', 'c', 'r')
    -- A table has a row type of its own, which is no type of the project.
    and (type.typtype <> 'c' or exists (
      select from pg_catalog.pg_class as entry where entry.oid = type.typrelid and entry.relkind = 'c'
    ))
    and has_type_privilege(type.oid, 'usage')
    and (
      (visible_types.p_schemas ? schema.nspname and has_schema_privilege(schema.oid, 'usage'))
      -- The values of a column need no right on the schema of its type.
      or (type.typtype in ('e', 'd') and type.oid in (select id from used))
    )
    and not exists (
      select from pg_catalog.pg_depend as member
      where member.classid = 'pg_catalog.pg_type'::regclass and member.objid = type.oid and member.deptype = 'e'
    );
$$;
comment on function private.visible_types(jsonb) is
  'Enums, domains, composite types and ranges of these schemas that the calling role may use, and the enums and domains of its columns, without members of extensions.';

create function private.describe_enums(p_schemas jsonb)
returns json
language sql
stable
set search_path = ''
as $$
  select coalesce(json_agg(json_build_object(
    'schema', type.schema_name,
    'name', type.name,
    'written', format_type(type.id, null),
    'comment', obj_description(type.id, 'pg_type'),
    'values', (
      select json_agg(label.enumlabel order by label.enumsortorder)
      from pg_catalog.pg_enum as label
      where label.enumtypid = type.id
    )
  ) order by type.schema_name collate "C", type.name collate "C"), '[]')
  from private.visible_types(describe_enums.p_schemas) as type
  where type.kind = 'enum';
$$;
comment on function private.describe_enums(jsonb) is 'The visible enums with their values in order.';

create function private.describe_types(p_schemas jsonb)
returns json
language sql
stable
set search_path = ''
as $$
  select coalesce(json_agg(json_build_object(
    'schema', visible.schema_name,
    'name', visible.name,
    'kind', visible.kind,
    'written', format_type(visible.id, null),
    'comment', obj_description(visible.id, 'pg_type'),
    'base_type', coalesce(
      format_type(nullif(type.typbasetype, 0), type.typtypmod),
      (select format_type(range.rngsubtype, null) from pg_catalog.pg_range as range where range.rngtypid = visible.id)
    ),
    'is_nullable', not type.typnotnull,
    'default', pg_get_expr(type.typdefaultbin, 0),
    'checks', (
      select coalesce(json_agg(json_build_object('name', rule.conname, 'definition', pg_get_constraintdef(rule.oid))
        order by rule.conname), '[]')
      from pg_catalog.pg_constraint as rule
      where rule.contypid = visible.id and rule.contype = 'c'
    ),
    'attributes', (
      select coalesce(json_agg(json_build_object(
        'name', attribute.attname,
        'type', format_type(attribute.atttypid, attribute.atttypmod),
        'comment', col_description(type.typrelid, attribute.attnum)
      ) order by attribute.attnum), '[]')
      from pg_catalog.pg_attribute as attribute
      where attribute.attrelid = nullif(type.typrelid, 0) and attribute.attnum > 0 and not attribute.attisdropped
    )
  ) order by visible.schema_name collate "C", visible.name collate "C"), '[]')
  from private.visible_types(describe_types.p_schemas) as visible
  join pg_catalog.pg_type as type on type.oid = visible.id
  where visible.kind <> 'enum';
$$;
comment on function private.describe_types(jsonb) is
  'The visible domains, composite types and ranges. base_type is what a domain checks, or what a range has at its ends.';

create function private.describe_functions(p_schemas jsonb)
returns json
language sql
stable
set search_path = ''
as $$
  select coalesce(json_agg(json_build_object(
    'schema', schema.nspname,
    'name', proc.proname,
    'kind', case proc.prokind when 'p' then 'procedure' when 'a' then 'aggregate' when 'w' then 'window' else 'function' end,
    'arguments', pg_get_function_arguments(proc.oid),
    'returns', pg_get_function_result(proc.oid),
    'volatility', case proc.provolatile when 'i' then 'immutable' when 's' then 'stable' else 'volatile' end,
    'is_security_definer', proc.prosecdef,
    'comment', obj_description(proc.oid, 'pg_proc')
  ) order by schema.nspname collate "C", proc.proname collate "C", pg_get_function_arguments(proc.oid) collate "C"), '[]')
  from pg_catalog.pg_proc as proc
  join pg_catalog.pg_namespace as schema on schema.oid = proc.pronamespace
  where describe_functions.p_schemas ? schema.nspname
    and proc.prorettype not in ('pg_catalog.trigger'::regtype, 'pg_catalog.event_trigger'::regtype)
    and has_schema_privilege(schema.oid, 'usage')
    and has_function_privilege(proc.oid, 'execute')
    and not exists (
      select from pg_catalog.pg_depend as member
      where member.classid = 'pg_catalog.pg_proc'::regclass and member.objid = proc.oid and member.deptype = 'e'
    );
$$;
comment on function private.describe_functions(jsonb) is
  'The functions of these schemas that the calling role may execute, without triggers and members of extensions.';

create function private.describe_schema(p_schemas jsonb)
returns json
language sql
stable
set search_path = ''
as $$
  select json_build_object(
    'relations', private.describe_relations(describe_schema.p_schemas),
    'enums', private.describe_enums(describe_schema.p_schemas),
    'types', private.describe_types(describe_schema.p_schemas),
    'functions', private.describe_functions(describe_schema.p_schemas)
  );
$$;
comment on function private.describe_schema(jsonb) is
  'The structure of these schemas as the calling role sees it. Called by the SQL tools as the caller.';

create function private.catalog_version(p_schemas jsonb)
returns text
language sql
stable
set search_path = ''
as $$
  with schemas as materialized (
    select oid, xmin from pg_catalog.pg_namespace where catalog_version.p_schemas ? nspname
  ), relations as materialized (
    select oid, xmin from pg_catalog.pg_class where relnamespace in (select oid from schemas)
  ), changes (object) as (
    select row(1, oid, xmin)::text from schemas
    union all
    select row(2, oid, xmin)::text from relations
    union all
    select row(3, attrelid, attnum, xmin)::text from pg_catalog.pg_attribute where attrelid in (select oid from relations)
    union all
    select row(4, oid, xmin)::text from pg_catalog.pg_attrdef where adrelid in (select oid from relations)
    union all
    select row(5, oid, xmin)::text from pg_catalog.pg_constraint
    where conrelid in (select oid from relations) or contypid <> 0
    union all
    select row(6, indexrelid, xmin)::text from pg_catalog.pg_index where indrelid in (select oid from relations)
    union all
    select row(7, oid, xmin)::text from pg_catalog.pg_policy where polrelid in (select oid from relations)
    union all
    select row(8, oid, xmin)::text from pg_catalog.pg_rewrite where ev_class in (select oid from relations)
    union all
    select row(9, oid, xmin)::text from pg_catalog.pg_type
    where typnamespace in (select oid from schemas) and typtype <> 'c' or typtype in ('e', 'd') and oid >= 16384
    union all
    select row(10, oid, xmin)::text from pg_catalog.pg_enum
    union all
    select row(11, oid, xmin)::text from pg_catalog.pg_proc where pronamespace in (select oid from schemas)
    union all
    -- Comments of system objects never change.
    select row(12, classoid, objoid, objsubid, xmin)::text from pg_catalog.pg_description where objoid >= 16384
    union all
    select row(13, roleid, member, xmin)::text from pg_catalog.pg_auth_members
    union all
    select row(14, inhrelid, xmin)::text from pg_catalog.pg_inherits where inhparent in (select oid from relations)
    union all
    -- A trigger can make a view writable.
    select row(15, oid, xmin)::text from pg_catalog.pg_trigger where tgrelid in (select oid from relations) and not tgisinternal
  )
  select encode(sha256(convert_to(
    concat_ws(' ', current_user, catalog_version.p_schemas, count(*), sum(hashtextextended(object, 0))), 'UTF8'
  )), 'hex')
  from changes;
$$;
comment on function private.catalog_version(jsonb) is
  'A value that changes whenever anything in these schemas, a comment or a role membership is created, changed or dropped. Derived from the transactions that wrote the catalog rows, and different for each calling role. Called by the SQL tools as the caller.';

grant execute on function private.visible_relations(jsonb), private.accepted_writes(oid), private.hides_rows(oid), private.describe_columns(jsonb), private.describe_constraints(jsonb), private.describe_indexes(jsonb),
  private.describe_row_policies(jsonb), private.view_definition(oid, jsonb), private.describe_partitions(oid, jsonb), private.describe_relations(jsonb),
  private.visible_types(jsonb), private.describe_enums(jsonb), private.describe_types(jsonb), private.describe_functions(jsonb), private.describe_schema(jsonb),
  private.catalog_version(jsonb) to authenticated;

create table private.schema_cache (
  is_only_row boolean primary key default true check (is_only_row),
  catalog_version text not null,
  schema_hash text not null,
  content jsonb not null,
  analysis jsonb,
  generated_at timestamptz not null default now()
);
comment on table private.schema_cache is
  'The latest result of private.describe_schema(). It is the same for every caller, because all of them read it as the role authenticated.';
comment on column private.schema_cache.catalog_version is 'private.catalog_version() when the structure was read. The row is stale when the current value differs.';
comment on column private.schema_cache.schema_hash is 'SHA-256 of the structure without estimates and counts.';
comment on column private.schema_cache.analysis is 'A model''s description of this structure, with the model''s name; null: none was requested.';
alter table private.schema_cache enable row level security;
