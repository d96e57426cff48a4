/** Failures of the function host itself, with the HTTP status and hint of each. */
const FAILURES = {
  FUNCTION_NOT_FOUND: {
    status: 404,
    hint: "Check the name against the functions that the stack lists.",
  },
  FUNCTION_BOOT_ERROR: { status: 500, hint: "Fix the code. The log has the full error." },
  FUNCTION_CRASHED: {
    status: 500,
    hint: "Read the log. The next request starts the function again.",
  },
  FUNCTION_EXCHANGE_BROKEN: { status: 502, hint: "Send the complete request again." },
  FUNCTION_NO_WEBSOCKET: {
    status: 502,
    hint: "Read the log, or call the function over plain HTTP.",
  },
  FUNCTION_TIMEOUT: { status: 504, hint: "Respond earlier and continue in EdgeRuntime.waitUntil." },
  // The hosted platform responds with 546 when a worker reaches a limit.
  FUNCTION_WALL_CLOCK: {
    status: 546,
    hint: "Pass the remaining work to a new request before the limit.",
  },
  FUNCTION_CPU_LIMIT: {
    status: 546,
    hint: "Do less in one isolate: pass the remaining work to a new request before the soft limit.",
  },
  FUNCTION_BLOCKED: { status: 546, hint: "Look for an endless loop, or split the work." },
  FUNCTION_HOST_STOPPED: { status: 503, hint: "Start the stack again." },
} as const;

/** A stable error code of the function host. */
export type FunctionFailureCode = keyof typeof FAILURES;

/** The host could not get a response from a function. */
export class FunctionFailure extends Error {
  override readonly name = "FunctionFailure";
  readonly code: FunctionFailureCode;

  constructor(code: FunctionFailureCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  /** Returns the response for the client, in the same JSON shape as the functions' own errors. */
  toResponse(): Response {
    const { status, hint } = FAILURES[this.code];
    return Response.json(
      { error: { code: this.code, message: this.message, hint } },
      { status, headers: { "x-request-id": crypto.randomUUID() } },
    );
  }
}
