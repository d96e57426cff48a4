import { mcpFeatures } from "../kinds/mcp/mcp_server.ts";
import { internalFeatures } from "../kinds/internal/open_internal_server.ts";
import type { ToolServerPorts } from "../kinds/open_tool_server.ts";
import type { ServerFeatures } from "../../tool_contracts/server_tools.ts";
import type { RegisteredServer } from "../../tool_contracts/tool_records.ts";

const TOOLS_ONLY: ServerFeatures = {
  hasResources: false,
  hasPrompts: false,
  hasCompletions: false,
  hasLogging: false,
  instructions: null,
  version: null,
};

/**
 * A server's capabilities besides tools, from its code or its connection's state; contacts no
 * server.
 */
export async function serverFeatures(
  { tool, connection }: Pick<RegisteredServer, "tool" | "connection">,
  { loadInternalServer }: Pick<ToolServerPorts, "loadInternalServer">,
): Promise<ServerFeatures> {
  const internal = await loadInternalServer(tool);
  if (internal !== null) return internalFeatures(internal);
  if (tool.type !== "mcp_server") return TOOLS_ONLY;
  const features = mcpFeatures(connection);
  return connection.are_instructions_approved ? features : { ...features, instructions: null };
}
