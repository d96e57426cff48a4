const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;
/** `key=value`, or `tenant@system=value`; the value without comma, equals sign or end space. */
const TRACESTATE_MEMBER = /^[a-z0-9][a-z0-9_\-*/@]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{1,256}$/;
/** The length that the standard requires; the database stores no more. */
const MAX_TRACESTATE_LENGTH = 512;

/** The trace context of a call, in the form of the W3C headers. */
export interface TraceHeaders {
  readonly traceparent: string | null;
  /** Never without a traceparent. */
  readonly tracestate?: string | null;
}

/**
 * The request's `traceparent` (W3C Trace Context), or null if it is missing or malformed; the
 * standard says to ignore those.
 */
export function traceparentOf(request: Request): string | null {
  const value = request.headers.get("traceparent")?.trim() ?? "";
  return TRACEPARENT.test(value) ? value : null;
}

/**
 * The request's `tracestate`, or null if it is missing, malformed, or without a `traceparent`. A
 * list that is too long loses its last (oldest) members.
 */
export function tracestateOf(request: Request): string | null {
  if (traceparentOf(request) === null) return null;
  const members = (request.headers.get("tracestate") ?? "")
    .split(",").map((member) => member.trim()).filter((member) => member !== "");
  if (!members.every((member) => TRACESTATE_MEMBER.test(member))) return null;
  while (members.join(",").length > MAX_TRACESTATE_LENGTH) members.pop();
  return members.length === 0 ? null : members.join(",");
}

/** The W3C headers of an outgoing call; none outside a trace. */
export function toTraceHeaders({ traceparent, tracestate }: TraceHeaders): Record<string, string> {
  if (traceparent === null) return {};
  return { traceparent, ...(tracestate ? { tracestate } : {}) };
}
