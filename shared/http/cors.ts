/**
 * Headers of every answer. Any origin may call: callers are known by their token or key,
 * never by a cookie, so a foreign page gains nothing.
 */
export const CORS_HEADERS: ReadonlyMap<string, string> = new Map([
  ["access-control-allow-origin", "*"],
  ["access-control-expose-headers", "x-request-id, retry-after"],
]);

const REQUEST_HEADERS = [
  "authorization",
  "x-client-info",
  "apikey",
  "content-type",
  "x-request-id",
  "x-retry-count",
  "traceparent",
  "tracestate",
];

/** Answers a browser's preflight. */
export function preflightResponse(methods: readonly string[]): Response {
  return new Response(null, {
    status: 204,
    headers: {
      ...Object.fromEntries(CORS_HEADERS),
      "access-control-allow-methods": [...methods, "OPTIONS"].join(", "),
      "access-control-allow-headers": REQUEST_HEADERS.join(", "),
      "access-control-max-age": "86400",
    },
  });
}
