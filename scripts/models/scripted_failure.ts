import type { AimockFixture, AimockRequest } from "../deps.ts";

/** A failure that a model server returns once. */
export type ScriptedFailure =
  | { readonly kind: "status"; readonly status: number; readonly message?: string }
  /** 429 with `Retry-After`. */
  | { readonly kind: "rate_limit"; readonly retryAfterSeconds: number }
  /**
   * The connection ends after this many chunks of a streamed answer. A client that is short of CPU
   * may request a whole answer instead, which is a 502 then.
   */
  | { readonly kind: "cut"; readonly afterChunks: number };

/**
 * Creates a fixture that fails the first request that `isFor` accepts.
 *
 * @param onPlayed Called with that request.
 */
export function createFailureFixture(
  failure: ScriptedFailure,
  isFor: (request: AimockRequest) => boolean,
  onPlayed: (request: AimockRequest) => void,
): AimockFixture {
  let isPlayed = false;
  const { response, ...streaming } = toFixture(failure);
  return {
    ...streaming,
    match: { predicate: (request) => !isPlayed && isFor(request) },
    response: (request) => {
      isPlayed = true;
      onPlayed(request);
      return typeof response === "function" ? response(request) : response;
    },
  };
}

function toFixture(
  failure: ScriptedFailure,
): Pick<AimockFixture, "response" | "truncateAfterChunks" | "latency"> {
  switch (failure.kind) {
    case "status": {
      const { status, message = "A scripted failure" } = failure;
      const type = status >= 500 ? "api_error" : "invalid_request_error";
      return { response: { error: { message, type }, status } };
    }
    case "rate_limit": {
      const error = { message: "A scripted rate limit", type: "rate_limit_error" };
      return { response: { error, status: 429, retryAfter: failure.retryAfterSeconds } };
    }
    case "cut":
      return {
        response: ({ stream }) =>
          stream === true
            ? { content: "This answer breaks off. ".repeat(50) }
            : { error: { message: "A scripted failure", type: "api_error" }, status: 502 },
        truncateAfterChunks: failure.afterChunks,
        // Without a pause, the connection would close before the first byte is sent.
        latency: 5,
      };
  }
}
