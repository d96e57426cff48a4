import { gatewayError } from "./answers.ts";

/** Maximum size of a request body by service, as on a hosted project. */
export const MAX_BODY_BYTES = {
  auth: 1024 * 1024,
  rest: 20 * 1024 * 1024,
  storage: 50 * 1024 * 1024 + 64 * 1024,
  functions: 20 * 1024 * 1024,
} as const;

/** Returns an error response if the declared length is over the limit, otherwise `null`. */
export function refuseLargeBody(request: Request, maxBytes: number): Response | null {
  const length = Number(request.headers.get("content-length") ?? 0);
  return length > maxBytes ? tooLarge(maxBytes) : null;
}

/** A request whose body fails when it is larger than the limit. */
export interface LimitedRequest {
  readonly request: Request;
  /** Whether the body was over the limit, even if its reader ignored the error. */
  isExceeded(): boolean;
}

/** Limits a body that does not declare its length. */
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

/** Returns the response to a body over the limit. */
export function tooLarge(maxBytes: number): Response {
  return gatewayError(
    413,
    "BODY_TOO_LARGE",
    `Cannot accept the request: its body is larger than ${maxBytes} bytes`,
    "Send a smaller body, or split it into several requests.",
  );
}
