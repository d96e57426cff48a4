import { capBody } from "../../net/cap_body.ts";

/** Most that one request to an authorization server takes. */
const REQUEST_TIMEOUT_MS = 10_000;
/** Metadata and tokens are small. */
const MAX_ANSWER_BYTES = 256 * 1024;

/**
 * The `fetch` for everything about OAuth: guarded against private addresses, with a deadline and a
 * cap. The caller's own signal has no say: a token that was spent must be stored.
 */
export function createOAuthFetch(
  guardedFetch: typeof fetch,
): (url: string | URL, init?: RequestInit) => Promise<Response> {
  return async (url, init) => {
    const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
    return capBody(await guardedFetch(url, { ...init, signal }), MAX_ANSWER_BYTES);
  };
}
