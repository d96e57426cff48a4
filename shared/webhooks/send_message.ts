import type { ErrorBody } from "../errors/swarm_error.ts";
import { SwarmError } from "../errors/swarm_error.ts";
import type { GuardedFetch } from "../net/guarded_fetch.ts";
import { parseRetryAfter } from "../net/retry_after.ts";
import { signMessage } from "./sign_message.ts";

/** A message, and where it goes. */
export interface OutgoingMessage {
  readonly id: string;
  readonly url: string;
  readonly body: string;
  readonly secrets: readonly string[];
}

/** How an attempt went. */
export interface DeliveryAttempt {
  readonly durationMs: number;
  /** The receiver's HTTP status; null when it gave none. */
  readonly status: number | null;
  /** Null when the message was delivered. Names neither secrets nor what the receiver answered. */
  readonly error: ErrorBody | null;
  /** How long the receiver asked to wait. */
  readonly retryAfterSeconds: number | null;
}

/** What sending needs. */
export interface SendPorts {
  /** Reaches no private address, by its guard. */
  readonly fetch: GuardedFetch;
  /** Milliseconds since the epoch, such as `Date.now`: receivers refuse old timestamps. */
  readonly nowMs: () => number;
  /** @default 15 s, as Standard Webhooks advises at least */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 15_000;
const GONE = 410;

/**
 * Sends a message once, signed. Redirects are not followed, since a message is for the address that
 * its owner wrote down. Rejects only when `signal` aborts.
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
    // Nobody reads it, and a receiver could send without end.
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
      `the receiver answered ${status}, and redirects are not followed`,
      "Write the address that the redirect leads to into webhooks.url.",
    );
  }
  if (status === GONE) {
    return notDelivered(
      "the receiver answered 410 (Gone), which deactivates the webhook",
      "Activate the webhook when the receiver is there again.",
    );
  }
  return notDelivered(
    `the receiver answered ${status}`,
    "Make the receiver answer 2xx once it has stored the message.",
  );
}

function notReached(error: unknown, { timeoutMs = TIMEOUT_MS }: SendPorts): ErrorBody {
  if (error instanceof DOMException && error.name === "TimeoutError") {
    return notDelivered(
      `the receiver did not answer within ${timeoutMs / 1_000} seconds`,
      "Make the receiver store the message and answer, and do the work afterwards.",
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
