import { definedOnly } from "../../platform/values/defined_only.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import type { JsonObject } from "../../platform/values/json.ts";
import type { ServerFeatures } from "../tool_contracts/server_tools.ts";
import type { McpServer, ServerCapabilities } from "../../vendor/mcp_server.js";
import { handleCall } from "./call_handler.ts";
import type { Exchange, McpSdk } from "./exchange.ts";
import { toListedTool } from "./list_handler.ts";
import { addDiscoveryMeta } from "./discovery_meta.ts";
import { acceptSubscriptions, registerRelays, relayedMethods } from "./relay_handlers.ts";
import { toProtocolError } from "./protocol_error.ts";
import { endpointIdentity } from "./server_identity.ts";
import type { DescribedServer, DirectoryEntry, WireTool } from "./tool_directory.ts";

/** Callers have different permissions, so a list may only be cached for one caller. */
const CACHE_HINT = { ttlMs: 60_000, cacheScope: "private" } as const;
const CACHED_METHODS = [
  "server/discover",
  "tools/list",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "prompts/list",
] as const;

/** The data known before the SDK reads the message. */
export interface BuildOptions {
  /** The endpoint's server, if the message needs it. */
  readonly described: DescribedServer | null;
  /** The tool of a single call. */
  readonly called: DirectoryEntry | null;
}

/** Creates the server that answers one message. */
export function buildServer(
  sdk: McpSdk,
  exchange: Exchange,
  { described, called }: BuildOptions,
): McpServer {
  const features = described?.features ?? null;
  const { instructions, meta, ...identity } = endpointIdentity(exchange.server, described);
  const mcp = new sdk.McpServer(identity, {
    capabilities: capabilitiesOf(features),
    cacheHints: Object.fromEntries(CACHED_METHODS.map((method) => [method, CACHE_HINT])),
    ...definedOnly({ instructions }),
  });
  if (meta !== undefined) addDiscoveryMeta(mcp.server, meta);
  if (called?.kind === "tool") mirrorHeaders(mcp, called.tool.inputSchema);
  mcp.server.setRequestHandler("tools/list", async ({ params }) => {
    if (params?.cursor !== undefined) throw noSuchPage(sdk);
    const tools = await listedTools(sdk, exchange);
    return { tools: tools.map(toListedTool) };
  });
  mcp.server.setRequestHandler("tools/call", async (request, context) => {
    const result = await handleCall(sdk, { ...exchange, called }, request, context);
    if (sdk.isInputRequiredResult(result)) return result;
    const outputSchema = called?.kind === "tool" ? called.tool.outputSchema : undefined;
    return mcp.server.projectCallToolResult(result, outputSchema as Record<string, unknown>);
  });
  if (exchange.server !== null && features !== null) {
    const relay = { ...exchange, server: exchange.server };
    registerRelays(sdk, mcp.server, relay, relayedMethods(features));
    if (features.hasResources) acceptSubscriptions(sdk, mcp.server, relay);
  }
  return mcp;

  /**
   * The SDK compares `Mcp-Param-*` headers with the arguments, using the schema of a registered
   * tool.
   */
  function mirrorHeaders(server: McpServer, inputSchema: JsonObject): void {
    if (!JSON.stringify(inputSchema).includes('"x-mcp-header"')) return;
    const [name] = exchange.message.toolNames;
    if (name !== undefined) {
      server.registerTool(name, { inputSchema: asStandardSchema(inputSchema) }, () => {
        throw new Error("Cannot call the tool: the handler of tools/call must run before this one");
      });
    }
  }
}

async function listedTools(sdk: McpSdk, { directory }: Exchange): Promise<readonly WireTool[]> {
  try {
    return await directory.list();
  } catch (error) {
    throw error instanceof SwarmError ? toProtocolError(sdk, error) : error;
  }
}

function capabilitiesOf(features: ServerFeatures | null): ServerCapabilities {
  return {
    tools: { listChanged: false },
    ...(features?.hasResources ? { resources: { listChanged: false } } : {}),
    ...(features?.hasPrompts ? { prompts: { listChanged: false } } : {}),
    ...(features?.hasCompletions ? { completions: {} } : {}),
    ...(features?.hasLogging ? { logging: {} } : {}),
  };
}

/** A JSON Schema in the form that the SDK accepts; the gateway validates. */
function asStandardSchema(schema: JsonObject) {
  const json = { ...schema };
  return {
    "~standard": {
      version: 1 as const,
      vendor: "supaswarm",
      validate: (value: unknown) => ({ value }),
      jsonSchema: { input: () => json, output: () => json },
    },
  };
}

function noSuchPage(sdk: McpSdk): Error {
  return new sdk.ProtocolError(
    sdk.ProtocolErrorCode.InvalidParams,
    "Invalid cursor: the list has one page",
  );
}
