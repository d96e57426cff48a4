import assert from "node:assert/strict";
import { compareRuns } from "./compare_runs.ts";

const results = (test: string, passed: number, failed: number) => [
  ...Array.from({ length: passed }, () => ({ test, passed: true })),
  ...Array.from({ length: failed }, () => ({ test, passed: false })),
];

Deno.test("compareRuns() calls a difference a regression or an improvement only with evidence", () => {
  const before = [
    ...results("worse", 10, 0),
    ...results("better", 0, 10),
    ...results("noise", 9, 1),
  ];
  const after = [...results("worse", 1, 9), ...results("better", 9, 1), ...results("noise", 8, 2)];

  const compared = compareRuns(before, after);

  assert.deepEqual([...compared].map(([test, { verdict }]) => [test, verdict]), [
    ["worse", "regression"],
    ["better", "improvement"],
    ["noise", "undecided"],
  ]);
  const { neededRepeats = null } = compared.get("noise") ?? {};
  assert.ok(neededRepeats !== null && neededRepeats > 100);
});

Deno.test("compareRuns() corrects for the number of tests", () => {
  const before = results("a", 5, 0);
  const after = results("a", 1, 4); // p = 0.0476
  const others = ["b", "c"].flatMap((test) => results(test, 5, 0));

  assert.equal(compareRuns(before, after).get("a")?.verdict, "regression");
  const several = compareRuns([...before, ...others], [...after, ...others]);
  assert.equal(several.get("a")?.verdict, "undecided");
  assert.equal(several.get("b")?.verdict, "equal");
});

Deno.test("compareRuns() leaves out tests that only one run has", () => {
  assert.deepEqual([...compareRuns(results("old", 1, 0), results("new", 0, 1))], []);
});
