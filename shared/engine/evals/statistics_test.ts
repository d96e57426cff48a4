import assert from "node:assert/strict";
import { fisherExact, holmAdjusted, neededRepeats, wilsonInterval } from "./statistics.ts";

const count = (passed: number, total: number) => ({ passed, total });

function assertNear(actual: number | undefined, expected: number): void {
  assert.ok(Math.abs((actual ?? NaN) - expected) < 5e-5, `${actual} is not ${expected}`);
}

Deno.test("wilsonInterval() has the published values of Newcombe (1998)", () => {
  for (
    const [passed, total, low, high] of [
      [81, 263, 0.2553, 0.3662],
      [15, 148, 0.0624, 0.1605],
      [0, 20, 0, 0.1611],
      [1, 29, 0.0061, 0.1718],
    ] as const
  ) {
    const interval = wilsonInterval(count(passed, total));

    assertNear(interval.low, low);
    assertNear(interval.high, high);
  }
});

Deno.test("wilsonInterval() of no job excludes nothing", () => {
  assert.deepEqual(wilsonInterval(count(0, 0)), { low: 0, high: 1 });
});

Deno.test("fisherExact() has the known p-values of two-by-two tables", () => {
  // The lady tasting tea; and the tables of R's and SciPy's documentation.
  assertNear(fisherExact(count(3, 4), count(1, 4)), 0.4857);
  assertNear(fisherExact(count(8, 10), count(1, 6)), 0.0350);
  assertNear(fisherExact(count(2, 17), count(10, 13)), 0.0005);
});

Deno.test("fisherExact() finds no difference between equal counts", () => {
  assertNear(fisherExact(count(5, 10), count(5, 10)), 1);
  assertNear(fisherExact(count(3, 3), count(40, 40)), 1);
});

Deno.test("fisherExact() gives the same p-value in both directions", () => {
  assertNear(fisherExact(count(1, 10), count(7, 9)), fisherExact(count(7, 9), count(1, 10)));
});

Deno.test("holmAdjusted() multiplies each p-value by the number of those left, and stays monotone", () => {
  const adjusted = holmAdjusted([0.01, 0.04, 0.03, 0.005]);

  for (const [index, expected] of [0.03, 0.06, 0.06, 0.02].entries()) {
    assertNear(adjusted[index], expected);
  }
  assert.deepEqual(holmAdjusted([0.9, 0.8]), [1, 1]);
});

Deno.test("neededRepeats() returns the smallest number that makes the difference significant", () => {
  // 4 of 4 against 0 of 4 has p = 2 / 70; 3 of 3 against 0 of 3 has p = 2 / 20.
  assert.equal(neededRepeats(count(1, 1), count(0, 1), 0.05), 4);
  assert.equal(neededRepeats(count(5, 5), count(0, 5), 0.01), 5);
});

Deno.test("neededRepeats() has no answer for equal rates, nor for a tiny difference", () => {
  assert.equal(neededRepeats(count(2, 4), count(1, 2), 0.05), null);
  assert.equal(neededRepeats(count(999, 1000), count(998, 1000), 0.05), null);
});
