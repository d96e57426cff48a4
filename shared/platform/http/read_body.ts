import type { Bytes } from "../values/bytes.ts";
import { SwarmError } from "../errors/swarm_error.ts";
import { withDeadline } from "../values/with_deadline.ts";
import type { CountedBody } from "./body_budget.ts";

/** A slow connection would otherwise hold the received part of its body in memory indefinitely. */
const TIMEOUT_MS = 30_000;

interface ReadBodyOptions {
  /** Counts the bytes as they arrive. @default none */
  readonly counted?: CountedBody;
  /** @default 30,000 */
  readonly timeoutMs?: number;
}

/**
 * Reads a request's body and stops as soon as it is larger than `maxBytes`, regardless of its
 * headers, or if it does not end in time.
 *
 * @throws BODY_INVALID, and errors of `counted`.
 */
export async function readBody(
  request: Request,
  maxBytes: number,
  { counted, timeoutMs = TIMEOUT_MS }: ReadBodyOptions = {},
): Promise<Bytes> {
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const reader = request.body?.getReader();
  if (reader === undefined) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let byteCount = 0;
  const readAll = async () => {
    while (true) {
      const { done, value } = await reader.read();
      if (done) return;
      byteCount += value.byteLength;
      if (byteCount > maxBytes) throw tooLarge(maxBytes);
      counted?.add(value.byteLength);
      chunks.push(value);
    }
  };
  try {
    const timed = await withDeadline(timeoutMs, request.signal, readAll);
    if (timed.kind === "timeout") throw tooSlow(timeoutMs);
  } catch (error) {
    // The rest of a body that is too large is not awaited.
    reader.cancel().catch(() => {});
    throw error;
  }
  return joined(chunks, byteCount);
}

function joined(chunks: readonly Uint8Array[], byteCount: number): Bytes {
  const body = new Uint8Array(byteCount);
  let offset = 0;
  for (const chunk of chunks) {
    body.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return body;
}

function tooSlow(timeoutMs: number): SwarmError {
  return new SwarmError(
    "BODY_INVALID",
    `Cannot read the body: it has not arrived within ${timeoutMs / 1_000} seconds`,
    { hint: "Send the whole body at once.", details: { limit: "seconds" } },
  );
}

function tooLarge(maxBytes: number): SwarmError {
  return new SwarmError(
    "BODY_INVALID",
    `Cannot read the body: it is larger than ${maxBytes} bytes`,
    {
      hint: "Put large inputs in Storage and pass their path.",
      details: { limit: "bytes", allowed: maxBytes },
    },
  );
}
