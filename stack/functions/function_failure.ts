/** Failures of the function host itself, with the HTTP status that each answers. */
const FAILURES = {
  FUNCTION_NOT_FOUND: { status: 404, hint: "See the list of functions that the stack prints." },
  FUNCTION_BOOT_ERROR: { status: 500, hint: "Fix the code; the log has the whole error." },
  FUNCTION_CRASHED: { status: 500, hint: "See the log. The next request starts it afresh." },
  FUNCTION_EXCHANGE_BROKEN: { status: 502, hint: "Send the request again, whole." },
  FUNCTION_NO_WEBSOCKET: { status: 502, hint: "See the log, or ask it over plain HTTP." },
  FUNCTION_TIMEOUT: { status: 504, hint: "Answer early and go on in EdgeRuntime.waitUntil." },
  // 546 is what the hosted platform answers when a worker meets a limit.
  FUNCTION_WALL_CLOCK: { status: 546, hint: "Hand over to a new request before the limit." },
  FUNCTION_CPU_LIMIT: {
    status: 546,
    hint: "Do less in one isolate, and hand over to a new request before the soft limit.",
  },
  FUNCTION_BLOCKED: { status: 546, hint: "Look for an endless loop, or split up the work." },
  FUNCTION_HOST_STOPPED: { status: 503, hint: "Start the stack again." },
} as const;

/** A stable code of the function host. */
export type FunctionFailureCode = keyof typeof FAILURES;

/** The host could not get an answer from a function. */
export class FunctionFailure extends Error {
  override readonly name = "FunctionFailure";
  readonly code: FunctionFailureCode;

  constructor(code: FunctionFailureCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  /** The failure as the client gets it: the same JSON shape as the functions' own errors. */
  toResponse(): Response {
    const { status, hint } = FAILURES[this.code];
    return Response.json(
      { error: { code: this.code, message: this.message, hint } },
      { status, headers: { "x-request-id": crypto.randomUUID() } },
    );
  }
}
