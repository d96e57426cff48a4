import {
  compareRuns,
  passCounts,
  type TestComparison,
} from "../../../../shared/engine/evals/compare_runs.ts";
import { failureReasons } from "../../../../shared/engine/evals/failure_reasons.ts";
import { type PassCount, wilsonInterval } from "../../../../shared/engine/evals/statistics.ts";
import { formatShare } from "../../format/numbers.ts";
import type { EvalResult, EvalRun } from "../../queries/evals.ts";

/** A test with its jobs, in one run or in two. */
export interface EvalRow {
  readonly test: string;
  readonly jobs: readonly EvalResult[];
  /** The jobs of the run with which it is compared. */
  readonly earlierJobs: readonly EvalResult[];
  /** Such as `3 of 4, 30% to 95%`. */
  readonly rate: string;
  /** The difference, in words; empty without a comparison. */
  readonly difference: string;
  /** The color of the difference, as of a chip. */
  readonly tone: "good" | "bad" | "warn" | "";
}

/** The rows of a run's grid: its tests in order, then those that only the earlier run has. */
export function evalRows(
  results: readonly EvalResult[],
  earlier: readonly EvalResult[] | null,
): EvalRow[] {
  const comparisons = compareRuns(earlier ?? [], results);
  const counts = passCounts(results);
  const tests = new Set([...results, ...earlier ?? []].map(({ test }) => test));
  return [...tests].map((test) => {
    const count = counts.get(test);
    const comparison = comparisons.get(test);
    return {
      test,
      jobs: results.filter((result) => result.test === test),
      earlierJobs: (earlier ?? []).filter((result) => result.test === test),
      rate: count === undefined ? "–" : rateText(count),
      difference: comparison === undefined
        ? earlier === null ? "" : "only in one run"
        : differenceText(comparison),
      tone: TONES[comparison?.verdict ?? "equal"],
    };
  });
}

const TONES = { regression: "bad", improvement: "good", undecided: "warn", equal: "" } as const;

/** A pass rate with the range of the true one at 95 %. */
export function rateText(count: PassCount): string {
  const { low, high } = wilsonInterval(count);
  return `${count.passed} of ${count.total}, ${whole(low)} to ${whole(high)}`;
}

function whole(share: number): string {
  return formatShare(Math.round(share * 100) / 100);
}

function differenceText({ verdict, pValue, neededRepeats }: TestComparison): string {
  if (verdict === "equal") return "equal";
  if (verdict !== "undecided") return `${verdict}, p = ${pValue.toPrecision(2)}`;
  return `undecided: needs ${neededRepeats ?? "more than 1,000"} jobs a run`;
}

/** The model of a run, whether it replaces the agent's, and who answered if others did. */
export function modelText({ provider, model, agent_changes, answered_by }: EvalRun): string {
  const own = `${model ?? "no model"} of ${provider ?? "no provider"}`;
  const others = (answered_by ?? []).every((answering) => answering === own) ? [] : answered_by;
  return [
    own,
    ...agent_changes === null ? [] : ["not the agent's"],
    ...others?.length ? [`answered by ${others.join(", ")}`] : [],
  ].join("; ");
}

/** Why a job did not pass; empty if it did. */
export function reasonOf(job: EvalResult): string {
  return failureReasons(job).join("; ");
}
