import { sleep } from "../sleep.ts";
import { SwarmError } from "../errors/swarm_error.ts";
import { isNoConnection } from "./kinds/http/no_connection.ts";
import type { OpenedServer } from "./kinds/open_tool_server.ts";
import { redactedMessages } from "./redacted_messages.ts";
import type { RunningCall } from "./running_call.ts";
import { isRepeatable, type ToolDefinition } from "../tool_contracts/tool_definition.ts";
import { inputOf, type ServerAnswer } from "../tool_contracts/tool_server.ts";

const MAX_RETRIES = 2;
const FIRST_BACKOFF_MS = 200;
/** A longer `Retry-After` is the caller's to wait for. */
const MAX_RETRY_WAIT_MS = 5_000;

/** What one try came to: an answer, or an error after which it certainly has not run. */
type Try =
  | { readonly kind: "answer"; readonly answer: ServerAnswer }
  | { readonly kind: "error"; readonly error: SwarmError };

/**
 * Sends a call, again where that is safe: when no connection came about, when the server asked for
 * a short wait, and when the answer of a repeatable tool was lost. At most twice more, all within
 * the one timeout.
 *
 * @throws SwarmError when the call has certainly not run; the reason of an aborted signal.
 */
export async function sendCall(
  call: RunningCall,
  opened: OpenedServer,
  definition: ToolDefinition,
): Promise<ServerAnswer> {
  const giveUpAtMs = performance.now() + opened.timeoutMs;
  for (let retries = 0;; retries++) {
    const leftMs = Math.max(1, Math.ceil(giveUpAtMs - performance.now()));
    const tried = await tryOnce(call, opened, definition, leftMs);
    noteContact(call, opened, tried);
    const waitMs = retries < MAX_RETRIES ? retryWaitMs(tried, definition, retries) : null;
    if (waitMs === null || performance.now() + waitMs >= giveUpAtMs) {
      if (tried.kind === "error") throw tried.error;
      return tried.answer;
    }
    call.ports.log("info", "tool.retried", { tool: definition.name, retry: retries + 1 });
    await sleep(waitMs, call.signal);
  }
}

async function tryOnce(
  call: RunningCall,
  opened: OpenedServer,
  definition: ToolDefinition,
  timeoutMs: number,
): Promise<Try> {
  const { request, caller, executionId, signal } = call;
  const { idempotencyKey, traceparent, tracestate = null } = request;
  signal.throwIfAborted();
  call.isSent = true;
  try {
    const answer = await opened.server.callTool({
      definition,
      arguments: request.arguments,
      caller,
      executionId,
      idempotencyKey,
      traceparent,
      tracestate,
      timeoutMs,
      ...redactedMessages(request, opened),
      input: inputOf(request),
      onModelUse: (use) => call.modelUses.push(use),
      grantedScopes: call.record?.scopes ?? [],
      onUnrecordedValue: (value) => call.unrecordedValues.push(value),
    }, signal);
    return { kind: "answer", answer };
  } catch (error) {
    if (signal.aborted) throw error;
    if (error instanceof SwarmError) {
      call.isSent = false;
      return { kind: "error", error };
    }
    // Past this point the call may run, so an error that nobody foresaw counts as a lost answer.
    const reason = opened.redactor().text(String(error));
    call.ports.log("error", "tool.unexpected_error", { tool: definition.name, error: reason });
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

/** Only what another machine answered, or did not, says how that machine fares. */
function noteContact(call: RunningCall, { isRemote }: OpenedServer, tried: Try): void {
  if (!isRemote) return;
  call.contact = isFailure(tried) ? "failed" : "answered";
}

function isFailure(tried: Try): boolean {
  if (tried.kind === "error") {
    return tried.error.code === "TOOL_UNAVAILABLE" || tried.error.code === "TOOL_TIMEOUT";
  }
  const { answer } = tried;
  return answer.kind === "lost" ||
    answer.kind === "answered" && answer.errorCode === "TOOL_UNAVAILABLE";
}
