import assert from "node:assert/strict";
import { parseDuration, parseRetryAfter } from "./retry_after.ts";

const NOW_MS = Date.parse("2026-11-21T12:00:00Z");

Deno.test("parseRetryAfter() reads seconds, milliseconds and dates", () => {
  const read = (headers: Record<string, string>) => parseRetryAfter(new Headers(headers), NOW_MS);

  assert.equal(read({ "retry-after": "7" }), 7);
  assert.equal(read({ "retry-after": "0.5" }), 0.5);
  assert.equal(read({ "retry-after-ms": "250", "retry-after": "1" }), 0.25);
  assert.equal(read({ "retry-after": "Sat, 21 Nov 2026 12:00:30 GMT" }), 30);
});

Deno.test("parseRetryAfter() never returns past, infinite or invalid times", () => {
  const read = (text: string) => parseRetryAfter(new Headers({ "retry-after": text }), NOW_MS);

  assert.equal(read("Sat, 21 Nov 2026 11:00:00 GMT"), 0);
  assert.equal(read("-5"), 0);
  assert.equal(read("99999999"), 86_400);
  assert.equal(read("soon"), undefined);
  assert.equal(read(""), undefined);
  assert.equal(parseRetryAfter(new Headers(), NOW_MS), undefined);
});

Deno.test("parseDuration() reads protobuf durations", () => {
  assert.equal(parseDuration("7s"), 7);
  assert.equal(parseDuration("1.25s"), 1.25);
  assert.equal(parseDuration("7"), undefined);
  assert.equal(parseDuration("s"), undefined);
});
