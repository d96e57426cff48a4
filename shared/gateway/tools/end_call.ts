import { withoutFence } from "../tool_contracts/fence_data.ts";
import { textBlock } from "../../platform/values/content_block.ts";
import { definedOnly } from "../../platform/values/defined_only.ts";
import { ERROR_TYPES, type ErrorCode, isErrorCode, traitsOf } from "../../platform/errors/codes.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import type { Redactor } from "../../platform/secrets/redact.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../platform/values/json.ts";
import {
  type ExternalFailure,
  externalPart,
  MAX_ERROR_CHARACTERS,
  originalWords,
} from "./external_call.ts";
import { type CallEnding, ledgerEntry } from "./ledger_entry.ts";
import { remindOfKnownGood } from "./learning/remind_of_known_good.ts";
import { hasExceededRetries } from "./learning/retry_message.ts";
import { type EndedCall, toolNameOf } from "./call_stages.ts";
import { isRepeatable } from "../tool_contracts/tool_definition.ts";
import { ApprovalRequired } from "../tool_contracts/approval.ts";
import type { AnsweredCall, ToolCallOutcome, UnknownCall } from "../tool_contracts/tool_call.ts";
import type { Answered, AsksInput, Lost } from "../tool_contracts/tool_server.ts";
import { withHint } from "../../platform/errors/with_hint.ts";

/**
 * Records a finished call and returns its outcome, without secrets.
 *
 * @throws SwarmError `TOOL_RATE_LIMITED` or `DATABASE_UNAVAILABLE`; the reason of an aborted signal.
 */
export async function endCall(call: EndedCall): Promise<ToolCallOutcome> {
  const { result } = call;
  if (result.kind === "error") return await endInError(call, result.error);
  switch (result.answer.kind) {
    case "lost":
      return await endLost(call, result.answer);
    case "input_required":
      return await endAsking(call, result.answer);
    case "answered":
      return await endAnswered(call, result.answer);
  }
}

async function endAnswered(call: EndedCall, raw: Answered): Promise<AnsweredCall> {
  const answer = await withoutSecrets(raw, call.redactor);
  const recording = recordEnding(
    call,
    answer.isError
      ? {
        kind: "failure",
        message: answer.text || "The tool reported an error",
        ...definedOnly({ code: answer.errorCode, causeCode: causeOf(answer) }),
      }
      : {
        kind: "success",
        text: answer.text,
        ...definedOnly({ structured: answer.structured }),
      },
  );
  const { onRecording } = call.request;
  // What models cost is booked before the caller's next step is checked against its budget.
  const isRecordedLater = onRecording !== undefined && !answer.isError &&
    call.modelUses.length === 0;
  if (isRecordedLater) onRecording(recording.then(() => {}));
  const failures = isRecordedLater ? 0 : await recording;
  const { text, content = [textBlock(text)], structured, meta } = answer;
  const outcome: AnsweredCall = {
    kind: "answered",
    text,
    content,
    ...definedOnly({ structured, meta }),
    isError: answer.isError,
    ...(call.unrecordedValues.length === 0 ? {} : { unrecordedValues: call.unrecordedValues }),
    status: httpStatusOf(answer.errorCode),
    ...trailOf(call),
    ...externalPart(call, answer.isError ? failureOf(answer) : undefined),
  };
  return answer.isError ? await withFailure(call, outcome, answer, failures) : outcome;
}

/** The underlying error of a tool that gave up, because its own code only says that it gave up. */
function causeOf({ errorCode, details }: Answered): ErrorCode | undefined {
  if (errorCode !== "EXCEEDED_RETRIES" || !isJsonObject(details)) return undefined;
  return isErrorCode(details.error_code) ? details.error_code : undefined;
}

/**
 * The answer as it is passed on and stored. An error is redacted before truncation, because a
 * truncated secret would escape redaction.
 */
async function withoutSecrets(answer: Answered, redactor: Redactor): Promise<Answered> {
  const { content, structured, meta, details, hint, originalError } = answer;
  // The content is for models; the text is for programs, and whoever shows it to a model fences it.
  const text = withoutFence(answer.text);
  const clean = (value: JsonValue) => redactor.jsonInTurns(value);
  const isCut = answer.isError && text.length > MAX_ERROR_CHARACTERS;
  const cleanText = isCut
    ? `${redactor.head(text, MAX_ERROR_CHARACTERS)}\n(cut: the error is longer)`
    : await redactor.textInTurns(text);
  return {
    ...answer,
    text: cleanText,
    content: content === undefined || isCut
      ? [textBlock(cleanText)]
      : await clean(content as unknown as JsonValue) as unknown as typeof content,
    ...(structured === undefined ? {} : { structured: await clean(structured) }),
    ...(meta === undefined ? {} : { meta: await clean(meta) as JsonObject }),
    ...(details === undefined ? {} : { details: await clean(details) }),
    ...(hint === undefined ? {} : { hint: await redactor.textInTurns(hint) }),
    ...(originalError === undefined
      ? {}
      : { originalError: redactor.head(originalError, MAX_ERROR_CHARACTERS) }),
  };
}

