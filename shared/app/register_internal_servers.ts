import type { Sql } from "../platform/db/sql_client.ts";
import { toSwarmError } from "../platform/db/to_swarm_error.ts";
import type { InternalServers } from "../gateway/tool_contracts/internal_server.ts";

/**
 * Creates the function that adds a row in `tools` for each folder of `shared/servers`, once per
 * isolate. Existing rows stay unchanged, and only servers without a row are loaded.
 */
export function createServerRegistrar(sql: Sql, servers: InternalServers): () => Promise<void> {
  let registered: Promise<void> | null = null;

  return () => {
    registered ??= register().catch((error) => {
      registered = null;
      throw toSwarmError(error, "register the internal tool servers");
    });
    return registered;
  };

  async function register(): Promise<void> {
    const names = Object.keys(servers);
    const [row] = await sql<{ missing: string[] }[]>`
      select private.unregistered_servers(${sql.json(names)}) as missing`;
    const missing = row?.missing ?? [];
    if (missing.length === 0) return;
    const described = await Promise.all(missing.map(describe));
    await sql`select private.register_servers(${sql.json(described)})`;
  }

  async function describe(slug: string) {
    const server = await servers[slug]?.();
    return { slug, name: server?.title ?? slug, description: server?.description ?? null };
  }
}
