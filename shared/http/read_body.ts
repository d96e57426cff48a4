import type { Bytes } from "../bytes.ts";
import { SwarmError } from "../errors/swarm_error.ts";

/**
 * Reads a request's body and gives up as soon as it is larger than `maxBytes`, whatever its
 * headers say.
 *
 * @throws BODY_INVALID
 */
export async function readBody(
  request: Request,
  maxBytes: number,
): Promise<Bytes> {
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const chunks: Uint8Array[] = [];
  let byteCount = 0;
  for await (const chunk of request.body ?? []) {
    byteCount += chunk.byteLength;
    if (byteCount > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  const body = new Uint8Array(byteCount);
  let offset = 0;
  for (const chunk of chunks) {
    body.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return body;
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
