import type { DataFlow } from "../agent/data_flow.ts";
import type { ContentBlock } from "../content_block.ts";
import type { ErrorCode } from "../errors/codes.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import type { SchemaLosses } from "../tool_schemas/schema_loss.ts";

/**
 * Who a tool call acts as. Doors fill it in from what they authenticated; the gateway itself reads
 * the owner of `taskId` and the scopes.
 */
export interface ToolCaller {
  /** Whose rights, limits and learned parameters hold; null: the service. */
  readonly userId: string | null;
  /** All that the user's own verified token says; absent where none came. */
  readonly tokenClaims?: JsonObject;
  /** Only from a worker or a secret key. */
  readonly agentId: string | null;
  /** Only from a worker or a secret key. The call then acts as the task's owner, whatever `userId` says. */
  readonly taskId: string | null;
  /** OAuth client of the user's token (`client_id`); null when the token names none. */
  readonly clientId: string | null;
  /** A UUID of the client's choice that groups its calls; the gateway makes the row of `sessions`. */
  readonly sessionId: string | null;
  /** What the calling program says it is, for `sessions.client_name`. */
  readonly clientName: string | null;
  /**
   * Authenticated by a secret key: outside tasks it has every scope, also on behalf of a user.
   * Inside a task the owner's scopes hold.
   */
  readonly isService: boolean;
  /** An agent's tool sent the request, which names no task. @default as agentId and taskId say */
  readonly isAgent?: boolean;
}

/** Arguments of a tool that worked before. */
export interface KnownGoodParameters {
  /** The newest set; with `isShape` its keys, types, formats and enum values only. */
  readonly parameters: JsonObject;
  readonly isShape: boolean;
  readonly successCount: number;
}

/** A tool as an agent sees it, ready to be offered to a model. */
export interface AgentTool {
  /** Legal for every provider and unique within the agent; mapped back by the gateway. */
  readonly modelName: string;
  /** `tools.id` of the registry row (a server, an HTTP API, an RPC). */
  readonly toolId: string;
  /** `tools.slug`. */
  readonly server: string;
  /** The name as its server calls it. */
  readonly toolName: string;
  readonly description: string;
  /** As its server gives it; models get it in their provider's form. */
  readonly inputSchema: JsonObject;
  readonly isReadOnly: boolean;
  readonly isIdempotent: boolean;
  /** What of the task's data it lets flow; see `data_flow.ts`. */
  readonly dataFlows: readonly DataFlow[];
  /** Host to which it sends; null where nothing leaves the project. */
  readonly destination: string | null;
  /** Absent when nothing worked yet; `description` already tells the model its shape. */
  readonly knownGood?: KnownGoodParameters;
}

/** A registry row that could not be offered, with the reason; the agent goes on without it. */
export interface UnavailableTool {
  readonly server: string;
  readonly code: ErrorCode;
  readonly message: string;
}

/** What an agent may use now. */
export interface AgentToolset {
  readonly tools: readonly AgentTool[];
  readonly unavailable: readonly UnavailableTool[];
}

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
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: JsonObject;
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

/** Which tool is called, and by whom. */
export interface CallTarget {
  /** `tools.slug`. */
  readonly server: string;
  /** As its server calls it; also `name@version` and `name_vVersion`. */
  readonly toolName: string;
  readonly caller: ToolCaller;
}

/** One call through the gateway. */
export interface ToolCallRequest extends CallTarget {
  readonly arguments: JsonObject;
  /** Where the call stands in the task's transcript. */
  readonly stepSeq: number | null;
  /** 1 for the first try of this tool in a row. */
  readonly attempt: number;
  /** The same for every delivery of the same step. */
  readonly idempotencyKey: string;
  readonly traceparent: string | null;
  readonly tracestate?: string | null;
  /** Told of a tool's progress, in order; absent when nobody asked. */
  readonly onProgress?: (progress: ToolProgress) => void;
  /** Told what the tool logs for its caller, in order; absent when the caller wants none. */
  readonly logs?: ToolLogSink;
  readonly input?: InputOffer;
}

