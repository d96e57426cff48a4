import { definedOnly } from "../../platform/values/defined_only.ts";
import type { JsonObject, JsonValue } from "../../platform/values/json.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import type {
  ListedTool,
  QuarantinedTool,
  ServerSummary,
  ServerTools,
} from "../tool_contracts/server_tools.ts";
import type { ToolCaller } from "../tool_contracts/tool_caller.ts";
import type { ToolGateway } from "../tool_contracts/tool_gateway.ts";
import { offeredNameOf } from "../tool_contracts/tool_versions.ts";
import type { SchemaLosses } from "../../models/tool_schemas/schema_loss.ts";
import { CONCURRENT_LISTINGS, FIRST_WAIT_MS } from "../mcp/listing_limits.ts";
import { modelOptionsOf } from "./model_options.ts";
import { nameNearestServers } from "../mcp/name_nearest_servers.ts";
import { discoveryMeta, serverInfoOf, shownName } from "../mcp/server_identity.ts";

/** The caller and options of a listing. */
export interface ListingOptions {
  readonly gateway: ToolGateway;
  readonly caller: ToolCaller;
  readonly signal: AbortSignal;
}

/** The servers that the caller may use, each with its tools. */
export async function listServers(options: ListingOptions): Promise<JsonObject> {
  const { gateway, caller } = options;
  const servers = await gateway.listServers(caller);
  const listed: JsonObject[] = [];
  for (let start = 0; start < servers.length; start += CONCURRENT_LISTINGS) {
    const batch = servers.slice(start, start + CONCURRENT_LISTINGS);
    listed.push(...await Promise.all(batch.map((server) => describeBriefly(server, options))));
  }
  return { servers: listed };
}

/** One server: its cached tools, known-good parameters, and the health of its connection. */
export async function describeServer(
  slug: string,
  refresh: boolean,
  { gateway, caller, signal }: ListingOptions,
): Promise<JsonObject> {
  const listing = await gateway.listServerTools(slug, caller, { refresh }, signal)
    .catch(async (error) => {
      if (!(error instanceof SwarmError)) throw error;
      throw await nameNearestServers(error, { server: slug, gateway, caller });
    });
  const { server, features, dropped, quarantined } = listing;
  return {
    server: summaryOf(server),
    info: serverInfoOf(server, features) as unknown as JsonObject,
    instructions: features.instructions,
    connection: connectionOf(server),
    tools: listing.tools.map(fullTool),
    dropped: dropped.map(({ name, reason }) => ({ name, reason })),
    quarantined: quarantined.map(quarantinedTool),
    ...listingErrorOf(listing),
  };
}

/** A server whose tools cannot be listed is still included, with the reason. */
async function describeBriefly(
  server: ServerSummary,
  { gateway, caller, signal }: ListingOptions,
): Promise<JsonObject> {
  try {
    const options = { firstWaitMs: FIRST_WAIT_MS };
    const listing = await gateway.listServerTools(server.slug, caller, options, signal);
    const callable = listing.tools.filter(({ missingScopes }) => missingScopes.length === 0);
    return {
      ...summaryOf(listing.server),
      info: serverInfoOf(listing.server, listing.features) as unknown as JsonObject,
      tools: callable.map(briefTool),
      ...listingErrorOf(listing),
    };
  } catch (error) {
    if (!(error instanceof SwarmError) || error.code === "DATABASE_UNAVAILABLE") throw error;
    const { code, message } = error;
    return { ...summaryOf(server), tools: [], listing_error: { code, message } };
  }
}

function listingErrorOf({ listingError }: ServerTools): JsonObject {
  return listingError === undefined ? {} : { listing_error: { ...listingError } };
}

function summaryOf(server: ServerSummary): JsonObject {
  const { slug, description, type, status } = server;
  return {
    slug,
    name: shownName(server),
    description,
    type,
    status,
    ...(server.external === null ? {} : { _meta: discoveryMeta(server) }),
  };
}

function connectionOf(server: ServerSummary): JsonObject {
  return {
    id: server.connectionId,
    status: server.status,
    failure_count: server.failureCount,
    last_success_at: server.lastSuccessAt,
    retry_at: server.retryAt,
    tools_listed_at: server.listedAt,
  };
}

function briefTool(tool: ListedTool): JsonObject {
  const { version, deprecated, title, description, inputSchema, models } = tool;
  return {
    name: offeredNameOf(tool),
    ...(version === null ? {} : { version }),
    ...(deprecated === null ? {} : { deprecated }),
    ...definedOnly({ title, description }),
    model_options: modelOptionsOf(inputSchema, models),
  };
}

function quarantinedTool({ name, reason, definitionHash, difference }: QuarantinedTool) {
  return {
    name,
    reason,
    definition_hash: definitionHash,
    difference: difference as unknown as JsonValue,
  };
}

function lossesOf(losses: SchemaLosses): JsonObject {
  return Object.fromEntries(
    Object.entries(losses).map(([target, list]) => [target, list.map((loss) => ({ ...loss }))]),
  );
}

function fullTool(tool: ListedTool): JsonObject {
  const { inputSchema, outputSchema, annotations } = tool;
  return {
    ...briefTool(tool),
    inputSchema,
    ...definedOnly({ outputSchema, annotations }),
    ...(tool.losses === undefined ? {} : { losses: lossesOf(tool.losses) }),
    scopes: [...tool.scopes],
    missing_scopes: [...tool.missingScopes],
    successful_parameters: [...tool.successfulParameters],
    is_shape: tool.isShape,
    success_count: tool.successCount,
    last_successful_call: tool.lastSuccessfulCall,
    last_updated: tool.lastUpdated,
  };
}
