import { type ErrorCode, type ErrorType, traitsOf } from "../../platform/errors/codes.ts";
import type { JsonObject, JsonValue } from "../../platform/values/json.ts";
import { createRedactor } from "../../platform/secrets/redact.ts";
import { type EndedCall, toolNameOf } from "./call_stages.ts";
import type { ModelUse } from "../tool_contracts/tool_server.ts";
import { findByName } from "../tool_contracts/tool_versions.ts";

/** Maximum characters of a request or response in the ledger, as JSON. */
const MAX_STORED_CHARACTERS = 32 * 1024;
const HEAD_CHARACTERS = 1_000;

/** The outcome of a call, without secrets. */
export type CallEnding = Success | Failure | Asking;

interface Success {
  readonly kind: "success";
  readonly text: string;
  readonly structured?: JsonValue;
}

interface Failure {
  readonly kind: "failure";
  readonly message: string;
  /** Absent when the tool itself reported the error. */
  readonly code?: ErrorCode;
  /** The underlying error code, if the code summarizes several failures. */
  readonly causeCode?: ErrorCode;
  readonly isTimeout?: boolean;
  /** The outcome of the call is unknown. */
  readonly isUnknown?: boolean;
}

/** The tool requested input; nothing is learned from that. */
interface Asking {
  readonly kind: "asking";
  readonly inputRequests: JsonObject;
}

/** The call in the form for `private.record_execution`, without secrets. */
export async function ledgerEntry(
  call: EndedCall,
  ending: CallEnding,
  durationMs: number,
): Promise<JsonObject> {
  const { request, record, caller, redactor } = call;
  const unrecorded = createRedactor(call.unrecordedValues);
  // Redacted before truncation: a truncated secret would escape redaction.
  const parameters = unrecorded.json(await redactor.jsonInTurns(await recordedArguments(call)));
  return {
    id: call.executionId,
    feedback_token: call.feedbackToken,
    mcp_name: record?.tool.slug ?? request.server,
    tool_name: toolNameOf(call),
    tool_version: record?.cached?.version ?? null,
    tool_id: record?.tool.id ?? null,
    connection_id: record?.connection.id ?? null,
    agent_id: caller.agentId,
    user_id: caller.userId,
    session_id: record === null ? null : caller.sessionId,
    task_id: caller.taskId,
    step_seq: request.stepSeq,
    attempt: request.attempt,
    llm_provider: call.modelUses.at(-1)?.provider ?? null,
    llm_model: call.modelUses.at(-1)?.model ?? null,
    model_uses: call.modelUses.filter(({ isBooked }) => isBooked !== true).map(toUsage),
    request_data: cap(parameters),
    execution_time_ms: Math.round(durationMs),
    contact: call.contact,
    ...columnsOf(unrecorded.json(ending as unknown as JsonValue) as unknown as CallEnding),
    parameters: ending.kind === "success" && call.isOlderVersion !== true ? parameters : null,
  };
}

async function recordedArguments({ record, request, ports }: EndedCall): Promise<JsonObject> {
  if (record === null) return request.arguments;
  const internal = await ports.loadInternalServer(record.tool);
  const named = internal?.tools.map((tool) => ({ ...tool.definition, tool })) ?? [];
  return findByName(request.toolName, named)?.tool.recordedArguments(request.arguments) ??
    request.arguments;
}

function toUsage(use: ModelUse): JsonObject {
  return {
    provider: use.provider,
    model: use.model,
    key_source: use.keySource,
    input_tokens: use.inputTokens,
    cached_input_tokens: use.cachedInputTokens ?? 0,
    output_tokens: use.outputTokens,
  };
}

function columnsOf(ending: CallEnding): JsonObject {
  switch (ending.kind) {
    case "success":
      return successColumns(ending.structured ?? { text: ending.text });
    case "asking":
      return successColumns({ input_required: ending.inputRequests });
    case "failure":
      return failureColumns(ending);
  }
}

function successColumns(response: JsonValue): JsonObject {
  return { status: "success", response_data: cap(response) };
}

function failureColumns(
  { code, causeCode, isTimeout = isOfTime(traitsOf(code).type), isUnknown = false, message }:
    Failure,
): JsonObject {
  const { type } = traitsOf(causeCode ?? code);
  const head = message.slice(0, HEAD_CHARACTERS);
  return {
    status: isTimeout ? "timeout" : "error",
    error_message: head,
    response_data: cap({ error: message }),
    failure: {
      error_type: isUnknown ? "outcome_unknown" : isTimeout && !isOfTime(type) ? "timeout" : type,
      error_code: code ?? null,
      error_details: { message: head },
    },
  };
}

function isOfTime(type: ErrorType): boolean {
  return type === "timeout" || type === "llm_timeout";
}

/** The value, or its beginning as text if it is too large. */
function cap(value: JsonValue): JsonValue {
  const text = JSON.stringify(value);
  if (text.length <= MAX_STORED_CHARACTERS) return value;
  return { truncated: true, characters: text.length, head: text.slice(0, HEAD_CHARACTERS) };
}