function failureOf({ errorCode, originalError, text }: Answered): ExternalFailure {
  return { code: errorCode, words: originalError ?? text };
}

/**
 * The status of the gateway's refusal, or of a conflict, after which clients retry with a newer
 * version.
 */
function httpStatusOf(code: ErrorCode | undefined): number {
  const { status, isRefusal } = traitsOf(code);
  return isRefusal || status === 409 ? status : 200;
}

/**
 * Adds details to a failure; outside tasks also known-good parameters and the third consecutive
 * failure.
 */
async function withFailure(
  call: EndedCall,
  outcome: AnsweredCall,
  { errorCode, hint, details }: Answered,
  failures: number,
): Promise<AnsweredCall> {
  const lastSql = isJsonObject(details) && typeof details.last_sql === "string"
    ? details.last_sql
    : undefined;
  const failed: AnsweredCall = {
    ...outcome,
    errorClass: ERROR_TYPES[traitsOf(errorCode).type].class,
    ...definedOnly({ errorCode, hint, details, lastSql }),
    ...(failures === 0 ? {} : { consecutiveFailures: failures }),
  };
  if (isExceeded(call, failures) && traitsOf(errorCode).countsAsFailure) {
    return exceeded(call, failed, failures);
  }
  // In a task the agent loop adds the reminder, because it knows the model's previous messages.
  const reminder = isInTask(call) || call.isOlderVersion === true
    ? undefined
    : await remindOfKnownGood({ ...call, toolName: toolNameOf(call) }, errorCode);
  return reminder === undefined
    ? failed
    : { ...failed, content: [...failed.content, textBlock(reminder)] };
}

/** In a task the agent loop counts. */
function isExceeded(call: EndedCall, failures: number): boolean {
  return !isInTask(call) && hasExceededRetries({ attempt: failures });
}

function isInTask({ request }: EndedCall): boolean {
  return request.caller.taskId !== null;
}

function exceeded(call: EndedCall, failed: AnsweredCall, failures: number): AnsweredCall {
  const { errorCode, details, text } = failed;
  if (errorCode === "EXCEEDED_RETRIES") return failed;
  // The reason and what to do about it stay visible.
  const own = failed.hint ?? (errorCode === undefined ? undefined : traitsOf(errorCode).hint);
  const hint = [exceededHint(call, failures), ...own === undefined ? [] : [own]].join(" ");
  const textWithHint = `${text}\n\nEXCEEDED_RETRIES: ${hint}`;
  return {
    ...failed,
    text: textWithHint,
    content: [...failed.content, textBlock(`EXCEEDED_RETRIES: ${hint}`)],
    errorCode: "EXCEEDED_RETRIES",
    hint,
    details: {
      ...(isJsonObject(details) ? details : {}),
      reason: "consecutive_failures",
      error_code: errorCode ?? "TOOL_FAILED",
    },
  };
}

function exceededHint(call: EndedCall, failures: number): string {
  return `'${toolNameOf(call)}' has failed ${failures} times in a row: do not call it again ` +
    "in the same way.";
}

/**
 * Records a call whose answer was lost: as an error if the tool can be called again safely,
 * otherwise as unknown.
 */
async function endLost(
  call: EndedCall,
  { cause, message, originalError = message }: Lost,
): Promise<ToolCallOutcome> {
  const isTimeout = cause === "timeout";
  if (isHarmless(call)) {
    const errorCode = isTimeout ? "TOOL_TIMEOUT" : "TOOL_UNAVAILABLE";
    return await endAnswered(call, {
      kind: "answered",
      text: withHint(message, "It is safe to call it again."),
      isError: true,
      errorCode,
      originalError,
    });
  }
  const code = "TOOL_OUTCOME_UNKNOWN";
  const cleanMessage = call.redactor.head(message, MAX_ERROR_CHARACTERS);
  const ending = {
    kind: "failure",
    message: cleanMessage,
    code,
    isTimeout,
    isUnknown: true,
  } as const;
  const failures = await recordEnding(call, ending);
  return {
    kind: "unknown",
    message: cleanMessage,
    ...unknownError(call, failures),
    ...(failures === 0 ? {} : { consecutiveFailures: failures }),
    ...trailOf(call),
    ...externalPart(call, { code, words: originalError }),
  };
}

/**
 * Whether the call can be repeated safely, according to the tool's hints at the time of the call.
 */
function isHarmless({ record }: EndedCall): boolean {
  const definition = record?.cached?.schema;
  return definition !== undefined && isRepeatable(definition);
}

