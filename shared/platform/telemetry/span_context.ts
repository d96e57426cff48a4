import type { SpanContext } from "./span.ts";

/** Bit 0 is sampled, bit 1 means a random trace id; other bits must not be passed on. */
const KNOWN_FLAGS = 0b11;
const SAMPLED = 0b1;

/** Parses a `traceparent`; null if it is missing or malformed. */
export function parseTraceparent(
  traceparent: string | null,
  tracestate: string | null,
): SpanContext | null {
  const [, traceId, spanId, flags] = /^..-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/
    .exec(traceparent ?? "") ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  return { traceId, spanId, flags: parseInt(flags, 16) & KNOWN_FLAGS, tracestate };
}

/** The `traceparent` with a span as the parent of its calls. */
export function toTraceparent({ traceId, spanId, flags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, "0")}`;
}

/** Whether the trace is recorded. */
export function isSampled({ flags }: SpanContext): boolean {
  return (flags & SAMPLED) !== 0;
}

/** A new sampled trace; its first span is the returned one. */
export function newTrace(): SpanContext {
  return {
    traceId: toHex(crypto.getRandomValues(new Uint8Array(16))),
    spanId: newSpanId(),
    flags: SAMPLED,
    tracestate: null,
  };
}

/** A random span id. */
export function newSpanId(): string {
  return toHex(crypto.getRandomValues(new Uint8Array(8)));
}

/**
 * The span id of an operation, derived from its name: every worker computes the same id, and
 * nothing must be stored.
 */
export async function spanIdOf(...name: readonly (string | number)[]): Promise<string> {
  const bytes = new TextEncoder().encode(name.join(":"));
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return toHex(new Uint8Array(digest, 0, 8));
}

function toHex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
