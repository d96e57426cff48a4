import type { Sql } from "../../shared/db/sql_client.ts";

/** Puts a value into Vault under a name, in place of the value that the name has now. */
export async function storeSecret(
  sql: Sql,
  { name, value }: { readonly name: string; readonly value: string },
): Promise<void> {
  const [stored] = await sql<{ id: string }[]>`select id from vault.secrets where name = ${name}`;
  if (stored === undefined) await sql`select vault.create_secret(${value}, ${name})`;
  else await sql`select vault.update_secret(${stored.id}, ${value})`;
}
