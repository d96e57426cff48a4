import type { ErrorBody } from "../../platform/errors/swarm_error.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import type { GuardedFetch } from "../../platform/net/guarded_fetch.ts";
import { parseRetryAfter } from "../../platform/net/retry_after.ts";
import { signMessage } from "./sign_message.ts";

/** A message and its destination. */
export interface OutgoingMessage {
  readonly id: string;
  readonly url: string;
  readonly body: string;
  readonly secrets: readonly string[];
}

/** The result of an attempt. */
export interface DeliveryAttempt {
  readonly durationMs: number;
  /** The receiver's HTTP status; null if there was no response. */
  readonly status: number | null;
  /** Null if the message was delivered. Contains neither secrets nor the receiver's response. */
  readonly error: ErrorBody | null;
  /** The wait time that the receiver requested. */
  readonly retryAfterSeconds: number | null;
}

/** The dependencies of sending. */
export interface SendPorts {
  /** A `fetch` that refuses private addresses. */
  readonly fetch: GuardedFetch;
  /** Milliseconds since the epoch, such as `Date.now`: receivers refuse old timestamps. */
  readonly nowMs: () => number;
  /** @default 15 s, the minimum that Standard Webhooks recommends */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 15_000;
const GONE = 410;

/**
 * Sends a message once, signed. Redirects are not followed, because a message is for the registered
 * URL only. Rejects only when `signal` aborts.
 */
export async function sendMessage(
  message: OutgoingMessage,
  ports: SendPorts,
  signal: AbortSignal,
): Promise<DeliveryAttempt> {
  const { nowMs } = ports;
  const startedAtMs = nowMs();
  const ended = (rest: Omit<DeliveryAttempt, "durationMs">) => ({
    durationMs: Math.max(0, Math.round(nowMs() - startedAtMs)),
    ...rest,
  });
  try {
    const response = await post(message, ports, signal);
    const retryAfterSeconds = parseRetryAfter(response.headers, nowMs()) ?? null;
    // The body is not needed, and a receiver could send without end.
    await response.body?.cancel().catch(() => {});
    const { status } = response;
    return ended({ status, error: toError(status), retryAfterSeconds });
  } catch (error) {
    signal.throwIfAborted();
    return ended({ status: null, error: notReached(error, ports), retryAfterSeconds: null });
  }
}

async function post(
  { id, url, body, secrets }: OutgoingMessage,
  { fetch, nowMs, timeoutMs = TIMEOUT_MS }: SendPorts,
  signal: AbortSignal,
): Promise<Response> {
  const timestampSeconds = Math.floor(nowMs() / 1_000);
  return await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "user-agent": "SupaSwarm-Webhooks",
      "webhook-id": id,
      "webhook-timestamp": String(timestampSeconds),
      "webhook-signature": await signMessage({ id, timestampSeconds, body }, secrets),
    },
    body,
    redirect: "manual",
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
  });
}

function toError(status: number): ErrorBody | null {
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400) {
    return notDelivered(
      `the receiver responded with ${status}, and redirects are not followed`,
      "Set webhooks.url to the target of the redirect.",
    );
  }
  if (status === GONE) {
    return notDelivered(
      "the receiver responded with 410 (Gone), which deactivates the webhook",
      "Activate the webhook again when the receiver is available.",
    );
  }
  return notDelivered(
    `the receiver responded with ${status}`,
    "Make the receiver respond with 2xx after it has stored the message.",
  );
}

function notReached(error: unknown, { timeoutMs = TIMEOUT_MS }: SendPorts): ErrorBody {
  if (error instanceof DOMException && error.name === "TimeoutError") {
    return notDelivered(
      `the receiver did not respond within ${timeoutMs / 1_000} seconds`,
      "Make the receiver store the message, respond, and process it afterwards.",
    );
  }
  if (error instanceof SwarmError) {
    return notDelivered(error.message.replace(/^Cannot .*?: /, ""), error.hint);
  }
  return notDelivered(
    "the connection to the receiver failed",
    "Check that the address is reachable from the internet and its certificate is valid.",
  );
}

function notDelivered(problem: string, hint: string): ErrorBody {
  return { code: "WEBHOOK_NOT_DELIVERED", message: `Cannot deliver the message: ${problem}`, hint };
}
