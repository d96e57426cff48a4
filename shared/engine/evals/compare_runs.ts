import { fisherExact, holmAdjusted, neededRepeats, type PassCount } from "./statistics.ts";

/** Results of a run, as far as a comparison needs them. */
export type ComparedResults = readonly { readonly test: string; readonly passed: boolean }[];

/** A test in two runs. */
export interface TestComparison {
  readonly before: PassCount;
  readonly after: PassCount;
  /** Of Fisher's exact test, adjusted for the number of tests by Holm's method. */
  readonly pValue: number;
  readonly verdict: "regression" | "improvement" | "undecided" | "equal";
  /** Jobs that each run needs until the difference is significant; null if unknown. */
  readonly neededRepeats: number | null;
}

const ALPHA = 0.05;

/** How many jobs of each test passed, in the order of the results. */
export function passCounts(results: ComparedResults): ReadonlyMap<string, PassCount> {
  const counts = new Map<string, PassCount>();
  for (const { test, passed } of results) {
    const { passed: known, total } = counts.get(test) ?? { passed: 0, total: 0 };
    counts.set(test, { passed: known + Number(passed), total: total + 1 });
  }
  return counts;
}

/** Compares the tests that both runs have, by name. */
export function compareRuns(
  before: ComparedResults,
  after: ComparedResults,
): ReadonlyMap<string, TestComparison> {
  const earlier = passCounts(before);
  const pairs = [...passCounts(after)].flatMap(([test, count]) => {
    const known = earlier.get(test);
    return known === undefined ? [] : [{ test, before: known, after: count }];
  });
  const adjusted = holmAdjusted(pairs.map((pair) => fisherExact(pair.before, pair.after)));
  return new Map(pairs.map(({ test, ...pair }, index) => {
    const pValue = adjusted[index] ?? 1;
    const change = pair.after.passed / pair.after.total - pair.before.passed / pair.before.total;
    const isSignificant = pValue < ALPHA;
    return [test, {
      ...pair,
      pValue,
      verdict: change === 0
        ? "equal"
        : !isSignificant
        ? "undecided"
        : change < 0
        ? "regression"
        : "improvement",
      neededRepeats: isSignificant
        ? null
        : neededRepeats(pair.before, pair.after, ALPHA / pairs.length),
    }];
  }));
}
