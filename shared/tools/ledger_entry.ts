import type { CLOSED_SETS } from "../db/database.types.ts";
import { ERROR_CODES, type ErrorCode } from "../errors/codes.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import type { Redactor } from "../secrets/redact.ts";
import { toStorableJson } from "../storable_json.ts";
import type { ToolCallRequest } from "./tool_port.ts";
import type { CallRecord } from "./tool_store.ts";

/** Most characters of a request or response that the ledger keeps, as JSON. */
const MAX_STORED_CHARACTERS = 32 * 1024;
const HEAD_CHARACTERS = 1_000;

/** A finished call, before redaction. */
export interface FinishedCall {
  readonly executionId: string;
  readonly feedbackToken: string;
  readonly request: ToolCallRequest;
  /** Null when the tool is not registered. */
  readonly record: CallRecord | null;
  readonly durationMs: number;
  readonly outcome: CallEnding;
}

/** How a call ended. */
export type CallEnding =
  | { readonly kind: "success"; readonly text: string; readonly structured?: JsonValue }
  | {
    readonly kind: "failure";
    readonly message: string;
    /** Absent when the tool itself reported the error. */
    readonly code?: ErrorCode;
    readonly isTimeout?: boolean;
  };

/** The call as `private.record_execution` takes it, without secrets. */
export function ledgerEntry(call: FinishedCall, redactor: Redactor): JsonObject {
  const { request, record, outcome } = call;
  const { caller, tool } = request;
  // Redacted before it is cut: half a secret is found no more.
  const clean = (value: JsonValue) => toStorableJson(redactor.json(value));
  const parameters = clean(request.arguments);
  return {
    id: call.executionId,
    feedback_token: call.feedbackToken,
    mcp_name: mcpName(call),
    tool_name: tool.toolName,
    tool_version: record?.cached?.version ?? null,
    tool_id: record?.tool.id ?? null,
    connection_id: record?.connection.id ?? null,
    agent_id: caller.agentId,
    user_id: caller.userId,
    task_id: caller.taskId,
    step_seq: request.stepSeq,
    attempt: request.attempt,
    request_data: cap(parameters),
    execution_time_ms: Math.round(call.durationMs),
    ...(outcome.kind === "success"
      ? successColumns(clean(outcome.structured ?? { text: outcome.text }))
      : failureColumns(outcome, String(clean(outcome.message)))),
    parameters,
  };
}

function mcpName({ record, request }: FinishedCall): string {
  if (record?.tool.type === "http_api") return "http";
  if (record?.tool.type === "supabase_rpc") return "rpc";
  return record?.tool.slug ?? request.tool.server;
}

function successColumns(response: JsonValue): JsonObject {
  return { status: "success", response_data: cap(response) };
}

function failureColumns(
  { code, isTimeout = code === "TOOL_TIMEOUT" }: Extract<CallEnding, { kind: "failure" }>,
  message: string,
): JsonObject {
  const head = message.slice(0, HEAD_CHARACTERS);
  const isUnknown = code === "TOOL_OUTCOME_UNKNOWN";
  return {
    status: isTimeout ? "timeout" : "error",
    error_message: head,
    response_data: cap({ error: message }),
    failure: {
      error_type: isTimeout && !isUnknown ? "timeout" : errorType(code),
      error_code: code ?? null,
      error_details: { message: head },
    },
  };
}

function errorType(code: ErrorCode | undefined): FailureType {
  switch (code) {
    case "TOOL_ARGUMENTS_INVALID":
    case "TOOL_NOT_FOUND":
      return "validation_error";
    case "TOOL_AUTH_FAILED":
    case "TOOL_FORBIDDEN":
    case "CALLER_REQUIRED":
    case "SECRET_NOT_FOUND":
    case "SECRET_INVALID":
      return "auth_error";
    case "TOOL_RATE_LIMITED":
      return "rate_limited";
    case "TOOL_OUTCOME_UNKNOWN":
      return "outcome_unknown";
    case "TOOL_CONFIG_INVALID":
    case "TOOL_ADDRESS_FORBIDDEN":
      return "config_error";
    default:
      return code !== undefined && ERROR_CODES[code].retryable ? "transport_error" : "tool_error";
  }
}

type FailureType = (typeof CLOSED_SETS.mcp_failures.error_type)[number];

/** The value, or its beginning as text where it is too large to keep. */
function cap(value: JsonValue): JsonValue {
  const text = JSON.stringify(value);
  if (text.length <= MAX_STORED_CHARACTERS) return value;
  return { truncated: true, characters: text.length, head: text.slice(0, HEAD_CHARACTERS) };
}
