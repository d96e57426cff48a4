import type { JsonObject, JsonValue } from "../values/json.ts";
import type { Span, SpanAttributes, SpanKind } from "./span.ts";
import { beginningOf } from "../values/beginning_of.ts";

/** Values of `Span.SpanKind` in OTLP. */
const KINDS: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3 };
const STATUS_ERROR = 2;
/** Names come from agents, models and tool servers, so they may be of any length. */
const MAX_TEXT_LENGTH = 256;

/** Redacts every exported text. */
export type RedactText = (text: string) => string;

/**
 * Spans as an OTLP `ExportTraceServiceRequest` in its JSON form: ids in hexadecimal, 64-bit
 * integers as text.
 */
export function toOtlpTraces(
  spans: readonly Span[],
  resource: SpanAttributes,
  redact: RedactText,
): JsonObject {
  return {
    resourceSpans: [{
      resource: { attributes: toAttributes(resource, redact) },
      scopeSpans: [{
        scope: { name: "supaswarm" },
        spans: spans.map((span) => toOtlpSpan(span, redact)),
      }],
    }],
  };
}

function toOtlpSpan(span: Span, redact: RedactText): JsonObject {
  const { context, parentSpanId, errorCode } = span;
  const failure = errorCode === null ? {} : { "error.type": errorCode };
  return {
    traceId: context.traceId,
    spanId: context.spanId,
    ...(parentSpanId === null ? {} : { parentSpanId }),
    ...(context.tracestate === null ? {} : { traceState: context.tracestate }),
    flags: context.flags,
    name: toText(span.name, redact),
    kind: KINDS[span.kind],
    startTimeUnixNano: toUnixNano(span.startMs),
    endTimeUnixNano: toUnixNano(Math.max(span.startMs, span.endMs)),
    attributes: toAttributes({ ...span.attributes, ...failure }, redact),
    status: errorCode === null ? {} : { code: STATUS_ERROR, message: toText(errorCode, redact) },
  };
}

function toAttributes(attributes: SpanAttributes, redact: RedactText): JsonObject[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === null || value === undefined ? [] : [{ key, value: toValue(value, redact) }]
  );
}

function toValue(
  value: string | number | boolean | readonly string[],
  redact: RedactText,
): JsonObject {
  if (typeof value === "string") return { stringValue: toText(value, redact) };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "number") {
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  }
  const values: JsonValue[] = value.map((item) => ({ stringValue: toText(item, redact) }));
  return { arrayValue: { values } };
}

/** Redacted first: a truncated secret would escape redaction. */
function toText(text: string, redact: RedactText): string {
  return beginningOf(redact(text), MAX_TEXT_LENGTH);
}

/** A double represents microseconds exactly. */
function toUnixNano(unixMs: number): string {
  return String(BigInt(Math.round(unixMs * 1_000)) * 1_000n);
}
