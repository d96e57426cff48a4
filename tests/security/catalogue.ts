import type { Sql } from "../../shared/platform/db/sql_client.ts";

/** A table or view of `public`. */
export interface Relation {
  readonly name: string;
  readonly kind: "table" | "view";
  readonly columns: readonly string[];
  /** A column that accepts a value in an insert, and for a table does not accept null. */
  readonly requiredColumn: string;
  /** The clients' roles that hold a privilege to change it, or one of its columns. */
  readonly writers: readonly Right["role"][];
}

/** Every table and view of `public` that does not belong to an extension, by name. */
export async function readRelations(sql: Sql): Promise<readonly Relation[]> {
  return [
    ...await sql<Relation[]>`
    select relation.relname as name,
      case when relation.relkind in ('r', 'p', 'f') then 'table' else 'view' end as kind,
      (
        select jsonb_agg(attribute.attname order by attribute.attnum)
        from pg_attribute as attribute
        where attribute.attrelid = relation.oid and attribute.attnum > 0
          and not attribute.attisdropped
      ) as columns,
      (
        select attribute.attname
        from pg_attribute as attribute
        where attribute.attrelid = relation.oid and attribute.attnum > 0
          and not attribute.attisdropped and attribute.attidentity = ''
        order by not attribute.attnotnull, attribute.attnum
        limit 1
      ) as "requiredColumn",
      (
        select coalesce(jsonb_agg(role), '[]')
        from unnest(array['anon', 'authenticated']) as role
        where has_table_privilege(role, relation.oid, 'insert, update, delete, truncate')
          or has_any_column_privilege(role, relation.oid, 'insert, update')
      ) as writers
    from pg_class as relation
    where relation.relnamespace = 'public'::regnamespace
      and relation.relkind in ('r', 'p', 'f', 'v', 'm')
      and not exists (select from pg_depend where objid = relation.oid and deptype = 'e')
    order by relation.relname`,
  ];
}

export interface PublicFunction {
  readonly name: string;
  /** Such as `cancel_task(uuid)`. */
  readonly signature: string;
}

/** Every callable function of `public` that does not belong to an extension. */
export async function readFunctions(sql: Sql): Promise<readonly PublicFunction[]> {
  return [
    ...await sql<PublicFunction[]>`
      select proname as name, format('%s(%s)', proname, oidvectortypes(proargtypes)) as signature
      from pg_proc as function
      where pronamespace = 'public'::regnamespace
        and prorettype not in ('trigger'::regtype, 'event_trigger'::regtype)
        and not exists (select from pg_depend where objid = function.oid and deptype = 'e')
      order by 2`,
  ];
}

/** A privilege that clients' roles hold on an object in a schema. */
export interface Right {
  readonly role: "anon" | "authenticated";
  readonly kind: "function" | "relation" | "column";
  readonly name: string;
}

/**
 * What `anon` and `authenticated` may use in a schema: executable functions, and tables, views and
 * sequences with any privilege, by role and name.
 */
export async function readRightsIn(sql: Sql, schema: string): Promise<readonly Right[]> {
  return [
    ...await sql<Right[]>`
      with role (name) as (values ('anon'), ('authenticated'))
      select role.name as role, 'function' as kind,
        format('%s(%s)', proname, oidvectortypes(proargtypes)) as name
      from role, pg_proc as function
      where pronamespace = ${schema}::regnamespace
        and has_function_privilege(role.name, function.oid, 'execute')
      union all
      select role.name, 'relation', relname
      from role, pg_class as relation
      where relnamespace = ${schema}::regnamespace and relkind in ('r', 'p', 'v', 'm', 'f', 'S')
        and case relkind
          when 'S' then has_sequence_privilege(role.name, relation.oid, 'usage, select, update')
          else has_table_privilege(role.name, relation.oid, 'select, insert, update, delete, truncate')
            or has_any_column_privilege(role.name, relation.oid, 'select, insert, update')
        end
      order by 1, 2, 3`,
  ];
}
