const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/**
 * The request's `traceparent` (W3C Trace Context), or null when it has none or a malformed one,
 * which the standard says to ignore.
 */
export function traceparentOf(request: Request): string | null {
  const value = request.headers.get("traceparent")?.trim() ?? "";
  return TRACEPARENT.test(value) ? value : null;
}
