/** Where the platform's gateway serves edge functions; it takes this off before a function sees it. */
const FUNCTIONS_PREFIX = "/functions/v1";

/**
 * The origin that the client called: a custom domain, or a tunnel, is not what the project itself
 * is configured with.
 */
export function publicOrigin(request: Request): string {
  const url = new URL(request.url);
  const scheme = request.headers.get("x-forwarded-proto") ?? url.protocol.slice(0, -1);
  const host = request.headers.get("x-forwarded-host") ?? url.host;
  const port = request.headers.get("x-forwarded-port") ?? "";
  const address = `${scheme}://${host.includes(":") || port === "" ? host : `${host}:${port}`}`;
  // Forwarded headers are the client's to forge; what is no address falls back to the request's own.
  return URL.canParse(address) ? new URL(address).origin : url.origin;
}

/** The address of the protected resource (RFC 9728) that a request is for. */
export function resourceUrl(request: Request): string {
  const { pathname } = new URL(request.url);
  const path = pathname.replace(/\/oauth-protected-resource$/, "").replace(/\/+$/, "");
  const prefix = path.startsWith(FUNCTIONS_PREFIX) ? "" : FUNCTIONS_PREFIX;
  return `${publicOrigin(request)}${prefix}${path}`;
}
