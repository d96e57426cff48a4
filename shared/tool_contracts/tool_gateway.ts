import type { JsonObject } from "../json.ts";
import type { AgentToolset } from "./agent_tool.ts";
import type { ListedTool, ServerFeatures, ServerSummary, ServerTools } from "./server_tools.ts";
import type { CallTarget, InputOffer, ToolCallOutcome, ToolCallRequest } from "./tool_call.ts";
import type { ToolCaller } from "./tool_caller.ts";

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
export type CallableTool =
  & Pick<
    ListedTool,
    "name" | "version" | "inputSchema" | "outputSchema" | "scopes" | "missingScopes"
  >
  & Partial<Pick<ListedTool, "isOlderVersion">>;

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
