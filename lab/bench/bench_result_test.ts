import assert from "node:assert/strict";
import { judge, percentile } from "./bench_result.ts";

Deno.test("judge() meets a target at its bound and misses it beyond the bound", () => {
  assert.ok(judge("x", { a_ms: 5 }, { a_ms: { max: 5 } }).met);
  assert.ok(!judge("x", { a_ms: 5.1 }, { a_ms: { max: 5 } }).met);
  assert.ok(!judge("x", { rate: 1 }, { rate: { min: 2 } }).met);
});

Deno.test("judge() misses a target without a measurement", () => {
  assert.ok(!judge("x", {}, { a_ms: { max: 5 } }).met);
});

Deno.test("percentile() returns a value that occurred", () => {
  const values = [5, 1, 4, 2, 3];

  assert.equal(percentile(values, 0.5), 3);
  assert.equal(percentile(values, 1), 5);
  assert.throws(() => percentile([], 0.5), RangeError);
});
