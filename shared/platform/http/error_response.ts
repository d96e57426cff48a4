import { SwarmError } from "../errors/swarm_error.ts";
import type { Logger } from "../log/logger.ts";

/** The logger and request id of a refusal. */
export interface ErrorResponseOptions {
  readonly log: Logger;
  readonly requestId: string;
}

/**
 * Responds with the error envelope `{"error": {code, message, hint?, details?}}` and the status of
 * the code. An error without a code becomes `INTERNAL`; its own message is not returned, because it
 * could contain anything.
 */
export function errorResponse(error: unknown, options: ErrorResponseOptions): Response {
  const known = knownError(error, options);
  return Response.json({ error: known.toBody() }, {
    status: known.status,
    headers: retryAfter(known),
  });
}

/** Converts an exception to the error that the caller sees, and logs it. */
export function knownError(error: unknown, options: ErrorResponseOptions): SwarmError {
  const known = error instanceof SwarmError ? error : new SwarmError(
    "INTERNAL",
    "Cannot answer the request: the function failed unexpectedly",
    {
      cause: error,
      hint: `Look for request ${options.requestId} in the function's log.`,
    },
  );
  options.log(known.status >= 500 ? "error" : "info", "request.refused", {
    request_id: options.requestId,
    code: known.code,
    status: known.status,
    cause: causeName(known.cause),
  });
  return known;
}

function retryAfter(error: SwarmError): Record<string, string> {
  if (error.retryAfterSeconds === undefined) return {};
  return { "retry-after": String(Math.ceil(error.retryAfterSeconds)) };
}

function causeName(cause: unknown): string | undefined {
  return cause instanceof Error ? cause.name : undefined;
}
