import type { Sql } from "../../shared/platform/db/sql_client.ts";

/** Text that was stored or sent, with its place. */
export interface SearchedText {
  readonly where: string;
  readonly text: string;
}

/**
 * Searches every table of the database, including Vault's ciphertext, and every given text for
 * secrets. Returns the places with a secret.
 *
 * @param sql A connection as a role that can read all tables.
 * @throws RangeError for an empty list of secrets, which must be a mistake.
 */
export async function findExposures(
  sql: Sql,
  secrets: readonly string[],
  texts: readonly SearchedText[],
): Promise<string[]> {
  if (secrets.length === 0) {
    throw new RangeError("Cannot search for exposures: no secret was given");
  }
  const found = texts
    .filter(({ text }) => secrets.some((secret) => text.includes(secret)))
    .map(({ where }) => where);
  const tables = await sql<{ name: string }[]>`
    select format('%I.%I', namespace.nspname, relation.relname) as name
    from pg_class as relation
    join pg_namespace as namespace on namespace.oid = relation.relnamespace
    where relation.relkind = 'r'
      and namespace.nspname not in ('pg_catalog', 'information_schema')
      and namespace.nspname not like 'pg\\_%'
    order by 1`;
  for (const { name } of tables) {
    const [row] = await sql.unsafe<{ is_exposed: boolean }[]>(
      `select exists (
         select from ${name} as record, jsonb_array_elements_text($1::jsonb) as secret (value)
         where strpos(record::text, secret.value) > 0
       ) as is_exposed`,
      [sql.json([...secrets])],
    );
    if (row?.is_exposed) found.push(`table ${name}`);
  }
  return found;
}
