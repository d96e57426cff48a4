import { SwarmError } from "../errors/swarm_error.ts";
import { createRedactor } from "../secrets/redact.ts";
import { toStorableJson } from "../storable_json.ts";
import { toFunctionSchema } from "./function_schema.ts";
import { modelNames } from "./model_names.ts";
import { openToolServer, type ToolServerPorts } from "./open_tool_server.ts";
import { type ToolDefinition, toolDefinitionSchema } from "./tool_definition.ts";
import type { DroppedTool } from "./tool_server.ts";
import type { RegisteredServer, ToolToStore } from "./tool_store.ts";

/** A server that takes longer only to list its tools is left out, so that the agent can begin. */
const LISTING_TIMEOUT_MS = 15_000;

/**
 * Asks a server for its tools and stores them in the cache.
 *
 * @returns The tools that had to be left out, each with the reason.
 * @throws SwarmError when the server cannot be asked.
 */
export async function refreshTools(
  registered: RegisteredServer,
  userId: string | null,
  ports: ToolServerPorts,
  signal: AbortSignal,
): Promise<readonly DroppedTool[]> {
  const options = { userId, timeoutMs: LISTING_TIMEOUT_MS };
  const { server, secrets } = await openToolServer(registered, options, ports);
  const listing = await server.listTools(signal);
  const redactor = createRedactor(secrets);
  const dropped = [...listing.dropped];
  const tools: ToolToStore[] = [];
  for (const listed of listing.tools) {
    const safe = redactor.json(JSON.parse(JSON.stringify(listed)));
    const definition = toolDefinitionSchema.parse(toStorableJson(safe));
    const tool = toStored(registered.tool.slug, definition);
    if ("reason" in tool) dropped.push(tool);
    else tools.push(tool);
  }
  await ports.store.storeTools(registered.connection.id, tools);
  return dropped;
}

function toStored(server: string, definition: ToolDefinition): ToolToStore | DroppedTool {
  const { name } = definition;
  try {
    const [functionName = name] = modelNames([{ server, toolName: name }]);
    const description = definition.description ?? definition.title ?? name;
    const parameters = toFunctionSchema(definition.inputSchema);
    return { definition, functionName, description, parameters };
  } catch (error) {
    if (error instanceof SwarmError) return { name, reason: error.message };
    throw error;
  }
}
