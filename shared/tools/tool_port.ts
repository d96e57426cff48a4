import type { ErrorCode } from "../errors/codes.ts";
import type { JsonObject, JsonValue } from "../json.ts";

/** Who a tool call acts as. `userId` null is the service itself. */
export interface ToolCaller {
  readonly userId: string | null;
  readonly agentId: string | null;
  readonly taskId: string | null;
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
  readonly inputSchema: JsonObject;
  readonly isReadOnly: boolean;
  readonly isIdempotent: boolean;
  /** Absent when nothing worked yet; `description` already tells it to the model. */
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

/** One call through the gateway. */
export interface ToolCallRequest {
  readonly tool: AgentTool;
  readonly arguments: JsonObject;
  readonly caller: ToolCaller;
  /** Where the call stands in the task's transcript. */
  readonly stepSeq: number | null;
  /** 1 for the first try of this tool in a row. */
  readonly attempt: number;
  /** The same for every delivery of the same step. */
  readonly idempotencyKey: string;
  readonly traceparent: string | null;
}

/** What came of a call. */
export type ToolCallOutcome =
  /** The tool ran, or refused its arguments in a way the model can act on (`isError`). */
  | {
    readonly kind: "answered";
    readonly text: string;
    readonly structured?: JsonValue;
    readonly isError: boolean;
    readonly errorCode?: ErrorCode;
    readonly executionId: string;
    readonly feedbackToken: string;
  }
  /** The request left but no answer came, and repeating could do harm. */
  | {
    readonly kind: "unknown";
    readonly message: string;
    readonly executionId: string;
    readonly feedbackToken: string;
  };

/**
 * The one way to find and run tools. Implemented by `shared/tools/gateway.ts`.
 *
 * `call` never throws for what the tool or its server did; it throws `SwarmError` only for
 * `TOOL_RATE_LIMITED`, `DATABASE_UNAVAILABLE` and the reason of an aborted signal.
 */
export interface ToolGateway {
  listAgentTools(caller: ToolCaller, signal: AbortSignal): Promise<AgentToolset>;
  call(request: ToolCallRequest, signal: AbortSignal): Promise<ToolCallOutcome>;
}
