import { mcpFeatures } from "../mcp/mcp_server.ts";
import { internalFeatures } from "../mcp/open_internal_server.ts";
import { loadInternalServer } from "./internal_tools.ts";
import type { ServerFeatures } from "./tool_port.ts";
import type { RegisteredServer } from "./tool_store.ts";

const TOOLS_ONLY: ServerFeatures = {
  hasResources: false,
  hasPrompts: false,
  hasCompletions: false,
  hasLogging: false,
  instructions: null,
  version: null,
};

/** What a server has beside tools, by its code or its connection's memory; asks nobody. */
export async function serverFeatures(
  { tool, connection }: Pick<RegisteredServer, "tool" | "connection">,
): Promise<ServerFeatures> {
  const internal = await loadInternalServer(tool);
  if (internal !== null) return internalFeatures(internal);
  if (tool.type !== "mcp_server") return TOOLS_ONLY;
  const features = mcpFeatures(connection);
  return connection.are_instructions_approved ? features : { ...features, instructions: null };
}
