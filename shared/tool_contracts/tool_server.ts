import type { ContentBlock } from "../content_block.ts";
import type { CLOSED_SETS } from "../db/database.types.ts";
import type { ErrorCode } from "../errors/codes.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import type { ToolDefinition } from "./tool_definition.ts";
import type { InputOffer, StreamedText, ToolLogSink, ToolProgress } from "./tool_call.ts";
import type { RelayMethod } from "./tool_gateway.ts";
import type { ToolCaller } from "./tool_caller.ts";

/** All that a server offers now. */
export interface ToolListing {
  readonly tools: readonly ToolDefinition[];
  /** Tools left out because their definition is broken. */
  readonly dropped: readonly DroppedTool[];
}

/** A tool that cannot be offered, and why. */
export interface DroppedTool {
  readonly name: string;
  readonly reason: string;
}

/** One call as a server takes it; its arguments fit the tool's schema. */
export interface ServerCall {
  readonly definition: ToolDefinition;
  readonly arguments: JsonObject;
  /** Its user is the one whose rights hold. */
  readonly caller: ToolCaller;
  readonly executionId: string;
  /** Of the task's transcript; null outside tasks. */
  readonly stepSeq: number | null;
  readonly idempotencyKey: string;
  readonly traceparent: string | null;
  readonly tracestate: string | null;
  readonly timeoutMs: number;
  readonly onProgress: ((progress: ToolProgress) => void) | null;
  /** Null where nobody reads the answer before its end. */
  readonly onText: ((text: StreamedText) => void) | null;
  readonly logs: ToolLogSink | null;
  readonly input: CallInput;
  /** Told of each model that the tool itself used, once that has answered. */
  readonly onModelUse: (use: ModelUse) => void;
  /** What the caller is allowed; null: everything. */
  readonly grantedScopes: readonly string[] | null;
  /** Takes values of the answer or the arguments that nothing may store. */
  readonly onUnrecordedValue: (value: string) => void;
}

/** A model that a tool used, as it is booked on the call. */
export interface ModelUse {
  /** `llm_providers.name`. */
  readonly provider: string;
  readonly model: string;
  /** Whose key paid. */
  readonly keySource: (typeof CLOSED_SETS.usage_events.key_source)[number];
  readonly inputTokens: number;
  /** Part of `inputTokens`. @default 0 */
  readonly cachedInputTokens?: number;
  readonly outputTokens: number;
  /** Its row of `usage_events` is written already. @default false */
  readonly isBooked?: boolean;
}

/** What the caller can be asked, and has answered. */
export interface CallInput {
  /** See {@linkcode InputOffer}; empty: nothing can be asked. */
  readonly capabilities: JsonObject;
  readonly responses: JsonObject | null;
  readonly state: string | null;
}

/** A request's input as its caller gave it. */
export function inputOf({ input }: { readonly input?: InputOffer }): CallInput {
  return {
    capabilities: input?.capabilities ?? {},
    responses: input?.responses ?? null,
    state: input?.state ?? null,
  };
}

/** The tool ran, or refused the call in a way the model can act on. */
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
  /** What led to the error, in its own words. @default `text` */
  readonly originalError?: string;
  /** The server's tools are not the ones that were cached. */
  readonly isDefinitionStale?: boolean;
}

/** The tool asks its caller something before it goes on. */
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
  /** What led to it, in its own words. @default `message` */
  readonly originalError?: string;
}

/** What came of a call at the server. */
export type ServerAnswer = Answered | AsksInput | Lost;

/** A request for something beside tools. */
export interface ServerRelay {
  readonly method: RelayMethod;
  readonly params: JsonObject;
  readonly caller: ToolCaller;
  readonly input: CallInput;
  readonly timeoutMs: number;
}

/**
 * A tool server of any type, opened for one caller and one piece of work.
 *
 * The methods that ask the server throw `SwarmError` for a failure after which the call has
 * certainly not run, and the signal's reason when it was aborted.
 */
export interface ToolServer {
  listTools(signal: AbortSignal): Promise<ToolListing>;
  callTool(call: ServerCall, signal: AbortSignal): Promise<ServerAnswer>;
  /** Absent for a server that has nothing beside tools. */
  readonly relay?: (request: ServerRelay, signal: AbortSignal) => Promise<JsonObject>;
}
