import { definedOnly } from "../../../platform/values/defined_only.ts";
import { SwarmError } from "../../../platform/errors/swarm_error.ts";
import type { JsonObject } from "../../../platform/values/json.ts";
import { newestDefinitions } from "../kinds/internal/open_internal_server.ts";
import { mcpFeatures } from "../kinds/mcp/mcp_server.ts";
import { insufficientScope, missingScopes, scopesOf } from "../../tool_contracts/tool_scopes.ts";
import { definitionDifference, definitionHash } from "./definition_pin.ts";
import { MAX_LIST_AGE_SECONDS } from "./list_agent_tools.ts";
import { summaryOf } from "./list_servers.ts";
import type { ToolServerPorts } from "../kinds/open_tool_server.ts";
import { KNOWN_WAIT_MS, renewInTime } from "./renew_in_time.ts";
import { notListedYet, type Renewal, storedError } from "./renew_listing.ts";
import { serverFeatures } from "./server_features.ts";
import { withModelChoice } from "./with_model_choice.ts";
import type {
  DefinitionDifference,
  ListedTool,
  QuarantinedTool,
  ServerTools,
} from "../../tool_contracts/server_tools.ts";
import type { InternalServer } from "../../tool_contracts/internal_server.ts";
import type { ListServerOptions } from "../../tool_contracts/tool_gateway.ts";
import type { ToolCaller } from "../../tool_contracts/tool_caller.ts";
import type { ServerListing, UsableServer } from "../../tool_contracts/tool_records.ts";
import { isOlderVersion } from "../../tool_contracts/tool_versions.ts";
import { unknownServer } from "../../tool_contracts/unknown_server.ts";

/** How long a caller waits for a first or requested list: longer than any listing takes. */
const LIST_WAIT_MS = 16_000;

/**
 * A server's tools for a caller: from the cache, after renewing the list if it is missing, old or
 * requested. If the server is slow, the old list is returned.
 *
 * @throws SwarmError `TOOL_NOT_FOUND`, `INSUFFICIENT_SCOPE`, `QUOTA_EXCEEDED`, otherwise the reason
 * why there is no list.
 */
export async function listServerTools(
  slug: string,
  caller: ToolCaller,
  options: ListServerOptions,
  ports: ToolServerPorts,
  signal: AbortSignal,
): Promise<ServerTools> {
  const { store } = ports;
  const [row] = await store.usableServers(caller, slug);
  if (row === undefined) throw unknownServer(slug);
  const { server, scopes: granted } = row;
  const internal = await ports.loadInternalServer(server.tool);
  if (internal?.isForTasksOnly === true && caller.taskId === null) throw forTasksOnly(slug);
  const missing = missingScopes(scopesOf(server.tool, []), granted);
  if (missing.length > 0) throw insufficientScope(`list the tools of '${slug}'`, missing);

  if (options.refresh === true) await store.takeListRefresh(caller.userId);
  const userId = server.user_id;
  let listing = await store.serverListing(server.tool.id, userId, MAX_LIST_AGE_SECONDS);
  let renewal: Renewal | null = null;
  if (options.refresh === true || await isDue(listing, ports)) {
    const waitMs = waitMsFor(listing, options);
    // If the caller disconnects, the listing continues for others.
    const { signal: neverAborted } = new AbortController();
    renewal = await renewInTime(listing, userId, ports, { waitMs, signal: neverAborted });
    signal.throwIfAborted();
    listing = await store.serverListing(server.tool.id, userId, MAX_LIST_AGE_SECONDS);
  }
  const listingError = errorOf(renewal, listing);
  if (listing.tools_listed_at === null && listingError !== null) throw listingError;

  const allowed = listing.tools.filter(({ is_allowed: isAllowed }) => isAllowed);
  const newest = allowed.filter(({ state }) => state === "approved")
    .map((tool) => toListed(tool, scopesOf(server.tool, tool.scopes), granted));
  const tools = internal === null ? newest : withVersions(newest, internal, granted);
  const callable = tools.filter(({ missingScopes }) => missingScopes.length === 0);
  return {
    server: summaryOf(freshSummary(server, listing), callable.length),
    tools,
    dropped: listing.dropped,
    quarantined: [...heldInstructions(listing), ...allowed.flatMap(toQuarantined)],
    forbidden: listing.tools.filter((tool) => !tool.is_allowed).map(({ name }) => name),
    features: await serverFeatures(listing, ports),
    ...(listingError === null
      ? {}
      : { listingError: { code: listingError.code, message: listingError.message } }),
  };
}

function forTasksOnly(slug: string): SwarmError {
  return new SwarmError(
    "TOOL_NOT_FOUND",
    `Cannot use the tool server '${slug}': it is only available to agents inside a task`,
    {
      hint: "Give it to an agent with agent_tools.",
    },
  );
}