/** What the caller can be asked before a tool or prompt goes on, and what it has answered. */
export interface InputOffer {
  /** Of `elicitation`, `sampling` and `roots`, those that the caller's program has declared. */
  readonly capabilities: JsonObject;
  /** Answers to an earlier `input_required`, with its state. */
  readonly responses?: JsonObject;
  readonly state?: string;
}

/** Severities of the Model Context Protocol's log messages, as in syslog. */
export type ToolLogLevel =
  | "debug"
  | "info"
  | "notice"
  | "warning"
  | "error"
  | "critical"
  | "alert"
  | "emergency";

/** A message that a tool logs for its caller. */
export interface ToolLogMessage {
  readonly level: ToolLogLevel;
  readonly data: JsonValue;
  readonly logger?: string;
}

/** Where a tool's log messages go. */
export interface ToolLogSink {
  /** The least severity that is wanted. */
  readonly level: ToolLogLevel;
  write(message: ToolLogMessage): void;
}

/** How far a tool is. */
export interface ToolProgress {
  readonly done: number;
  readonly total?: number;
  readonly message?: string;
}

/** What a failure is about; what can be done about it differs. */
export type ToolErrorClass =
  /** Scopes, grants, policies, credentials. */
  | "auth"
  | "rate"
  | "timeout"
  /** Arguments, or a definition that is not the approved one. */
  | "schema"
  /** The tool ran and reports an error. */
  | "tool"
  /** No connection, or no answer. */
  | "transport"
  /** An answer that cannot be read, a row that cannot be used, or a client that cannot be asked. */
  | "protocol";

/** By what a call can be found again. */
interface CallTrail {
  /** `mcp_executions.id`. */
  readonly executionId: string;
  readonly feedbackToken: string;
  /** Of the tool that ran; absent where it has none. */
  readonly toolVersion?: string;
  /** Only of a call of a server that is not part of the product. */
  readonly external?: ExternalCall;
}

/** What is known of a call because somebody else's server ran it. */
export interface ExternalCall {
  /** From the call to its end, retries included. */
  readonly responseTimeMs: number;
  /** The beginning of what the server said; only of an error that came from there. */
  readonly originalError?: string;
}

/** The tool ran, or the call was refused in a way the caller can act on (`isError`). */
export interface AnsweredCall extends CallTrail {
  readonly kind: "answered";
  /** For a model: the content's text, with a note in place of what is no text. */
  readonly text: string;
  /** The result's blocks, as the tool gave them. */
  readonly content: readonly ContentBlock[];
  readonly structured?: JsonValue;
  readonly isError: boolean;
  /** The tool's own `_meta`, without ours. */
  readonly meta?: JsonObject;
  /** Only with `isError`; absent when the tool itself reported the error. */
  readonly errorCode?: ErrorCode;
  readonly errorClass?: ToolErrorClass;
  /** What to do next; stands in `text` too. */
  readonly hint?: string;
  readonly details?: JsonValue;
  /** When the same call may succeed. */
  readonly retryAfterMs?: number;
  /**
   * The HTTP status of a door that speaks plain JSON: 200 when the tool ran or refused its
   * arguments, else that of the gateway's refusal.
   */
  readonly status: number;
  /** Failures of this tool for this user in a row, with this one; only with `isError`. */
  readonly consecutiveFailures?: number;
  /** The statement that a failed generation ended with. */
  readonly lastSql?: string;
}

/** The tool asks its caller before it goes on; only what `input.capabilities` allows. */
export interface InputRequiredCall extends CallTrail {
  readonly kind: "input_required";
  /** By key, as the Model Context Protocol has them: `{method, params}`. */
  readonly inputRequests: JsonObject;
  /** To be sent back unread with the answers. */
  readonly requestState?: string;
  readonly meta?: JsonObject;
}

/** The request left but no answer came, and repeating could do harm (`TOOL_OUTCOME_UNKNOWN`). */
export interface UnknownCall extends CallTrail {
  readonly kind: "unknown";
  readonly message: string;
  /** The latter for the third failure in a row outside tasks; `details` has the former then. */
  readonly errorCode: "TOOL_OUTCOME_UNKNOWN" | "EXCEEDED_RETRIES";
  /** What to do next. */
  readonly hint: string;
  readonly details?: JsonObject;
  /** Failures of this tool for this user in a row, with this one. */
  readonly consecutiveFailures?: number;
}

