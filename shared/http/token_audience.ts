import type { JsonValue } from "../json.ts";

/** The audience of every token that Supabase Auth issues by itself. */
const ANY_ENDPOINT = "authenticated";
/** Where the platform serves edge functions; its gateway may take this off the path. */
const FUNCTIONS_PREFIX = "/functions/v1";

/** A token as far as its audience goes, and where it is used. */
export interface TokenUse {
  /** `aud`; null where the token names none. */
  readonly audience: JsonValue;
  readonly requestUrl: string;
  readonly projectUrl: string;
}

/**
 * Whether a token was issued for this endpoint (RFC 8707): for the project as a whole, as Auth does,
 * or for an address of this project that the request's own is at or below. A token for another
 * resource may be in that resource's hands.
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
  const top = pathname.replace(/\/+$/, "");
  return origin === new URL(projectUrl).origin && (path === top || path.startsWith(`${top}/`));
}
