import type { Sql } from "../db/sql_client.ts";
import { toSwarmError } from "../db/to_swarm_error.ts";
import { INTERNAL_SERVERS } from "../mcp/servers/index.ts";

/**
 * Makes the function that gives each folder of `shared/mcp/servers` its row in `tools`, once an
 * isolate. Rows that are there stay as an operator left them, and only servers without one are
 * loaded for it.
 */
export function createServerRegistrar(sql: Sql): () => Promise<void> {
  let registered: Promise<void> | null = null;

  return () => {
    registered ??= register().catch((error) => {
      registered = null;
      throw toSwarmError(error, "register the internal tool servers");
    });
    return registered;
  };

  async function register(): Promise<void> {
    const names = Object.keys(INTERNAL_SERVERS);
    const [row] = await sql<{ missing: string[] }[]>`
      select private.unregistered_servers(${sql.json(names)}) as missing`;
    const missing = row?.missing ?? [];
    if (missing.length === 0) return;
    const servers = await Promise.all(missing.map(describe));
    await sql`select private.register_servers(${sql.json(servers)})`;
  }
}

async function describe(slug: string) {
  const server = await INTERNAL_SERVERS[slug]?.();
  return { slug, name: server?.title ?? slug, description: server?.description ?? null };
}
