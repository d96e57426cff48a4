import type { JsonValue } from "../values/json.ts";
import { withoutTrailing } from "../values/without_trailing.ts";

/** The default audience of tokens from Supabase Auth. */
const ANY_ENDPOINT = "authenticated";
/** Path prefix of edge functions, which the platform's gateway may remove. */
const FUNCTIONS_PREFIX = "/functions/v1";

/** A token's audience and where the token is used. */
export interface TokenUse {
  /** `aud`; null if the token has none. */
  readonly audience: JsonValue;
  readonly requestUrl: string;
  readonly projectUrl: string;
}

/**
 * Whether a token was issued for this endpoint (RFC 8707): for the project as a whole, as Auth
 * does, or for a URL of this project at or above the request's URL. A token for another resource
 * may have been leaked by that resource.
 */
export function isForThisEndpoint({ audience, requestUrl, projectUrl }: TokenUse): boolean {
  if (audience === null) return true;
  const { pathname } = new URL(requestUrl);
  const path = pathname.startsWith(`${FUNCTIONS_PREFIX}/`)
    ? pathname
    : `${FUNCTIONS_PREFIX}${pathname}`;
  const named = Array.isArray(audience) ? audience : [audience];
  return named.some((one) =>
    one === ANY_ENDPOINT || typeof one === "string" && isAtOrBelow(path, one, projectUrl)
  );
}

function isAtOrBelow(path: string, resource: string, projectUrl: string): boolean {
  if (!URL.canParse(resource)) return false;
  const { origin, pathname } = new URL(resource);
  const top = withoutTrailing(pathname, "/");
  return origin === new URL(projectUrl).origin && (path === top || path.startsWith(`${top}/`));
}
