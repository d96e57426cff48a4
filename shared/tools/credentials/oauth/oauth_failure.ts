import { SwarmError } from "../../../errors/swarm_error.ts";

/** What an authorization server, or the way to it, failed with. */
export type OAuthFailure =
  /** It said no, by one of OAuth's codes: the same request will fail again. */
  | { readonly kind: "refused"; readonly code: string }
  /** It cannot answer now. */
  | { readonly kind: "unavailable" };

/** Codes that say nothing of the request. */
const PASSING: ReadonlySet<string> = new Set([
  "server_error",
  "temporarily_unavailable",
  "too_many_requests",
  "slow_down",
]);
/** Codes after which the client has to be registered anew. */
const CLIENT_IS_UNKNOWN: ReadonlySet<string> = new Set(["invalid_client", "unauthorized_client"]);

/**
 * Reads a failure without its words: a server's answer may repeat the code or token that it was sent.
 *
 * @throws SwarmError the guard's own, and what is no failure of the other side.
 */
export async function readOAuthFailure(error: unknown): Promise<OAuthFailure> {
  const { OAuthError } = await import("../../../vendor/mcp_client.js");
  if (error instanceof SwarmError) throw error;
  if (!(error instanceof OAuthError) || PASSING.has(error.code)) return { kind: "unavailable" };
  return { kind: "refused", code: /^[a-z_]{1,60}$/.test(error.code) ? error.code : "unknown" };
}

/** Whether the authorization server does not know (or want) this project as its client any more. */
export function isClientUnknown(failure: OAuthFailure): boolean {
  return failure.kind === "refused" && CLIENT_IS_UNKNOWN.has(failure.code);
}

/** The error for an authorization server that gives no usable answer. */
export function authorizationServerUnavailable(slug: string): SwarmError {
  return new SwarmError(
    "TOOL_UNAVAILABLE",
    `The authorization server of '${slug}' cannot be used now`,
    { hint: "Try again later." },
  );
}
