import assert from "node:assert/strict";
import { toOtlpTraces } from "./otlp_traces.ts";
import type { Span } from "./span.ts";

const span: Span = {
  context: { traceId: "a".repeat(32), spanId: "b".repeat(16), flags: 1, tracestate: "x=1" },
  parentSpanId: "c".repeat(16),
  name: "chat script-1",
  kind: "client",
  startMs: 1_700_000_000_000.123,
  endMs: 1_700_000_000_001,
  attributes: { text: "t", whole: 5, part: 0.5, yes: true, list: ["a"], none: null },
  errorCode: "MODEL_TIMEOUT",
};

function spanOf(value: ReturnType<typeof toOtlpTraces>) {
  return JSON.parse(JSON.stringify(value)).resourceSpans[0].scopeSpans[0].spans[0];
}

Deno.test("toOtlpTraces() converts a span to the OTLP JSON format", () => {
  assert.deepEqual(spanOf(toOtlpTraces([span], {}, (text) => text)), {
    traceId: "a".repeat(32),
    spanId: "b".repeat(16),
    parentSpanId: "c".repeat(16),
    traceState: "x=1",
    flags: 1,
    name: "chat script-1",
    kind: 3,
    startTimeUnixNano: "1700000000000123000",
    endTimeUnixNano: "1700000000001000000",
    attributes: [
      { key: "text", value: { stringValue: "t" } },
      { key: "whole", value: { intValue: "5" } },
      { key: "part", value: { doubleValue: 0.5 } },
      { key: "yes", value: { boolValue: true } },
      { key: "list", value: { arrayValue: { values: [{ stringValue: "a" }] } } },
      { key: "error.type", value: { stringValue: "MODEL_TIMEOUT" } },
    ],
    status: { code: 2, message: "MODEL_TIMEOUT" },
  });
});

Deno.test("toOtlpTraces() omits missing fields of a root span without error and state", () => {
  const root = {
    ...span,
    context: { ...span.context, tracestate: null },
    parentSpanId: null,
    errorCode: null,
  };
  const mapped = spanOf(toOtlpTraces([root], {}, (text) => text));

  assert.ok(!("parentSpanId" in mapped) && !("traceState" in mapped));
  assert.deepEqual(mapped.status, {});
});

Deno.test("toOtlpTraces() redacts names, values and the resource before it truncates them", () => {
  const long = { ...span, name: `${"n".repeat(250)}secret`, attributes: { key: ["secret"] } };
  const text = JSON.stringify(
    toOtlpTraces([long], { "service.name": "secret" }, (value) => value.replace("secret", "[x]")),
  );

  assert.ok(!text.includes("secr"));
  assert.equal(text.split("[x]").length, 4);
});
