import { OAUTH_LIMITS } from "../../../../platform/json/json_limits.ts";
import { parseJsonOrUndefined } from "../../../../platform/json/parse_json.ts";
import { isJsonObject } from "../../../../platform/values/json.ts";
import { guardJson } from "../../../../platform/net/guard_json.ts";

/** Timeout of one request to an authorization server. */
const REQUEST_TIMEOUT_MS = 10_000;

/**
 * The `fetch` for everything about OAuth: guarded against private addresses, with a deadline, and
 * limited before the SDK parses it. The caller's own signal is ignored, because a rotated token
 * must be stored.
 *
 * @param deadline Ends all requests together, where nothing has to be stored.
 */
export function createOAuthFetch(
  guardedFetch: typeof fetch,
  deadline?: AbortSignal,
): (url: string | URL, init?: RequestInit) => Promise<Response> {
  return async (url, init) => {
    const timeout = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
    const signal = deadline === undefined ? timeout : AbortSignal.any([timeout, deadline]);
    const response = guardJson(await guardedFetch(url, { ...init, signal }), OAUTH_LIMITS);
    const type = response.headers.get("content-type") ?? "";
    return response.body !== null && type.includes("json")
      ? await withoutNulls(response)
      : response;
  };
}

/** Serializers of several languages write an absent member as `null`, which the SDK rejects. */
async function withoutNulls(response: Response): Promise<Response> {
  const text = (await response.text()).replace(/^\uFEFF/, "");
  const { status, headers } = response;
  const document = parseJsonOrUndefined(text, OAUTH_LIMITS);
  if (!isJsonObject(document)) return new Response(text, { status, headers });
  const given = Object.entries(document).filter(([, value]) => value !== null);
  return new Response(JSON.stringify(Object.fromEntries(given)), { status, headers });
}
