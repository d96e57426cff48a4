import type { ContentBlock } from "../../platform/values/content_block.ts";
import type { ErrorClass, ErrorCode } from "../../platform/errors/codes.ts";
import type { JsonObject, JsonValue } from "../../platform/values/json.ts";
import type { DataFlow } from "./data_flow.ts";
import type { ToolCaller } from "./tool_caller.ts";

/** The called tool and its caller. */
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
  /** The position of the call in the task's transcript. */
  readonly stepSeq: number | null;
  /** 1 for the first try of this tool in a row. */
  readonly attempt: number;
  /** The same for every delivery of the same step. */
  readonly idempotencyKey: string;
  readonly traceparent: string | null;
  readonly tracestate?: string | null;
  /** Receives the tool's progress, in order; absent if not requested. */
  readonly onProgress?: (progress: ToolProgress) => void;
  /** Receives the answer's text as it streams in; absent if not requested. */
  readonly onText?: (text: StreamedText) => void;
  /** Receives the tool's log messages, in order; absent if the caller wants none. */
  readonly logs?: ToolLogSink;
  readonly input?: InputOffer;
  /**
   * Receives the write of a successful call's ledger row, which never rejects, so that the caller can
   * write its own result meanwhile. Absent: the answer waits for it.
   */
  readonly onRecording?: (recorded: Promise<void>) => void;
  /** Only from a caller that can ask a person, so the call may throw `ApprovalRequired`. */
  readonly approval?: {
    /** The data flows of the calls before the one that the model requested. */
    readonly readFlows: readonly DataFlow[];
    readonly toolFlows: readonly DataFlow[];
  };
}

/** The input that the caller can provide before a tool or prompt continues, and its answers. */
export interface InputOffer {
  /** Those of `elicitation`, `sampling` and `roots` that the caller's program has declared. */
  readonly capabilities: JsonObject;
  /** Answers to an earlier `input_required`, with its state. */
  readonly responses?: JsonObject;
  readonly state?: string;
}

/** Log severities of the Model Context Protocol, as in syslog. */
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
  /** The minimum severity. */
  readonly level: ToolLogLevel;
  write(message: ToolLogMessage): void;
}

/** A piece of a tool's answer. */
export interface StreamedText {
  /** Without secrets, at most 8,000 characters. */
  readonly text: string;
  /** The text restarts with this part: discard the previous parts. */
  readonly isRestart: boolean;
}

/** The progress of a tool. */
export interface ToolProgress {
  readonly done: number;
  readonly total?: number;
  readonly message?: string;
}

/** The ids by which a call can be found. */
interface CallTrail {
  /** `mcp_executions.id`. */
  readonly executionId: string;
  readonly feedbackToken: string;
  /** The version of the tool that ran; absent if it has none. */
  readonly toolVersion?: string;
  /** Only for a call of an external server. */
  readonly external?: ExternalCall;
}

/** Additional facts about a call that an external server ran. */
export interface ExternalCall {
  /** From the call to its end, retries included. */
  readonly responseTimeMs: number;
  /** The beginning of the server's own error message, if the error came from it. */
  readonly originalError?: string;
}

/** The tool ran, or the call was refused in a way the caller can act on (`isError`). */
export interface AnsweredCall extends CallTrail {
  readonly kind: "answered";
  /** For a model: the content's text, with a note in place of other content. */
  readonly text: string;
  /** The result's blocks, as the tool gave them. */
  readonly content: readonly ContentBlock[];
  readonly structured?: JsonValue;
  readonly isError: boolean;
  /** The tool's own `_meta`, without ours. */
  readonly meta?: JsonObject;
  /** Values of the answer that the caller gets but that must not be stored. */
  readonly unrecordedValues?: readonly string[];
  /** Only with `isError`; absent when the tool itself reported the error. */
  readonly errorCode?: ErrorCode;
  readonly errorClass?: ErrorClass;
  /** The next step; also in `text`. */
  readonly hint?: string;
  readonly details?: JsonValue;
  /** When the same call may succeed. */
  readonly retryAfterMs?: number;
  /**
   * The HTTP status for an endpoint with plain JSON: 200 if the tool ran or rejected its arguments,
   * otherwise the status of the gateway's refusal.
   */
  readonly status: number;
  /** Consecutive failures of this tool for this user, including this one; only with `isError`. */
  readonly consecutiveFailures?: number;
  /** The last statement of a failed generation. */
  readonly lastSql?: string;
}

/** The tool asks its caller for input; only what `input.capabilities` allows. */
export interface InputRequiredCall extends CallTrail {
  readonly kind: "input_required";
  /** By key, as in the Model Context Protocol: `{method, params}`. */
  readonly inputRequests: JsonObject;
  /** Must be sent back unchanged with the answers. */
  readonly requestState?: string;
  readonly meta?: JsonObject;
}

/**
 * The request was sent but no answer arrived, and repeating it could do harm
 * (`TOOL_OUTCOME_UNKNOWN`).
 */
export interface UnknownCall extends CallTrail {
  readonly kind: "unknown";
  readonly message: string;
  /** The latter for the third consecutive failure outside tasks; `details` then has the former. */
  readonly errorCode: "TOOL_OUTCOME_UNKNOWN" | "EXCEEDED_RETRIES";
  /** What to do next. */
  readonly hint: string;
  readonly details?: JsonObject;
  /** Consecutive failures of this tool for this user, including this one. */
  readonly consecutiveFailures?: number;
}

/** The outcome of a call. */
export type ToolCallOutcome = AnsweredCall | InputRequiredCall | UnknownCall;
