import type { Sql } from "../../shared/platform/db/sql_client.ts";

/**
 * The migration of a project whose `public` and `private` have an object for every name of the
 * platform's, and rows that must survive.
 *
 * @param sql A database with the platform in `public` and `private`.
 */
export async function clashingSql(sql: Sql): Promise<string> {
  const names = await sql<{ schema: string; name: string; is_function: boolean }[]>`
    select namespace.nspname as schema, object.name, bool_and(object.is_function) as is_function
    from (
      select relnamespace as schema_id, relname::text as name, false as is_function
      from pg_catalog.pg_class where relkind not in ('i', 'I') and not relispartition
      union
      select pronamespace, proname::text, true from pg_catalog.pg_proc
    ) as object
    join pg_catalog.pg_namespace as namespace on namespace.oid = object.schema_id
    where namespace.nspname in ('public', 'private')
    group by 1, 2 order by 1, 2`;
  const objects = names.map(({ schema, name, is_function: isFunction }) =>
    isFunction
      ? `create function ${schema}."${name}"(p_mine int) returns int language sql as 'select p_mine';`
      : `create table ${schema}."${name}" (mine int);\ninsert into ${schema}."${name}" values (1);`
  );
  return [
    "create schema private;",
    ...objects,
    "create type public.task_status as enum ('mine');",
  ].join("\n");
}
