import type { Sql } from "../../shared/platform/db/sql_client.ts";

/** What signed-in users may use of schema `public`. */
export interface ClientSchema {
  readonly tables: readonly ClientTable[];
  readonly functions: readonly ClientFunction[];
}

/** A table or view of which users may use a column. */
export interface ClientTable {
  readonly name: string;
  readonly isView: boolean;
  readonly columns: readonly ClientColumn[];
  readonly relationships: readonly ClientRelationship[];
}

/** A column, or a value that a function returns. */
export interface ClientColumn {
  readonly name: string;
  /** Name of its type in the catalogue, such as `int4` or `_text`. */
  readonly type: string;
  readonly isNullable: boolean;
  readonly hasDefault: boolean;
  /** A subset of `select`, `insert` and `update`. */
  readonly rights: readonly ("select" | "insert" | "update")[];
}

/** A foreign key between two tables of the schema. */
export interface ClientRelationship {
  readonly name: string;
  readonly columns: readonly string[];
  readonly isOneToOne: boolean;
  readonly target: string;
  readonly targetColumns: readonly string[];
}

/** A function that users may call. */
export interface ClientFunction {
  readonly name: string;
  readonly args: readonly { name: string; type: string; isOptional: boolean }[];
  readonly returnsSet: boolean;
  /** Type of its value; for rows, {@linkcode columns} has theirs. */
  readonly type: string;
  readonly columns: readonly Pick<ClientColumn, "name" | "type">[];
}

/** Reads what signed-in users may use, from a database that has only the platform. */
export async function readClientSchema(sql: Sql): Promise<ClientSchema> {
  return { tables: await readTables(sql), functions: await readFunctions(sql) };
}

async function readTables(sql: Sql): Promise<ClientTable[]> {
  return await sql<ClientTable[]>`
    with usable_columns as (
      select attribute.attrelid, attribute.attnum,
        jsonb_build_object(
          'name', attribute.attname,
          'type', pg_type.typname,
          'isNullable', not attribute.attnotnull,
          'hasDefault', attribute.atthasdef or attribute.attidentity <> '',
          'rights', rights.names
        ) as definition
      from pg_attribute as attribute
      join pg_type on pg_type.oid = attribute.atttypid
      cross join lateral (
        select jsonb_agg(right_name) as names
        from unnest('{select,insert,update}'::text[]) as right_name
        where has_column_privilege('authenticated', attribute.attrelid, attribute.attnum, right_name)
      ) as rights
      where attribute.attnum > 0 and not attribute.attisdropped and rights.names is not null
    )
    select relation.relname as name, relation.relkind in ('v', 'm') as "isView",
      (
        select jsonb_agg(definition order by attnum) from usable_columns
        where attrelid = relation.oid
      ) as columns,
      (
        select coalesce(jsonb_agg(jsonb_build_object(
          'name', key.conname,
          'columns', source.names,
          'isOneToOne', exists (
            select from pg_constraint as unique_key
            where unique_key.conrelid = key.conrelid and unique_key.contype in ('p', 'u')
              and unique_key.conkey <@ key.conkey
          ),
          'target', target.relname,
          'targetColumns', destination.names
        ) order by key.conname), '[]')
        from pg_constraint as key
        join pg_class as target on target.oid = key.confrelid
        cross join lateral (
          select jsonb_agg(attribute.attname order by place) as names
          from unnest(key.conkey) with ordinality as used (attnum, place)
          join pg_attribute as attribute on attribute.attrelid = key.conrelid and attribute.attnum = used.attnum
        ) as source
        cross join lateral (
          select jsonb_agg(attribute.attname order by place) as names
          from unnest(key.confkey) with ordinality as used (attnum, place)
          join pg_attribute as attribute on attribute.attrelid = key.confrelid and attribute.attnum = used.attnum
        ) as destination
        where key.conrelid = relation.oid and key.contype = 'f'
          and exists (select from usable_columns where attrelid = key.confrelid)
          and target.relnamespace = relation.relnamespace
      ) as relationships
    from pg_class as relation
    where relation.relnamespace = 'public'::regnamespace and relation.relkind in ('r', 'p', 'v', 'm')
      and not relation.relispartition
      and exists (select from usable_columns where attrelid = relation.oid)
      and not exists (select from pg_depend where objid = relation.oid and deptype = 'e')
    order by relation.relname`;
}

async function readFunctions(sql: Sql): Promise<ClientFunction[]> {
  return await sql<ClientFunction[]>`
    select routine.proname as name, routine.proretset as "returnsSet", result.typname as type,
      (
        select coalesce(jsonb_agg(jsonb_build_object(
          'name', routine.proargnames[place],
          'type', pg_type.typname,
          'isOptional', place > routine.pronargs - routine.pronargdefaults
        ) order by place), '[]')
        from unnest(routine.proargtypes::oid[]) with ordinality as argument (type, place)
        join pg_type on pg_type.oid = argument.type
      ) as args,
      (
        select coalesce(jsonb_agg(jsonb_build_object('name', name, 'type', type) order by place), '[]')
        from (
          select attribute.attname as name, pg_type.typname as type, attribute.attnum as place
          from pg_attribute as attribute
          join pg_type on pg_type.oid = attribute.atttypid
          where attribute.attrelid = result.typrelid and attribute.attnum > 0
            and not attribute.attisdropped
          union all
          select routine.proargnames[place], pg_type.typname, place
          from unnest(routine.proallargtypes) with ordinality as argument (type, place)
          join pg_type on pg_type.oid = argument.type
          where routine.proargmodes[place] = 't'
        ) as returned
      ) as columns
    from pg_proc as routine
    join pg_type as result on result.oid = routine.prorettype
    where routine.pronamespace = 'public'::regnamespace and result.typname <> 'trigger'
      and has_function_privilege('authenticated', routine.oid, 'execute')
      and not exists (select from pg_depend where objid = routine.oid and deptype = 'e')
    order by routine.proname`;
}
