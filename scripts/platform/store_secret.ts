import type { Sql } from "../../shared/platform/db/sql_client.ts";

/**
 * Stores a value in Vault under a name, replaces the name's current value, and gives it to every
 * document that names it.
 */
export async function storeSecret(
  sql: Sql,
  { name, value }: { readonly name: string; readonly value: string },
): Promise<void> {
  const [stored] = await sql<{ id: string }[]>`select id from vault.secrets where name = ${name}`;
  if (stored === undefined) await sql`select vault.create_secret(${value}, ${name})`;
  else await sql`select vault.update_secret(${stored.id}, ${value})`;
  await sql`select private.bind_secret(${name})`;
}
