import { SwarmError } from "../../../errors/swarm_error.ts";
import type { InternalServer, InternalServers } from "../../../tool_contracts/internal_server.ts";
import { parseToolConfig } from "../../../tool_contracts/tool_config.ts";
import type { RegisteredTool } from "../../../tool_contracts/tool_records.ts";

/**
 * Gives the code behind a registry row of type `internal`; null for any other type.
 *
 * @throws SwarmError `TOOL_CONFIG_INVALID` when the row names no internal server.
 */
export type LoadInternalServer = (tool: RegisteredTool) => Promise<InternalServer | null>;

/** Makes the {@linkcode LoadInternalServer} that knows these servers. */
export function createInternalServerLoader(servers: InternalServers): LoadInternalServer {
  return async ({ slug, type, config }) => {
    const parsed = parseToolConfig(slug, type, config);
    if (parsed.type !== "internal") return null;
    const name = parsed.config.server;
    const load = Object.hasOwn(servers, name) ? servers[name] : undefined;
    if (load !== undefined) return await load();
    throw new SwarmError("TOOL_CONFIG_INVALID", `There is no internal tool server '${name}'`, {
      hint: `Set config.server to one of: ${Object.keys(servers).join(", ")}.`,
    });
  };
}
