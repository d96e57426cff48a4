import type { ErrorCode } from "../errors/codes.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import type { SchemaLosses } from "../tool_schemas/schema_loss.ts";
import type { ToolModelOptions } from "./tool_records.ts";

/** How a connection to a server fares. */
export type ServerStatus =
  /** Nothing was called yet. */
  | "unknown"
  | "healthy"
  /** Three failures in a row or more. */
  | "failing"
  /** The circuit breaker is open: calls fail at once until `retryAt`. */
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
  /** Null for what is part of the product. */
  readonly external: ExternalServer | null;
}

/** What is told of a server that is not part of the product. */
export interface ExternalServer {
  /** Origin of its address, since the rest may be private; null when the row holds no URL. */
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
  /** What to use instead of it; null while it is in use. */
  readonly deprecated: string | null;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: JsonObject;
  /** What the caller can choose of the models that the tool asks; null: it asks none by its row. */
  readonly models: ToolModelOptions | null;
  /** What `inputSchema` says and a provider's models cannot be told, by provider. */
  readonly losses?: SchemaLosses;
  /** Scopes that a call needs, and those of them that the caller lacks. */
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

/** A tool left out of a list because its definition is broken. */
export interface LeftOutTool {
  readonly name: string;
  readonly reason: string;
}

/** A tool whose definition nobody has approved; calls answer `TOOL_DEFINITION_CHANGED`. */
export interface QuarantinedTool {
  readonly name: string;
  /** `changed`: differs from what was approved. `new`: the server's row holds new tools back. */
  readonly reason: "changed" | "new";
  /** Fingerprint of the definition that the server gives now, which an approval has to name. */
  readonly definitionHash: string;
  /** Members of the definition that differ, with what the server gives now. */
  readonly difference: readonly DefinitionDifference[];
}

/** One member of a definition that changed. */
export interface DefinitionDifference {
  readonly member: string;
  /** Absent where the server gave the approved definition to another user, not to this caller. */
  readonly approved?: JsonValue;
  readonly current: JsonValue;
}

/** What a server can do beside tools, by its own word; decides what an endpoint offers for it. */
export interface ServerFeatures {
  readonly hasResources: boolean;
  readonly hasPrompts: boolean;
  readonly hasCompletions: boolean;
  /** Its tools may log for their caller. */
  readonly hasLogging: boolean;
  /** How to use the server, for the client's model. */
  readonly instructions: string | null;
  /** Of the server's program, where it tells; null for what is part of the product. */
  readonly version: string | null;
  /** What it says of itself beside that. @default nothing */
  readonly metadata?: JsonObject;
}

/** All that is known of a server for one caller. */
export interface ServerTools {
  readonly server: ServerSummary;
  /** Sorted by name. Those with `missingScopes` exist but cannot be called. */
  readonly tools: readonly ListedTool[];
  readonly dropped: readonly LeftOutTool[];
  readonly quarantined: readonly QuarantinedTool[];
  /** Names of tools that a policy forbids, which stand nowhere else here. */
  readonly forbidden: readonly string[];
  readonly features: ServerFeatures;
  /** Why the list is the cached one although a new one was due. */
  readonly listingError?: { readonly code: ErrorCode; readonly message: string };
}
