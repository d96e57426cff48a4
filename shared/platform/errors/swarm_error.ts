import { definedOnly } from "../values/defined_only.ts";
import type { JsonValue } from "../values/json.ts";
import { ERROR_CODES, type ErrorCode } from "./codes.ts";

/** What a {@linkcode SwarmError} carries in addition to its code and message. */
export interface SwarmErrorOptions {
  /** The next step for the reader, in one sentence; defaults to the hint of the code. */
  readonly hint?: string;
  /** Machine-readable details. Never contains a secret. */
  readonly details?: JsonValue;
  /** Seconds to wait, as requested by the other side (`Retry-After`). */
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

/** The wire format of an error, as in HTTP responses, `tasks.error` and step outputs. */
export interface ErrorBody {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint?: string;
  readonly details?: JsonValue;
}

/**
 * A failure with a stable code. The message says what was attempted and what is wrong; the hint
 * says what to do next.
 *
 * @example
 * ```ts
 * throw new SwarmError("AGENT_NOT_FOUND", "Cannot create the task: no agent has the slug 'x'", {
 *   hint: "List the agents with GET /rest/v1/agents?select=slug.",
 * });
 * ```
 */
export class SwarmError extends Error {
  readonly code: ErrorCode;
  readonly hint: string;
  readonly details: JsonValue | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, options: SwarmErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "SwarmError";
    this.code = code;
    this.hint = options.hint ?? ERROR_CODES[code].hint;
    this.details = options.details;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }

  /** The HTTP status that belongs to the code. */
  get status(): number {
    return ERROR_CODES[this.code].status;
  }

  /** True if the same request can succeed later. */
  get isRetryable(): boolean {
    return ERROR_CODES[this.code].retryable;
  }

  /** The error as it is stored and sent; never contains the cause. */
  toBody(): ErrorBody {
    return {
      code: this.code,
      message: this.message,
      hint: this.hint,
      ...definedOnly({ details: this.details }),
    };
  }
}
