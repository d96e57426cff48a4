import { withoutTrailing } from "../../platform/values/without_trailing.ts";

/**
 * Path prefix of edge functions, which the platform's gateway removes before a function sees it.
 */
const FUNCTIONS_PREFIX = "/functions/v1";

/**
 * The origin that the client called: a custom domain or a tunnel differs from the configured one.
 */
export function publicOrigin(request: Request): string {
  const url = new URL(request.url);
  const scheme = request.headers.get("x-forwarded-proto") ?? url.protocol.slice(0, -1);
  const host = request.headers.get("x-forwarded-host") ?? url.host;
  const port = request.headers.get("x-forwarded-port") ?? "";
  const address = `${scheme}://${host.includes(":") || port === "" ? host : `${host}:${port}`}`;
  // A client can forge forwarded headers; an invalid address falls back to the request's own.
  return URL.canParse(address) ? new URL(address).origin : url.origin;
}

/** The URL of the requested protected resource (RFC 9728). */
export function resourceUrl(request: Request): string {
  const { pathname } = new URL(request.url);
  const path = withoutTrailing(pathname.replace(/\/oauth-protected-resource$/, ""), "/");
  const prefix = path.startsWith(FUNCTIONS_PREFIX) ? "" : FUNCTIONS_PREFIX;
  return `${publicOrigin(request)}${prefix}${path}`;
}
