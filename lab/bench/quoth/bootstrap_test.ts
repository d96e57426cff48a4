import assert from "node:assert/strict";
import { bootstrap } from "./bootstrap.ts";

Deno.test("bootstrap() returns the same range of means each time", () => {
  const values = Array.from({ length: 100 }, (_, index) => index % 2);

  const range = bootstrap([values, values]);

  assert.deepEqual(bootstrap([values, values]), range);
  // The standard error of this mean is 0.035.
  assert.ok(range.low > 0.4 && range.low < 0.46, String(range.low));
  assert.ok(range.high > 0.54 && range.high < 0.6, String(range.high));
});

Deno.test("bootstrap() of equal values returns that value", () => {
  assert.deepEqual(bootstrap([[0.5, 0.5], [0.5]]), { low: 0.5, high: 0.5 });
});

Deno.test("bootstrap() refuses an empty group", () => {
  assert.throws(() => bootstrap([[1], []]), RangeError);
});
