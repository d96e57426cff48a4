import { z } from "../../shared/vendor/zod.js";
import { CLOSED_SETS } from "../../shared/platform/db/closed_sets.ts";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import type { RegistryState } from "./plan_sync.ts";
import { SECRET_PREFIX, type WantedServer } from "../../shared/gateway/mcps_file/wanted_server.ts";

/** A transaction of postgres.js. */
export type Transaction = Parameters<Parameters<Sql["begin"]>[1]>[0];

const toolSchema = z.object({
  id: z.string(),
  slug: z.string(),
  name: z.string(),
  type: z.string(),
  description: z.string().nullable(),
  // An operator may have changed it to any form. It is only compared.
  config: z.custom<RegistryState["tools"][number]["config"]>(),
  credential_secret_name: z.string().nullable(),
  credential_type: z.enum(["api_key", "bearer_token"]).nullable().catch(null),
  credential_description: z.string().nullable(),
  audience: z.enum(CLOSED_SETS.tools.audience),
  is_active: z.boolean(),
  source: z.enum(["manual", "yaml"]),
  agentCount: z.coerce.number(),
});

/**
 * Reads the rows that a file with these servers can change. Compares secrets in the database, so
 * that no value leaves it.
 */
export async function readRegistry(
  sql: Transaction,
  wanted: readonly WantedServer[],
  values: ReadonlyMap<string, string>,
): Promise<RegistryState> {
  const tools = await sql`
    select tool.id, tool.slug, tool.name, tool.type, tool.description, tool.config,
      tool.credential_secret_name, tool.credential_type, tool.credential_description,
      tool.audience, tool.is_active, tool.source,
      (select count(*) from public.agent_tools granted where granted.tool_id = tool.id)
        as "agentCount"
    from public.tools tool
    order by tool.slug`;
  const names = await sql<{ name: string }[]>`
    select name from vault.secrets where starts_with(name, ${SECRET_PREFIX}) order by name`;
  const secrets = new Map(names.map(({ name }) => [name, false]));
  for (const { name, variable } of wanted.flatMap((server) => server.secrets)) {
    const value = values.get(variable);
    if (value === undefined || !secrets.has(name)) continue;
    const [row] = await sql<{ is_same: boolean }[]>`
      select private.secret_value(${name}) is not distinct from ${value} as is_same`;
    secrets.set(name, row?.is_same === true);
  }
  return { tools: z.array(toolSchema).parse(tools), secrets };
}
