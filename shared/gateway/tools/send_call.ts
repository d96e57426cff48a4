import { sleep } from "../../platform/values/sleep.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { MAX_ERROR_CHARACTERS } from "./external_call.ts";
import { isNoConnection } from "./kinds/http/no_connection.ts";
import { type OpenedServer, openToolServer } from "./kinds/open_tool_server.ts";
import { redactedMessages } from "./redacted_messages.ts";
import { isRepeatable, type ToolDefinition } from "../tool_contracts/tool_definition.ts";
import {
  inputOf,
  type ModelUse,
  type ServerAnswer,
  type ServerCall,
} from "../tool_contracts/tool_server.ts";
import { withNotices } from "./answer_notices.ts";
import { assertReachable } from "./assert_reachable.ts";
import {
  type ApprovedCall,
  type CallResult,
  type Contact,
  endedUnsent,
  type Sending,
  type SentCall,
  type Staged,
} from "./call_stages.ts";

const MAX_RETRIES = 2;
const FIRST_BACKOFF_MS = 200;
/** A longer `Retry-After` is left to the caller. */
const MAX_RETRY_WAIT_MS = 5_000;

/** The outcome of one try: an answer, or an error after which it certainly has not run. */
type Try =
  | { readonly kind: "answer"; readonly answer: ServerAnswer }
  | { readonly kind: "error"; readonly error: SwarmError };

/** A call that was aborted while it ran. */
interface Aborted {
  readonly kind: "aborted";
  readonly error: unknown;
}

/** Opens the server, sends the call, and adds notices to the answer. */
export async function sendCall(call: ApprovedCall): Promise<Staged<SentCall>> {
  const { caller, record, ports } = call;
  let opened: OpenedServer;
  try {
    await assertReachable(record, ports);
    opened = await openToolServer(record, {
      userId: caller.userId,
      caller,
      timeoutMs: record.timeout_ms,
      secrets: record.secrets,
    }, ports);
  } catch (error) {
    return endedUnsent(call, error);
  }
  const sending = await sendRepeatedly(call, opened);
  return { kind: "next", call: { ...call, ...sending, result: await noticed(call, sending) } };
}

async function noticed(call: ApprovedCall, { result, redactor }: Sending): Promise<CallResult> {
  if (result.kind === "error") return result;
  try {
    return { kind: "answer", answer: await withNotices(call, result.answer, redactor) };
  } catch (error) {
    return { kind: "error", error };
  }
}

/**
 * Sends a call with retries where they are safe: if there was no connection, if the server
 * requested a short wait, or if the answer of a repeatable tool was lost. At most two retries,
 * within the one timeout.
 */
async function sendRepeatedly(call: ApprovedCall, opened: OpenedServer): Promise<Sending> {
  const { definition, ports, signal } = call;
  const giveUpAtMs = performance.now() + opened.timeoutMs;
  const modelUses: ModelUse[] = [];
  const unrecordedValues: string[] = [];
  const collect = {
    onModelUse: (use: ModelUse) => void modelUses.push(use),
    onUnrecordedValue: (value: string) => void unrecordedValues.push(value),
  };
  let contact: Contact = "none";
  let isSent = false;
  const ended = (result: CallResult): Sending => {
    const redactor = opened.redactor();
    return { result, isSent, contact, modelUses, unrecordedValues, redactor };
  };
  for (let retries = 0;; retries++) {
    if (signal.aborted) return ended({ kind: "error", error: signal.reason });
    const leftMs = Math.max(1, Math.ceil(giveUpAtMs - performance.now()));
    const tried = await tryOnce(call, opened, leftMs, collect);
    isSent = tried.kind !== "error";
    if (tried.kind === "aborted") return ended({ kind: "error", error: tried.error });
    // Only the answer or silence of another machine affects its health.
    if (opened.isRemote) contact = isFailure(tried) ? "failed" : "answered";
    const waitMs = retries < MAX_RETRIES ? retryWaitMs(tried, definition, retries) : null;
    if (waitMs === null || performance.now() + waitMs >= giveUpAtMs) return ended(tried);
    ports.log("debug", "tool.retried", { tool: definition.name, retry: retries + 1 });
    try {
      await sleep(waitMs, signal);
    } catch (error) {
      return ended({ kind: "error", error });
    }
  }
}

async function tryOnce(
  { request, caller, executionId, signal, definition, ports, record, approval }: ApprovedCall,
  opened: OpenedServer,
  timeoutMs: number,
  collect: Pick<ServerCall, "onModelUse" | "onUnrecordedValue">,
): Promise<Try | Aborted> {
  const { stepSeq, idempotencyKey, traceparent, tracestate = null } = request;
  try {
    const answer = await opened.server.callTool({
      definition,
      arguments: request.arguments,
      caller,
      executionId,
      stepSeq,
      idempotencyKey,
      traceparent,
      tracestate,
      timeoutMs,
      ...redactedMessages(request, opened),
      input: inputOf(request),
      approval,
      ...collect,
      grantedScopes: record.scopes,
    }, signal);
    return { kind: "answer", answer };
  } catch (error) {
    if (signal.aborted) return { kind: "aborted", error };
    if (error instanceof SwarmError) return { kind: "error", error };
    // From here on the call may run, so an unexpected error counts as a lost answer.
    const reason = opened.redactor().head(String(error), MAX_ERROR_CHARACTERS);
    ports.log("error", "tool.unexpected_error", { tool: definition.name, error: reason });
    const message = `The call of '${definition.name}' failed unexpectedly`;
    return { kind: "answer", answer: { kind: "lost", cause: "connection", message } };
  }
}

/** Full jitter, so that callers of a recovered server do not all retry together. */
function retryWaitMs(tried: Try, definition: ToolDefinition, retries: number): number | null {
  const backoffMs = FIRST_BACKOFF_MS * 2 ** retries * (0.5 + Math.random() / 2);
  if (tried.kind === "answer") {
    const { answer } = tried;
    const isSafe = answer.kind === "lost" && answer.cause === "connection" &&
      isRepeatable(definition);
    return isSafe ? backoffMs : null;
  }
  const { code, retryAfterSeconds } = tried.error;
  if (code !== "TOOL_UNAVAILABLE" && code !== "TOOL_RATE_LIMITED") return null;
  if (retryAfterSeconds !== undefined) {
    const waitMs = Math.max(retryAfterSeconds * 1_000, backoffMs);
    return waitMs <= MAX_RETRY_WAIT_MS ? waitMs : null;
  }
  return isNoConnection(tried.error) ? backoffMs : null;
}

function isFailure(tried: Try): boolean {
  if (tried.kind === "error") {
    return tried.error.code === "TOOL_UNAVAILABLE" || tried.error.code === "TOOL_TIMEOUT";
  }
  const { answer } = tried;
  return answer.kind === "lost" ||
    answer.kind === "answered" && answer.errorCode === "TOOL_UNAVAILABLE";
}
