/**
 * Headers of every response. Any origin may call: callers are authenticated by token or key, never
 * by cookie, so a foreign page gains nothing.
 */
export const CORS_HEADERS: ReadonlyMap<string, string> = new Map([
  ["access-control-allow-origin", "*"],
  [
    "access-control-expose-headers",
    "x-request-id, retry-after, www-authenticate, mcp-session-id, mcp-protocol-version",
  ],
]);

const REQUEST_HEADERS = [
  "authorization",
  "x-client-info",
  "apikey",
  "content-type",
  "accept",
  "x-request-id",
  "x-retry-count",
  "traceparent",
  "tracestate",
  // The Model Context Protocol's own.
  "mcp-protocol-version",
  "mcp-method",
  "mcp-name",
  "mcp-session-id",
  "last-event-id",
];
/** Headers that mirror a tool's arguments; the tool defines their names. */
const ARGUMENT_HEADER = /^mcp-param-[\w-]{1,64}$/i;

/** Responds to a browser's preflight request. */
export function preflightResponse(request: Request, methods: readonly string[]): Response {
  const asked = request.headers.get("access-control-request-headers") ?? "";
  const argumentHeaders = asked.split(",").map((name) => name.trim())
    .filter((name) => ARGUMENT_HEADER.test(name));
  return new Response(null, {
    status: 204,
    headers: {
      ...Object.fromEntries(CORS_HEADERS),
      "access-control-allow-methods": [...methods, "OPTIONS"].join(", "),
      "access-control-allow-headers": [...REQUEST_HEADERS, ...argumentHeaders].join(", "),
      "access-control-max-age": "86400",
      vary: "access-control-request-headers",
    },
  });
}
