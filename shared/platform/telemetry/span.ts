/** The position of a span in its trace (W3C Trace Context). */
export interface SpanContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** Bit 0: sampled. */
  readonly flags: number;
  readonly tracestate: string | null;
}

/** The attributes of a span. Never contain a secret, prompt or payload. */
export type SpanAttributes = Readonly<
  Record<string, string | number | boolean | readonly string[] | null | undefined>
>;

/** `server`: handles a request. `client`: waits for another service. `internal`: neither. */
export type SpanKind = "internal" | "server" | "client";

/** A finished operation. Times are milliseconds since 1970. */
export interface Span {
  readonly context: SpanContext;
  /** Null for the root of a trace. */
  readonly parentSpanId: string | null;
  readonly name: string;
  readonly kind: SpanKind;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: SpanAttributes;
  /** The stable error code of a failure; null on success. */
  readonly errorCode: string | null;
}

/** Milliseconds since 1970, monotonic within an isolate. */
export function nowUnixMs(): number {
  return performance.timeOrigin + performance.now();
}
