/** The parts of a {@linkcode SwarmClientError}. */
export interface SwarmProblem {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | null;
  readonly status?: number;
  readonly requestId?: string | null;
  readonly details?: unknown;
  readonly cause?: unknown;
}

/**
 * What the platform refused, what a job failed with, or that the platform cannot be reached. Only the
 * last has a cause: an answer is in the fields.
 */
export class SwarmClientError extends Error {
  override readonly name = "SwarmClientError";
  /** A stable code, as in the platform's documentation; `UNREACHABLE` without an answer. */
  readonly code: string;
  /** What to do next. */
  readonly hint: string | null;
  /** The HTTP status; 0 if there was no answer, or if a job failed. */
  readonly status: number;
  /** `x-request-id` of the answer, to find the request in the logs. */
  readonly requestId: string | null;
  readonly details: unknown;

  constructor({ code, message, hint, status, requestId, details, cause }: SwarmProblem) {
    super(message, cause === undefined ? {} : { cause });
    this.code = code;
    this.hint = hint ?? null;
    this.status = status ?? 0;
    this.requestId = requestId ?? null;
    this.details = details ?? null;
  }
}

/** Whether the same request may succeed later. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof SwarmClientError)) return false;
  const { code, status } = error;
  return code === "UNREACHABLE" || status === 408 || status === 429 || status >= 500;
}
