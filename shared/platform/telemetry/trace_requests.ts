import { traceparentOf, tracestateOf } from "../http/trace_context.ts";
import { nowUnixMs, type SpanContext } from "./span.ts";
import { newSpanId, newTrace, parseTraceparent, toTraceparent } from "./span_context.ts";
import type { Telemetry } from "./telemetry.ts";

/** Callers may send any method; the number of span names must stay small. */
const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]);

interface TraceRequestsOptions {
  /** The endpoint's path, without anything that differs between requests. */
  readonly route: string;
  readonly telemetry: Telemetry;
  /** Keeps the isolate alive until the promise settles. */
  readonly runInBackground: (work: Promise<void>) => void;
}

/**
 * Gives each request a span below the caller's, or its own trace, and passes it on with that span
 * as its `traceparent`. If nothing is recorded, requests are unchanged.
 */
export function traceRequests(
  handle: (request: Request) => Promise<Response>,
  { route, telemetry, runInBackground }: TraceRequestsOptions,
): (request: Request) => Promise<Response> {
  if (!telemetry.isOn) return handle;
  return async (request) => {
    if (request.method === "OPTIONS") return await handle(request);
    const startMs = nowUnixMs();
    const method = METHODS.has(request.method) ? request.method : "_OTHER";
    const caller = parseTraceparent(traceparentOf(request), tracestateOf(request));
    const context = caller === null ? newTrace() : { ...caller, spanId: newSpanId() };
    const response = await handle(withContext(request, context));
    telemetry.add({
      context,
      parentSpanId: caller?.spanId ?? null,
      name: `${method} ${route}`,
      kind: "server",
      startMs,
      endMs: nowUnixMs(),
      attributes: {
        "http.request.method": method,
        "http.route": route,
        "http.response.status_code": response.status,
      },
      // A correctly refused request is not a server failure.
      errorCode: response.status >= 500 ? String(response.status) : null,
    });
    runInBackground(telemetry.flush());
    return response;
  };
}

function withContext(request: Request, context: SpanContext): Request {
  const headers = new Headers(request.headers);
  headers.set("traceparent", toTraceparent(context));
  if (context.tracestate === null) headers.delete("tracestate");
  return new Request(request, { headers });
}
