/** Where a span stands in its trace (W3C Trace Context). */
export interface SpanContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** Bit 0: sampled. */
  readonly flags: number;
  readonly tracestate: string | null;
}

/** What a span says of itself. Never a secret, prompt or payload. */
export type SpanAttributes = Readonly<
  Record<string, string | number | boolean | readonly string[] | null | undefined>
>;

/** `server`: answers a request. `client`: waits for another service. `internal`: neither. */
export type SpanKind = "internal" | "server" | "client";

/** A piece of work that has ended. Times are milliseconds since 1970. */
export interface Span {
  readonly context: SpanContext;
  /** Null for the root of a trace. */
  readonly parentSpanId: string | null;
  readonly name: string;
  readonly kind: SpanKind;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: SpanAttributes;
  /** Why the work failed, as a stable code; null when it did not. */
  readonly errorCode: string | null;
}

/** Milliseconds since 1970 that never go back within an isolate. */
export function nowUnixMs(): number {
  return performance.timeOrigin + performance.now();
}
