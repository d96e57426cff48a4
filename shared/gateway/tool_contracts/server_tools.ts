import type { ErrorCode } from "../../platform/errors/codes.ts";
import type { JsonObject, JsonValue } from "../../platform/values/json.ts";
import type { SchemaLosses } from "../../models/tool_schemas/schema_loss.ts";
import type { ToolModelOptions } from "./tool_records.ts";

/** The health of a connection to a server. */
export type ServerStatus =
  /** No call yet. */
  | "unknown"
  | "healthy"
  /** Three or more consecutive failures. */
  | "failing"
  /** The circuit breaker is open: calls fail immediately until `retryAt`. */
  | "open";

/** A server that the caller may use. */
export interface ServerSummary {
  /** `tools.slug`: the name in addresses and in `server`. */
  readonly slug: string;
  readonly name: string;
  readonly description: string | null;
  readonly type: "internal" | "mcp_server" | "http_api" | "supabase_rpc";
  /** The caller's connection; null before the first use. */
  readonly connectionId: string | null;
  readonly status: ServerStatus;
  /** ISO 8601; only with `open`. */
  readonly retryAt: string | null;
  readonly failureCount: number;
  readonly lastSuccessAt: string | null;
  /** When the tools were last listed; null before. */
  readonly listedAt: string | null;
  /** Tools that can be called, as last listed; null before. */
  readonly toolCount: number | null;
  /** Null for an internal server. */
  readonly external: ExternalServer | null;
}

/** The public facts about an external server. */
export interface ExternalServer {
  /** Origin of its URL, because the rest may be private; null if the row has no URL. */
  readonly endpoint: string | null;
  readonly docsUrl: string | null;
  /** What it is for, in the operator's words. */
  readonly capabilities: readonly string[];
}

/** A tool of a server, as cached. */
export interface ListedTool {
  /** As its server calls it. */
  readonly name: string;
  readonly version: string | null;
  /** A newer version has the plain name; this one is offered as `name_vVersion`. */
  readonly isOlderVersion: boolean;
  /** What to use instead; null if it is not deprecated. */
  readonly deprecated: string | null;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: JsonObject;
  /** The model choices for the tool's caller; null if no models are configured for the tool. */
  readonly models: ToolModelOptions | null;
  /** The parts of `inputSchema` that cannot be expressed for a provider, by provider. */
  readonly losses?: SchemaLosses;
  /** Required scopes of a call, and those of them that the caller lacks. */
  readonly scopes: readonly string[];
  readonly missingScopes: readonly string[];
  /** At most ten, newest last: the caller's own arguments, or (`isShape`) the shape of anyone's. */
  readonly successfulParameters: readonly JsonValue[];
  readonly isShape: boolean;
  readonly successCount: number;
  readonly lastSuccessfulCall: string | null;
  /** When the definition last changed. */
  readonly lastUpdated: string;
}

/** A tool omitted from a list because its definition is invalid. */
export interface LeftOutTool {
  readonly name: string;
  readonly reason: string;
}

/** A tool with an unapproved definition; calls return `TOOL_DEFINITION_CHANGED`. */
export interface QuarantinedTool {
  readonly name: string;
  /** `changed`: differs from the approved definition. `new`: the server's row holds new tools. */
  readonly reason: "changed" | "new";
  /** Hash of the server's current definition, which an approval must name. */
  readonly definitionHash: string;
  /** The changed members of the definition, with their current values. */
  readonly difference: readonly DefinitionDifference[];
}

/** One member of a definition that changed. */
export interface DefinitionDifference {
  readonly member: string;
  /** Absent if the server sent the approved definition to another user, not to this caller. */
  readonly approved?: JsonValue;
  readonly current: JsonValue;
}

/**
 * A server's declared capabilities besides tools; they determine what an endpoint offers for it.
 */
export interface ServerFeatures {
  readonly hasResources: boolean;
  readonly hasPrompts: boolean;
  readonly hasCompletions: boolean;
  /** Its tools may log for their caller. */
  readonly hasLogging: boolean;
  /** How to use the server, for the client's model. */
  readonly instructions: string | null;
  /** Name and version of the server's program, if reported; null for an internal server. */
  readonly version: string | null;
  /** Other information that it reports. @default nothing */
  readonly metadata?: JsonObject;
}

/** A server as known to one caller. */
export interface ServerTools {
  readonly server: ServerSummary;
  /** Sorted by name. Those with `missingScopes` exist but cannot be called. */
  readonly tools: readonly ListedTool[];
  readonly dropped: readonly LeftOutTool[];
  readonly quarantined: readonly QuarantinedTool[];
  /** Names of tools that a policy forbids; they are not in the other lists. */
  readonly forbidden: readonly string[];
  readonly features: ServerFeatures;
  /** The reason for returning the cached list although a new one was due. */
  readonly listingError?: { readonly code: ErrorCode; readonly message: string };
}
