import { SwarmError } from "../../../../platform/errors/swarm_error.ts";
import type { InternalServer, InternalServers } from "../../../tool_contracts/internal_server.ts";
import { parseToolConfig } from "../../../tool_contracts/tool_config.ts";
import type { RegisteredTool } from "../../../tool_contracts/tool_records.ts";

/**
 * Loads the code of a registry row of type `internal`; null for any other type.
 *
 * @throws SwarmError `TOOL_CONFIG_INVALID` if the row names an unknown internal server.
 */
export type LoadInternalServer = (tool: RegisteredTool) => Promise<InternalServer | null>;

/** Creates the {@linkcode LoadInternalServer} for these servers. */
export function createInternalServerLoader(servers: InternalServers): LoadInternalServer {
  return async ({ slug, type, config }) => {
    const parsed = parseToolConfig(slug, type, config);
    if (parsed.type !== "internal") return null;
    const name = parsed.config.server;
    const load = Object.hasOwn(servers, name) ? servers[name] : undefined;
    if (load !== undefined) return await load();
    throw new SwarmError(
      "TOOL_CONFIG_INVALID",
      `Cannot load the tool: internal server '${name}' not found`,
      {
        hint: `Set config.server to one of: ${Object.keys(servers).join(", ")}.`,
      },
    );
  };
}
