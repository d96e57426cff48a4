import type { Sql } from "../../shared/platform/db/sql_client.ts";

/**
 * Reads the names of the relations, types and functions in schema `public` of a database that has
 * only the platform's.
 */
export async function readPlatformNames(sql: Sql): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select relname::text as name from pg_catalog.pg_class
    where relnamespace = 'public'::regnamespace and relkind not in ('i', 'I')
    union
    select typname::text from pg_catalog.pg_type
    where typnamespace = 'public'::regnamespace and typname !~ '^_'
    union
    select proname::text from pg_catalog.pg_proc where pronamespace = 'public'::regnamespace
    order by name`;
  return rows.map(({ name }) => name);
}
