import { OAUTH_LIMITS } from "../../../../platform/json/json_limits.ts";
import { guardJson } from "../../../../platform/net/guard_json.ts";

/** Timeout of one request to an authorization server. */
const REQUEST_TIMEOUT_MS = 10_000;

/**
 * The `fetch` for everything about OAuth: guarded against private addresses, with a deadline, and
 * limited before the SDK parses it. The caller's own signal is ignored, because a rotated token
 * must be stored.
 */
export function createOAuthFetch(
  guardedFetch: typeof fetch,
): (url: string | URL, init?: RequestInit) => Promise<Response> {
  return async (url, init) => {
    const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
    return guardJson(await guardedFetch(url, { ...init, signal }), OAUTH_LIMITS);
  };
}
