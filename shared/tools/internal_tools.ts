import { SwarmError } from "../errors/swarm_error.ts";
import type { InternalServer } from "../mcp/internal_server.ts";
import { INTERNAL_SERVERS } from "../mcp/servers/index.ts";
import { parseToolConfig } from "./tool_config.ts";
import type { RegisteredTool } from "./tool_store.ts";

/**
 * The code behind a registry row of type `internal`; null for any other type.
 *
 * @throws SwarmError `TOOL_CONFIG_INVALID` when the row names no internal server.
 */
export async function loadInternalServer(
  { slug, type, config }: RegisteredTool,
): Promise<InternalServer | null> {
  const parsed = parseToolConfig(slug, type, config);
  if (parsed.type !== "internal") return null;
  const name = parsed.config.server;
  const load = Object.hasOwn(INTERNAL_SERVERS, name) ? INTERNAL_SERVERS[name] : undefined;
  if (load !== undefined) return await load();
  throw new SwarmError("TOOL_CONFIG_INVALID", `There is no internal tool server '${name}'`, {
    hint: `Set config.server to one of: ${Object.keys(INTERNAL_SERVERS).join(", ")}.`,
  });
}