function unknownError(
  call: EndedCall,
  failures: number,
): Pick<UnknownCall, "errorCode" | "hint" | "details"> {
  const errorCode = "TOOL_OUTCOME_UNKNOWN";
  const { hint } = traitsOf(errorCode);
  if (!isExceeded(call, failures)) return { errorCode, hint };
  return {
    errorCode: "EXCEEDED_RETRIES",
    hint: `${exceededHint(call, failures)} ${hint}`,
    details: { reason: "consecutive_failures", error_code: errorCode },
  };
}

/** Records a call that continues after its caller's answer. */
async function endAsking(
  call: EndedCall,
  { inputRequests, requestState, meta }: AsksInput,
): Promise<ToolCallOutcome> {
  const { redactor } = call;
  const clean = async (value: JsonObject) => await redactor.jsonInTurns(value) as JsonObject;
  const cleanRequests = await clean(inputRequests);
  await recordEnding(call, { kind: "asking", inputRequests: cleanRequests });
  return {
    kind: "input_required",
    inputRequests: cleanRequests,
    // Signed by its tool, so it must stay unchanged; only the caller sends it back.
    ...definedOnly({ requestState }),
    ...(meta === undefined ? {} : { meta: await clean(meta) }),
    ...trailOf(call),
    ...externalPart(call),
  };
}

/** Records a call that certainly did not run, or whose caller disconnected. */
async function endInError(call: EndedCall, error: unknown): Promise<ToolCallOutcome> {
  if (call.signal.aborted) {
    await recordCancellation(call);
    throw call.signal.reason;
  }
  // The question is recorded as a review, and nothing has run.
  if (error instanceof ApprovalRequired && call.request.approval !== undefined) {
    throw new ApprovalRequired(error.question, call.request.arguments);
  }
  const known = toKnown(call, error);
  if (known.code === "DATABASE_UNAVAILABLE") throw known;
  const { code, hint, details, retryAfterSeconds } = known;
  const text = withHint(known.message, hint);
  if (code === "TOOL_RATE_LIMITED") {
    const message = call.redactor.head(text, MAX_ERROR_CHARACTERS);
    await recordEnding(call, { kind: "failure", message, code });
    throw withTrail(known, call);
  }
  const outcome = await endAnswered(call, {
    kind: "answered",
    text,
    isError: true,
    errorCode: code,
    originalError: originalWords(known),
    ...definedOnly({ hint, details }),
  });
  return retryAfterSeconds === undefined
    ? outcome
    : { ...outcome, retryAfterMs: Math.ceil(retryAfterSeconds * 1_000) };
}

/** An abort is not the tool's failure; the outcome of a write that was sent is unknown. */
async function recordCancellation(call: EndedCall): Promise<void> {
  const isUnknown = call.isSent && !isHarmless(call);
  const message = isUnknown
    ? "The call was aborted after it was sent; its outcome is unknown"
    : "The call was aborted";
  await recordEnding(call, { kind: "failure", message, code: "TOOL_CANCELLED", isUnknown });
}

function toKnown({ redactor, ports }: EndedCall, error: unknown): SwarmError {
  if (error instanceof SwarmError) return error;
  ports.log("error", "tool.unexpected_error", {
    error: redactor.head(String(error), MAX_ERROR_CHARACTERS),
  });
  return new SwarmError("INTERNAL", "The tool gateway failed", { cause: error });
}

/**
 * A failed recording never fails the call.
 *
 * @returns The tool's number of consecutive failures, if known.
 */
async function recordEnding(call: EndedCall, ending: CallEnding): Promise<number> {
  const { ports, executionId } = call;
  const durationMs = performance.now() - call.startedAtMs;
  try {
    return await ports.store.recordExecution(await ledgerEntry(call, ending, durationMs));
  } catch (error) {
    ports.log("error", "tool.recording_failed", {
      execution_id: executionId,
      error: String(error),
    });
    return ending.kind === "failure" ? 1 : 0;
  }
}

/** The error with the ids of its call, by which it can be graded. */
function withTrail(error: SwarmError, call: EndedCall): SwarmError {
  const { code, message, hint, details, retryAfterSeconds } = error;
  const { executionId, feedbackToken } = call;
  const { external } = externalPart(call, { code, words: originalWords(error) });
  return new SwarmError(code, message, {
    cause: error,
    ...definedOnly({ hint, retryAfterSeconds }),
    details: {
      ...(isJsonObject(details) ? details : {}),
      execution_id: executionId,
      feedback_token: feedbackToken,
      ...(external?.originalError === undefined
        ? {}
        : { external_error: true, original_error: external.originalError }),
    },
  });
}

function trailOf({ executionId, feedbackToken, record }: EndedCall) {
  const version = record?.cached?.version ?? null;
  return { executionId, feedbackToken, ...(version === null ? {} : { toolVersion: version }) };
}
