import { gatewayError } from "./answers.ts";

/** Most bytes a request may send, by the route's prefix; a hosted project's sizes. */
export const MAX_BODY_BYTES = {
  auth: 1024 * 1024,
  rest: 20 * 1024 * 1024,
  storage: 50 * 1024 * 1024 + 64 * 1024,
  functions: 20 * 1024 * 1024,
} as const;

/** The refusal of a body whose declared length is over the limit, otherwise `null`. */
export function refuseLargeBody(request: Request, maxBytes: number): Response | null {
  const length = Number(request.headers.get("content-length") ?? 0);
  return length > maxBytes ? tooLarge(maxBytes) : null;
}

/** A request whose body ends with an error when it grows too large. */
export interface LimitedRequest {
  readonly request: Request;
  /** Whether the body went over the limit, whatever its reader made of the error. */
  isExceeded(): boolean;
}

/** Counts a body that does not declare its length. */
export function limitBody(request: Request, maxBytes: number): LimitedRequest {
  if (request.body === null || request.headers.has("content-length")) {
    return { request, isExceeded: () => false };
  }
  let receivedBytes = 0;
  const counted = request.body.pipeThrough(
    new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform: (chunk, controller) => {
        receivedBytes += chunk.byteLength;
        if (receivedBytes <= maxBytes) controller.enqueue(chunk);
        else controller.error(new RangeError(`The body is larger than ${maxBytes} bytes`));
      },
    }),
  );
  return {
    request: new Request(request, { body: counted }),
    isExceeded: () => receivedBytes > maxBytes,
  };
}

/** The answer to a body over the limit. */
export function tooLarge(maxBytes: number): Response {
  return gatewayError(
    413,
    "BODY_TOO_LARGE",
    `Cannot take the request: its body is larger than ${maxBytes} bytes`,
    "Send less, or in parts.",
  );
}
