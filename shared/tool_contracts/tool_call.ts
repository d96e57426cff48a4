import type { ContentBlock } from "../content_block.ts";
import type { ErrorClass, ErrorCode } from "../errors/codes.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import type { ToolCaller } from "./tool_caller.ts";

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
  /** Receives the text of the answer as it comes; absent when nobody reads it before its end. */
  readonly onText?: (text: StreamedText) => void;
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

/** A piece of a tool's answer. */
export interface StreamedText {
  /** Without secrets, at most 8,000 characters. */
  readonly text: string;
  /** The text begins anew with this piece: what came before is void. */
  readonly isRestart: boolean;
}

/** How far a tool is. */
export interface ToolProgress {
  readonly done: number;
  readonly total?: number;
  readonly message?: string;
}

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
  /** Values within the answer that are the caller's to know and nobody's to store. */
  readonly unrecordedValues?: readonly string[];
  /** Only with `isError`; absent when the tool itself reported the error. */
  readonly errorCode?: ErrorCode;
  readonly errorClass?: ErrorClass;
  /** What to do next; stands in `text` too. */
  readonly hint?: string;
  readonly details?: JsonValue;
  /** When the same call may succeed. */
  readonly retryAfterMs?: number;
  /**
   * The HTTP status for an endpoint that answers plain JSON: 200 when the tool ran or refused its
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
