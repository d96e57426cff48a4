import { expect, test } from "vitest";
import { formatDuration, formatShortCost, formatShortDuration } from "./numbers.ts";

test("a duration has at most two units, and a short form for narrow columns", () => {
  const cases: readonly (readonly [number, string, string])[] = [
    [999.6, "999 ms", "999ms"],
    [1_234, "1.2 s", "1.2s"],
    [59_900, "59 s", "59s"],
    [191_000, "3 min 11 s", "3m 11s"],
    [86_399_999, "23 h 59 min", "23h 59m"],
    [200_000_000, "2 d 7 h", "2d 7h"],
  ];
  for (const [ms, long, short] of cases) {
    expect(formatDuration(ms)).toBe(long);
    expect(formatShortDuration(ms)).toBe(short);
  }
});

test("a duration that is not known is a dash, never Infinity or NaN", () => {
  for (const ms of [null, undefined, NaN, Infinity, -Infinity]) {
    expect(formatDuration(ms)).toBe("–");
    expect(formatShortDuration(ms)).toBe("–");
  }
});

test("a cost in a narrow column has at most three digits that count", () => {
  expect([1, 729, 1_332, 13_400, 12_345_678, 1_234_567_890].map(formatShortCost)).toEqual([
    "$0.000001",
    "$0.000729",
    "$0.00133",
    "$0.0134",
    "$12.3",
    "$1.23K",
  ]);
});
