import type { JsonObject } from "../../platform/values/json.ts";
import type { AgentToolset } from "./agent_tool.ts";
import type { ListedTool, ServerFeatures, ServerSummary, ServerTools } from "./server_tools.ts";
import type { CallTarget, InputOffer, ToolCallOutcome, ToolCallRequest } from "./tool_call.ts";
import type { ToolCaller } from "./tool_caller.ts";
import type { ToolDefinition } from "./tool_definition.ts";
import type { ToolDraft } from "./tool_draft.ts";

/** A request for resources or prompts, forwarded to a server unchanged. */
export interface RelayRequest {
  /** `tools.slug`. */
  readonly server: string;
  readonly caller: ToolCaller;
  readonly method: RelayMethod;
  /** As in the Model Context Protocol, without `_meta`. */
  readonly params: JsonObject;
  /** Only `prompts/get` and `resources/read` may ask for input. */
  readonly input?: InputOffer;
}

/** The requests that can be forwarded. */
export type RelayMethod =
  | "resources/list"
  | "resources/templates/list"
  | "resources/read"
  | "prompts/list"
  | "prompts/get"
  | "completion/complete";

/** The facts about a tool that are known before a call. */
export type CallableTool =
  & Pick<
    ListedTool,
    "name" | "version" | "inputSchema" | "outputSchema" | "scopes" | "missingScopes"
  >
  & Partial<Pick<ListedTool, "isOlderVersion">>;

/** A call that was looked up and counted against its rate limit, but not yet run. */
export interface PreparedCall {
  readonly server: Pick<ServerSummary, "name" | "description" | "type" | "external">;
  readonly features: ServerFeatures;
  readonly tool: CallableTool;
  /** Runs it like {@linkcode ToolGateway.call}; only once. */
  run(
    details: Omit<ToolCallRequest, keyof CallTarget>,
    signal: AbortSignal,
  ): Promise<ToolCallOutcome>;
}

/** The tools of a draft. */
export interface DraftTools extends Pick<ServerTools, "dropped"> {
  readonly tools: readonly ToolDefinition[];
}

/** Options of {@linkcode ToolGateway.listServerTools}. */
export interface ListServerOptions {
  /** Ask the server now, regardless of the age of the cached list. @default false */
  readonly refresh?: boolean;
  /** How long to wait for a server that was never listed. @default without a limit */
  readonly firstWaitMs?: number;
}

/**
 * Finds and runs tools of every type. Implemented by `shared/gateway/tools/gateway.ts`.
 *
 * `call` never throws for a failure of the tool or its server; it throws `SwarmError` only for
 * `TOOL_RATE_LIMITED` (with `retryAfterSeconds`), a caller that does not exist (`TASK_NOT_FOUND`,
 * `AGENT_NOT_FOUND`, `CALLER_REQUIRED`, or `FORBIDDEN` for somebody else's session),
 * `ApprovalRequired` to a caller that can ask a person,
 * `DATABASE_UNAVAILABLE` and the reason of an aborted signal. The other methods throw `SwarmError`.
 */
export interface ToolGateway {
  listAgentTools(caller: ToolCaller, signal: AbortSignal): Promise<AgentToolset>;
  /**
   * The active servers with at least one tool that the caller may use, sorted by slug. Contacts no
   * server.
   */
  listServers(caller: ToolCaller): Promise<readonly ServerSummary[]>;
  /**
   * A server's tools; contacts the server only if the cached list is missing or too old.
   *
   * @throws SwarmError `TOOL_NOT_FOUND` for an unknown or inactive server, `INSUFFICIENT_SCOPE`
   * with the missing scopes, otherwise the reason why a server without a cached list cannot be
   * listed.
   */
  listServerTools(
    server: string,
    caller: ToolCaller,
    options: ListServerOptions,
    signal: AbortSignal,
  ): Promise<ServerTools>;
  /**
   * The slug of a connection's server; null if the connection is not the caller's. The service may
   * read any.
   */
  findConnection(connectionId: string, caller: ToolCaller): Promise<string | null>;
  call(request: ToolCallRequest, signal: AbortSignal): Promise<ToolCallOutcome>;
  /**
   * Calls a tool of a draft as {@linkcode call} would if the draft were saved. The ledger marks the
   * call as a try, and nothing else remains of it.
   *
   * @throws SwarmError like `call`; also `INSUFFICIENT_SCOPE`, and what saving the draft would raise.
   */
  tryCall(
    draft: ToolDraft,
    request: ToolCallRequest,
    signal: AbortSignal,
  ): Promise<ToolCallOutcome>;
  /**
   * The tools that a draft would have, from its server now.
   *
   * @throws SwarmError like `tryCall`, or the reason why the server cannot be listed.
   */
  listDraft(
    draft: ToolDraft,
    target: Omit<CallTarget, "toolName">,
    signal: AbortSignal,
  ): Promise<DraftTools>;
  /**
   * Looks up everything that a call needs, for a caller that must know the tool before the call:
   * one database query for both.
   *
   * @returns Null if the server's list must be consulted: it is missing or old, or does not have
   * the tool.
   */
  prepare(target: CallTarget): Promise<PreparedCall | null>;
  /**
   * Resources and prompts, of internal and external servers alike.
   *
   * @returns The result as defined by the Model Context Protocol.
   * @throws SwarmError `TOOL_NOT_FOUND`, `INSUFFICIENT_SCOPE`, `RESOURCE_NOT_FOUND`, `TOOL_…`.
   */
  relay(request: RelayRequest, signal: AbortSignal): Promise<JsonObject>;
}
