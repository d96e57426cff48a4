import { SwarmError } from "../errors/swarm_error.ts";

const NULL_BODY_STATUSES: ReadonlySet<number> = new Set([101, 204, 205, 304]);

/** The runtime's type, which differs between versions. */
type Chunk = NonNullable<Response["body"]> extends ReadableStream<infer C> ? C : never;

/**
 * Limits a response: reading its body fails with `OUTPUT_TOO_LARGE` after `maxBytes`.
 *
 * @param onExceeded Called when that happens, for readers that hide a stream's error.
 */
export function capBody(
  response: Response,
  maxBytes: number,
  onExceeded: (error: SwarmError) => void = () => {},
): Response {
  if (response.body === null || NULL_BODY_STATUSES.has(response.status)) return response;
  if (isDeclaredWithin(response.headers, maxBytes)) return response;
  let bytes = 0;
  const capped = response.body.pipeThrough(
    new TransformStream<Chunk, Chunk>({
      transform(chunk, controller) {
        bytes += chunk.byteLength;
        if (bytes <= maxBytes) return controller.enqueue(chunk);
        const error = tooLarge(maxBytes);
        onExceeded(error);
        controller.error(error);
      },
    }),
  );
  const { status, statusText, headers } = response;
  return new Response(capped, { status, statusText, headers });
}

/**
 * Whether the protocol already limits the body to its declared length: true unless it is chunked or
 * compressed.
 */
function isDeclaredWithin(headers: Headers, maxBytes: number): boolean {
  const length = headers.get("content-length");
  return length !== null && Number(length) <= maxBytes &&
    !headers.has("content-encoding") && !headers.has("transfer-encoding");
}

function tooLarge(maxBytes: number): SwarmError {
  return new SwarmError(
    "OUTPUT_TOO_LARGE",
    `Stopped reading the answer: it is larger than ${maxBytes} bytes`,
    { hint: "Ask for less, for example a page or a filtered list." },
  );
}
