import { sleep } from "../sleep.ts";
import { SwarmError } from "../errors/swarm_error.ts";
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
  type AdmittedCall,
  type CallResult,
  type Contact,
  endedUnsent,
  type Sending,
  type SentCall,
  type Staged,
} from "./call_stages.ts";

const MAX_RETRIES = 2;
const FIRST_BACKOFF_MS = 200;
/** A longer `Retry-After` is the caller's to wait for. */
const MAX_RETRY_WAIT_MS = 5_000;

/** What one try came to: an answer, or an error after which it certainly has not run. */
type Try =
  | { readonly kind: "answer"; readonly answer: ServerAnswer }
  | { readonly kind: "error"; readonly error: SwarmError };

/** A call that was aborted while it ran. */
interface Aborted {
  readonly kind: "aborted";
  readonly error: unknown;
}

/** Opens the server and sends it the call; what it answers gets its notices. */
export async function sendCall(call: AdmittedCall): Promise<Staged<SentCall>> {
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

async function noticed(call: AdmittedCall, { result, redactor }: Sending): Promise<CallResult> {
  if (result.kind === "error") return result;
  try {
    return { kind: "answer", answer: await withNotices(call, result.answer, redactor) };
  } catch (error) {
    return { kind: "error", error };
  }
}

/**
 * Sends a call, again where that is safe: when no connection came about, when the server asked for
 * a short wait, and when the answer of a repeatable tool was lost. At most twice more, all within
 * the one timeout.
 */
async function sendRepeatedly(call: AdmittedCall, opened: OpenedServer): Promise<Sending> {
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
    // Only what another machine answered, or did not, says how that machine fares.
    if (opened.isRemote) contact = isFailure(tried) ? "failed" : "answered";
    const waitMs = retries < MAX_RETRIES ? retryWaitMs(tried, definition, retries) : null;
    if (waitMs === null || performance.now() + waitMs >= giveUpAtMs) return ended(tried);
    ports.log("info", "tool.retried", { tool: definition.name, retry: retries + 1 });
    try {
      await sleep(waitMs, signal);
    } catch (error) {
      return ended({ kind: "error", error });
    }
  }
}

async function tryOnce(
  { request, caller, executionId, signal, definition, ports, record }: AdmittedCall,
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
      ...collect,
      grantedScopes: record.scopes,
    }, signal);
    return { kind: "answer", answer };
  } catch (error) {
    if (signal.aborted) return { kind: "aborted", error };
    if (error instanceof SwarmError) return { kind: "error", error };
    // Past this point the call may run, so an error that nobody foresaw counts as a lost answer.
    const reason = opened.redactor().head(String(error), MAX_ERROR_CHARACTERS);
    ports.log("error", "tool.unexpected_error", { tool: definition.name, error: reason });
    const message = `The call of '${definition.name}' broke off`;
    return { kind: "answer", answer: { kind: "lost", cause: "connection", message } };
  }
}

/** Full jitter, so that callers of one server that came back do not all come at once. */
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
