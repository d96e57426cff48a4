import { OAUTH_LIMITS } from "../../../json/json_limits.ts";
import { guardJson } from "../../../net/guard_json.ts";

/** Most that one request to an authorization server takes. */
const REQUEST_TIMEOUT_MS = 10_000;

/**
 * The `fetch` for everything about OAuth: guarded against private addresses, with a deadline, and
 * measured before the SDK parses it. The caller's own signal has no say: a token that was spent must be stored.
 */
export function createOAuthFetch(
  guardedFetch: typeof fetch,
): (url: string | URL, init?: RequestInit) => Promise<Response> {
  return async (url, init) => {
    const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
    return guardJson(await guardedFetch(url, { ...init, signal }), OAUTH_LIMITS);
  };
}
