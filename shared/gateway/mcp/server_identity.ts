import type { JsonObject } from "../../platform/values/json.ts";
import type { ServerFeatures, ServerSummary } from "../tool_contracts/server_tools.ts";
import type { DescribedServer } from "./tool_directory.ts";

/** Version of the product's own servers; a tool's version is in its `_meta`. */
const ENDPOINT_VERSION = "1.0.0";

/** Text that the gateway adds for an external server. */
const ENHANCEMENTS = ["retry_logic", "response_formatting", "error_translation"];

const ALL_SERVERS: EndpointIdentity = {
  name: "SupaSwarm",
  version: ENDPOINT_VERSION,
  description: "All tool servers of this project that you may use, through one gateway.",
  instructions: "Tools are named <server>__<tool>. Grade a result with the feedback_token in its " +
    "_meta.",
};

/** A server's identity for clients. */
export interface ServerInfo {
  readonly name: string;
  readonly version: string;
  readonly description: string | null;
  readonly capabilities: {
    readonly tools: boolean;
    readonly resources: boolean;
    readonly prompts: boolean;
    readonly logging: boolean;
  };
  readonly metadata: JsonObject;
}

/** The identity of a registered server. */
export function serverInfoOf(
  server: DescribedServer["server"],
  features: ServerFeatures | null,
): ServerInfo {
  return {
    name: shownName(server),
    version: features?.version ?? ENDPOINT_VERSION,
    description: server.description,
    capabilities: {
      tools: true,
      resources: features?.hasResources ?? false,
      prompts: features?.hasPrompts ?? false,
      logging: features?.hasLogging ?? false,
    },
    metadata: { ...features?.metadata, server_type: server.type, ...discoveryMeta(server) },
  };
}

/** The display name for clients: it shows if the gateway forwards to an external server. */
export function shownName({ name, external }: Pick<ServerSummary, "name" | "external">): string {
  return external === null ? name : `${name} (Enhanced)`;
}

/** The facts about an external server in the `_meta` of discovery. */
export function discoveryMeta({ external }: Pick<ServerSummary, "external">): JsonObject {
  if (external === null) return {};
  const { endpoint, docsUrl, capabilities } = external;
  return {
    orchestrator_enhancements: ENHANCEMENTS,
    ...(endpoint === null ? {} : { external_endpoint: endpoint }),
    ...(docsUrl === null ? {} : { docs_url: docsUrl }),
    ...(capabilities.length === 0 ? {} : { external_capabilities: capabilities }),
  };
}

/** An endpoint's self-description. */
export interface EndpointIdentity {
  readonly name: string;
  readonly version: string;
  readonly description?: string;
  /** Instructions for the client's model. */
  readonly instructions?: string;
  /** See {@linkcode discoveryMeta}. */
  readonly meta?: JsonObject;
}

/** Name and instructions of an endpoint, derived from its server. */
export function endpointIdentity(
  slug: string | null,
  described: DescribedServer | null,
): EndpointIdentity {
  if (slug === null) return ALL_SERVERS;
  if (described === null) return { name: slug, version: ENDPOINT_VERSION };
  const { server, features } = described;
  const { name, version, description } = serverInfoOf(server, features);
  const instructions = features?.instructions ?? null;
  return {
    name,
    version,
    ...(description === null ? {} : { description }),
    ...(instructions === null ? {} : { instructions }),
    ...(server.external === null ? {} : { meta: discoveryMeta(server) }),
  };
}
