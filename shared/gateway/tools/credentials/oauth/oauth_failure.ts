import { SwarmError } from "../../../../platform/errors/swarm_error.ts";

/** A failure of an authorization server or of the connection to it. */
export type OAuthFailure =
  /** The server refused with an OAuth error code: the same request would fail again. */
  | { readonly kind: "refused"; readonly code: string }
  /** The server is not available now. */
  | { readonly kind: "unavailable" };

/** Codes that are unrelated to the request. */
const PASSING: ReadonlySet<string> = new Set([
  "server_error",
  "temporarily_unavailable",
  "too_many_requests",
  "slow_down",
]);
/** Codes after which the client must register again. */
const CLIENT_IS_UNKNOWN: ReadonlySet<string> = new Set(["invalid_client", "unauthorized_client"]);

/**
 * Classifies a failure without its message, because a server's response may repeat the code or
 * token it received.
 *
 * @throws SwarmError from the guard, and failures that are not caused by the other side.
 */
export async function readOAuthFailure(error: unknown): Promise<OAuthFailure> {
  const { OAuthError } = await import("../../../../vendor/mcp_client.js");
  if (error instanceof SwarmError) throw error;
  if (!(error instanceof OAuthError) || PASSING.has(error.code)) return { kind: "unavailable" };
  return { kind: "refused", code: /^[a-z_]{1,60}$/.test(error.code) ? error.code : "unknown" };
}

/** Whether the authorization server no longer accepts this project as its client. */
export function isClientUnknown(failure: OAuthFailure): boolean {
  return failure.kind === "refused" && CLIENT_IS_UNKNOWN.has(failure.code);
}

/** Creates the error for an authorization server without a usable response. */
export function authorizationServerUnavailable(slug: string): SwarmError {
  return new SwarmError(
    "TOOL_UNAVAILABLE",
    `The authorization server of '${slug}' is not available now`,
    { hint: "Try again later." },
  );
}
