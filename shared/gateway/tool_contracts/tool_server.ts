import type { ContentBlock } from "../../platform/values/content_block.ts";
import type { CLOSED_SETS } from "../../platform/db/closed_sets.ts";
import type { ErrorCode } from "../../platform/errors/codes.ts";
import type { JsonObject, JsonValue } from "../../platform/values/json.ts";
import type { Approval } from "./approval.ts";
import type { ToolDefinition } from "./tool_definition.ts";
import type { InputOffer, StreamedText, ToolLogSink, ToolProgress } from "./tool_call.ts";
import type { RelayMethod } from "./tool_gateway.ts";
import type { ToolCaller } from "./tool_caller.ts";

/** The current offer of a server. */
export interface ToolListing {
  readonly tools: readonly ToolDefinition[];
  /** Tools omitted because their definition cannot be used, and omitted parts of others. */
  readonly dropped: readonly DroppedTool[];
}

/** A tool that cannot be offered, or what is omitted of one that is, and why. */
export interface DroppedTool {
  readonly name: string;
  /** Only a part is omitted, which `reason` names. @default false */
  readonly is_part?: boolean;
  readonly reason: string;
}

/** One call for a server; its arguments match the tool's schema. */
export interface ServerCall {
  readonly definition: ToolDefinition;
  readonly arguments: JsonObject;
  /** Its user is the one whose rights apply. */
  readonly caller: ToolCaller;
  readonly executionId: string;
  /** Of the task's transcript; null outside tasks. */
  readonly stepSeq: number | null;
  readonly idempotencyKey: string;
  readonly traceparent: string | null;
  readonly tracestate: string | null;
  readonly timeoutMs: number;
  readonly onProgress: ((progress: ToolProgress) => void) | null;
  /** Null if the caller does not stream. */
  readonly onText: ((text: StreamedText) => void) | null;
  readonly logs: ToolLogSink | null;
  readonly input: CallInput;
  readonly approval: Approval;
  /** Called after each model call that the tool made itself. */
  readonly onModelUse: (use: ModelUse) => void;
  /** The caller's scopes; null for all. */
  readonly grantedScopes: readonly string[] | null;
  /** Marks values of the answer or the arguments that must not be stored. */
  readonly onUnrecordedValue: (value: string) => void;
}

/** The usage of a model by a tool, as booked on the call. */
export interface ModelUse {
  /** `llm_providers.name`. */
  readonly provider: string;
  readonly model: string;
  /** Whose key was charged. */
  readonly keySource: (typeof CLOSED_SETS.usage_events.key_source)[number];
  readonly inputTokens: number;
  /** Part of `inputTokens`. @default 0 */
  readonly cachedInputTokens?: number;
  readonly outputTokens: number;
  /** Its row of `usage_events` has already been written. @default false */
  readonly isBooked?: boolean;
}

/** The input that the caller can provide, and its answers. */
export interface CallInput {
  /** See {@linkcode InputOffer}; empty if the caller cannot be asked. */
  readonly capabilities: JsonObject;
  readonly responses: JsonObject | null;
  readonly state: string | null;
}

/** The input of a request, from its caller. */
export function inputOf({ input }: { readonly input?: InputOffer }): CallInput {
  return {
    capabilities: input?.capabilities ?? {},
    responses: input?.responses ?? null,
    state: input?.state ?? null,
  };
}

/** The tool ran, or refused the call in a way that the model can act on. */
export interface Answered {
  readonly kind: "answered";
  readonly text: string;
  /** @default one block of `text` */
  readonly content?: readonly ContentBlock[];
  readonly structured?: JsonValue;
  readonly meta?: JsonObject;
  readonly isError: boolean;
  /** Only with `isError`; absent when the tool itself reported the error. */
  readonly errorCode?: ErrorCode;
  readonly hint?: string;
  readonly details?: JsonValue;
  /** The original message of the error. @default `text` */
  readonly originalError?: string;
  /** The server's tools differ from the cached ones. */
  readonly isDefinitionStale?: boolean;
}

/** The tool asks its caller for input. */
export interface AsksInput {
  readonly kind: "input_required";
  readonly inputRequests: JsonObject;
  readonly requestState?: string;
  readonly meta?: JsonObject;
}

/** The call was sent and may have run; no answer came. */
export interface Lost {
  readonly kind: "lost";
  readonly cause: "timeout" | "connection";
  readonly message: string;
  /** The original message of its cause. @default `message` */
  readonly originalError?: string;
}

/** The outcome of a call at the server. */
export type ServerAnswer = Answered | AsksInput | Lost;

/** A request for resources or prompts. */
export interface ServerRelay {
  readonly method: RelayMethod;
  readonly params: JsonObject;
  readonly caller: ToolCaller;
  readonly input: CallInput;
  readonly timeoutMs: number;
}

/**
 * A tool server of any type, opened for one caller and one operation.
 *
 * The methods that contact the server throw `SwarmError` for a failure after which the call has
 * certainly not run, such as `ApprovalRequired`, and the signal's reason if it was aborted.
 */
export interface ToolServer {
  listTools(signal: AbortSignal): Promise<ToolListing>;
  callTool(call: ServerCall, signal: AbortSignal): Promise<ServerAnswer>;
  /** Absent for a server that only has tools. */
  readonly relay?: (request: ServerRelay, signal: AbortSignal) => Promise<JsonObject>;
}