/** What came of a call. */
export type ToolCallOutcome = AnsweredCall | InputRequiredCall | UnknownCall;

/** A request for something beside tools, passed on to a server as it is. */
export interface RelayRequest {
  /** `tools.slug`. */
  readonly server: string;
  readonly caller: ToolCaller;
  readonly method: RelayMethod;
  /** As the Model Context Protocol has them, without `_meta`. */
  readonly params: JsonObject;
  /** Only `prompts/get` and `resources/read` may ask. */
  readonly input?: InputOffer;
}

/** What can be passed on. */
export type RelayMethod =
  | "resources/list"
  | "resources/templates/list"
  | "resources/read"
  | "prompts/list"
  | "prompts/get"
  | "completion/complete";

/** What is known of a tool before it is called. */
export type CallableTool = Pick<
  ListedTool,
  "name" | "version" | "inputSchema" | "outputSchema" | "scopes" | "missingScopes"
>;

/** One call that was looked up and taken out of its rate limit, but not yet run. */
export interface PreparedCall {
  readonly server: Pick<ServerSummary, "name" | "description" | "type" | "external">;
  readonly features: ServerFeatures;
  readonly tool: CallableTool;
  /** Runs it as {@linkcode ToolGateway.call} does; once. */
  run(
    details: Omit<ToolCallRequest, keyof CallTarget>,
    signal: AbortSignal,
  ): Promise<ToolCallOutcome>;
}

/** How {@linkcode ToolGateway.listServerTools} lists. */
export interface ListServerOptions {
  /** Ask the server now, whatever the age of the cached list. @default false */
  readonly refresh?: boolean;
  /** How long a server is waited for that was never listed. @default as long as it may take */
  readonly firstWaitMs?: number;
}

/**
 * The one way to find and run tools. Implemented by `shared/tools/gateway.ts`.
 *
 * `call` never throws for what the tool or its server did; it throws `SwarmError` only for
 * `TOOL_RATE_LIMITED` (with `retryAfterSeconds`), a caller that does not exist (`TASK_NOT_FOUND`,
 * `AGENT_NOT_FOUND`, `CALLER_REQUIRED`, or `FORBIDDEN` for somebody else's session),
 * `DATABASE_UNAVAILABLE` and the reason of an aborted signal. The other methods throw `SwarmError`.
 */
export interface ToolGateway {
  listAgentTools(caller: ToolCaller, signal: AbortSignal): Promise<AgentToolset>;
  /** The active servers of which the caller may use at least something, sorted by slug. Asks no server. */
  listServers(caller: ToolCaller, signal: AbortSignal): Promise<readonly ServerSummary[]>;
  /**
   * A server's tools; asks the server only when the cached list is missing or too old.
   *
   * @throws SwarmError `TOOL_NOT_FOUND` for no such active server, `INSUFFICIENT_SCOPE` naming what
   * is missing, else why a server without a cached list cannot be listed.
   */
  listServerTools(
    server: string,
    caller: ToolCaller,
    options: ListServerOptions,
    signal: AbortSignal,
  ): Promise<ServerTools>;
  /** The slug of a connection's server; null when it is not the caller's (the service's: any). */
  findConnection(connectionId: string, caller: ToolCaller): Promise<string | null>;
  call(request: ToolCallRequest, signal: AbortSignal): Promise<ToolCallOutcome>;
  /**
   * Looks up all that a call needs, for a caller that has to know the tool before it calls: one
   * question to the database for both.
   *
   * @returns Null when the server's list says more: it is missing or old, or has no such tool.
   */
  prepare(target: CallTarget): Promise<PreparedCall | null>;
  /**
   * Resources and prompts, of internal and external servers alike.
   *
   * @returns The result as the Model Context Protocol has it.
   * @throws SwarmError `TOOL_NOT_FOUND`, `INSUFFICIENT_SCOPE`, `RESOURCE_NOT_FOUND`, `TOOL_…`.
   */
  relay(request: RelayRequest, signal: AbortSignal): Promise<JsonObject>;
}
