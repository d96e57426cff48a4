import type { ErrorCode } from "../errors/codes.ts";
import { SwarmError } from "../errors/swarm_error.ts";
import { type CallEnding, ledgerEntry } from "./ledger_entry.ts";
import type { RunningCall } from "./running_call.ts";
import { isRepeatable } from "./tool_definition.ts";
import type { ToolCallOutcome } from "./tool_port.ts";
import type { Answered, Lost } from "./tool_server.ts";

/** Records a call that was answered and gives the answer without secrets. */
export async function endAnswered(call: RunningCall, answer: Answered): Promise<ToolCallOutcome> {
  const { text, structured, isError, errorCode } = answer;
  await recordEnding(
    call,
    isError
      ? { kind: "failure", message: text || "The tool reported an error", ...codeOf(errorCode) }
      : { kind: "success", text, ...(structured === undefined ? {} : { structured }) },
  );
  const { redactor } = call;
  return {
    kind: "answered",
    text: redactor.text(text),
    ...(structured === undefined ? {} : { structured: redactor.json(structured) }),
    isError,
    ...(errorCode === undefined ? {} : { errorCode }),
    ...idsOf(call),
  };
}

/**
 * Records a call whose answer was lost: an error for a tool that can be called again without harm,
 * unknown for any other.
 */
export async function endLost(
  call: RunningCall,
  { cause, message }: Lost,
): Promise<ToolCallOutcome> {
  const definition = call.record?.cached?.schema;
  const isTimeout = cause === "timeout";
  if (definition !== undefined && isRepeatable(definition)) {
    const errorCode = isTimeout ? "TOOL_TIMEOUT" : "TOOL_UNAVAILABLE";
    return await endAnswered(call, {
      kind: "answered",
      text: `${message}. It can be called again without harm.`,
      isError: true,
      errorCode,
    });
  }
  await recordEnding(call, { kind: "failure", message, code: "TOOL_OUTCOME_UNKNOWN", isTimeout });
  return { kind: "unknown", message: call.redactor.text(message), ...idsOf(call) };
}

/**
 * Records a call that certainly did not run.
 *
 * @throws SwarmError `TOOL_RATE_LIMITED` or `DATABASE_UNAVAILABLE`; the reason of an aborted signal.
 */
export async function endInError(call: RunningCall, error: unknown): Promise<ToolCallOutcome> {
  if (call.signal.aborted) {
    await recordEnding(call, { kind: "failure", message: "The call was aborted" });
    throw call.signal.reason;
  }
  const known = error instanceof SwarmError
    ? error
    : new SwarmError("INTERNAL", "The tool gateway failed", { cause: error });
  if (known !== error) {
    const reason = call.redactor.text(String(error));
    call.ports.log("error", "tool.unexpected_error", { error: reason });
  }
  if (known.code === "DATABASE_UNAVAILABLE") throw known;
  const text = known.hint === undefined ? known.message : `${known.message}. ${known.hint}`;
  if (known.code === "TOOL_RATE_LIMITED") {
    await recordEnding(call, { kind: "failure", message: text, code: known.code });
    throw known;
  }
  return await endAnswered(call, {
    kind: "answered",
    text,
    isError: true,
    errorCode: known.code,
  });
}

/** Recording never fails a call. */
async function recordEnding(call: RunningCall, outcome: CallEnding): Promise<void> {
  const { ports, redactor, executionId, feedbackToken, request, record } = call;
  const durationMs = performance.now() - call.startedAtMs;
  const finished = { executionId, feedbackToken, request, record, durationMs, outcome };
  try {
    await ports.store.recordExecution(ledgerEntry(finished, redactor));
  } catch (error) {
    ports.log("error", "tool.recording_failed", { executionId, error: String(error) });
  }
}

function idsOf({ executionId, feedbackToken }: RunningCall) {
  return { executionId, feedbackToken };
}

function codeOf(code: ErrorCode | undefined): { code?: ErrorCode } {
  return code === undefined ? {} : { code };
}