/** The code of an internal server is local, so its cached list is never outdated. */
async function isDue(
  listing: ServerListing,
  { loadInternalServer }: Pick<ToolServerPorts, "loadInternalServer">,
): Promise<boolean> {
  const internal = await loadInternalServer(listing.tool);
  if (internal === null) return listing.is_due;
  const cached = new Set(listing.tools.map(({ hash }) => hash));
  const hashes = newestDefinitions(internal).map(definitionHash);
  return hashes.length !== cached.size || hashes.some((hash) => !cached.has(hash));
}

function waitMsFor(
  { tools_listed_at: listedAt }: ServerListing,
  { refresh = false, firstWaitMs = LIST_WAIT_MS }: ListServerOptions,
): number {
  if (refresh) return LIST_WAIT_MS;
  return listedAt === null ? firstWaitMs : KNOWN_WAIT_MS;
}

function errorOf(renewal: Renewal | null, listing: ServerListing) {
  if (renewal?.kind === "failed") return renewal.error;
  if (renewal?.kind === "busy" && listing.tools_listed_at === null) {
    return notListedYet(listing.tool.slug);
  }
  return listing.listing_error === null ? null : storedError(listing.listing_error);
}

function freshSummary(server: UsableServer, listing: ServerListing) {
  return {
    ...server,
    connection_id: listing.connection.id,
    tools_listed_at: listing.tools_listed_at,
    breaker: listing.breaker,
    retry_at: listing.retry_at,
  };
}

type CachedListing = ServerListing["tools"][number];

function toListed(
  tool: CachedListing,
  scopes: readonly string[],
  granted: readonly string[] | null,
): ListedTool {
  const { title, description, inputSchema, outputSchema, annotations } = tool.schema;
  return {
    name: tool.name,
    version: tool.version,
    isOlderVersion: false,
    deprecated: null,
    ...definedOnly({ title, description }),
    inputSchema: withModelChoice(inputSchema, tool.models),
    ...definedOnly({ outputSchema, annotations: annotations as JsonObject | undefined }),
    models: tool.models,
    losses: tool.losses,
    scopes,
    missingScopes: missingScopes(scopes, granted),
    successfulParameters: tool.successful_parameters,
    isShape: tool.is_shape,
    successCount: tool.success_count,
    lastSuccessfulCall: tool.last_successful_call,
    lastUpdated: tool.last_updated,
  };
}

/** Nothing is learned from calls of older versions, only from the newest. */
const NOTHING_LEARNED = {
  successfulParameters: [],
  isShape: true,
  successCount: 0,
  lastSuccessfulCall: null,
} as const;

/** An internal server's tools with data that only its code has: older versions and deprecations. */
function withVersions(
  newest: readonly ListedTool[],
  { tools }: InternalServer,
  granted: readonly string[] | null,
): ListedTool[] {
  const definitions = tools.map(({ definition }) => definition);
  const listed = newest.map((tool) => {
    const code = tools.find(({ definition: { name, version } }) =>
      name === tool.name && version === tool.version
    );
    return code === undefined ? tool : { ...tool, deprecated: code.deprecated };
  });
  const older = tools.flatMap(({ definition, scopes, deprecated }): ListedTool[] => {
    const current = newest.find(({ name }) => name === definition.name);
    if (current === undefined || !isOlderVersion(definition, definitions)) return [];
    const { name, version = null, title, description, inputSchema, outputSchema } = definition;
    const annotations = definition.annotations as JsonObject | undefined;
    return [{
      name,
      version,
      isOlderVersion: true,
      deprecated,
      ...definedOnly({ title, description }),
      inputSchema: withModelChoice(inputSchema, current.models),
      ...definedOnly({ outputSchema, annotations }),
      models: current.models,
      scopes,
      missingScopes: missingScopes(scopes, granted),
      ...NOTHING_LEARNED,
      lastUpdated: current.lastUpdated,
    }];
  });
  return [...listed, ...older];
}

/** Instructions need approval like a tool's definition, under an empty name. */
function heldInstructions({ tool, connection }: ServerListing): QuarantinedTool[] {
  if (tool.type !== "mcp_server" || connection.are_instructions_approved) return [];
  const { instructions } = mcpFeatures(connection);
  if (instructions === null || connection.instructions_hash === null) return [];
  return [{
    name: "",
    reason: "changed",
    definitionHash: connection.instructions_hash,
    difference: [{ member: "instructions", current: instructions }],
  }];
}

function toQuarantined(tool: CachedListing): QuarantinedTool[] {
  const { name, state, held, approved } = tool;
  if (state === "approved" || held === null) return [];
  const difference = definitionDifference(state === "pending" ? null : approved, held)
    .map((changed) => tool.is_approved_anothers ? withoutApproved(changed) : changed);
  const reason = state === "pending" ? "new" : "changed";
  return [{ name, reason, definitionHash: definitionHash(held), difference }];
}

function withoutApproved({ member, current }: DefinitionDifference): DefinitionDifference {
  return { member, current };
}
