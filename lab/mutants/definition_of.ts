import type { Sql } from "../../shared/platform/db/sql_client.ts";

/** Returns the statement that creates a function of schema `private`. */
export async function definitionOf(sql: Sql, name: string): Promise<string> {
  const [row] = await sql`
    select pg_get_functiondef(oid) as definition from pg_proc
    where pronamespace = 'private'::regnamespace and proname = ${name}`;
  return String(row?.definition);
}
