import { formatTable } from "../sql/format_table.ts";
import {
  compareRuns,
  passCounts,
  type TestComparison,
} from "../../shared/engine/evals/compare_runs.ts";
import type { EarlierRun } from "./eval_store.ts";
import { failureReasons } from "../../shared/engine/evals/failure_reasons.ts";
import type { FinishedRun } from "./run_evals.ts";
import { type PassCount, wilsonInterval } from "../../shared/engine/evals/statistics.ts";
import type { TestResult } from "./test_result.ts";

/** A run and, if one was named, the run with which it is compared. */
export interface ReportedRun extends FinishedRun {
  readonly against: EarlierRun | null;
}

/** What a report says of one test. */
interface TestReport extends PassCount {
  readonly test: string;
  readonly rate: number;
  /** The 95 % interval of the rate. */
  readonly low: number;
  readonly high: number;
  /** Mean cost of a job; null if one is unknown. */
  readonly cost_micro_usd: number | null;
  readonly latency_ms_p50: number;
  readonly failures: readonly Failure[];
  readonly comparison: TestComparison | null;
}

/** A job that did not pass. */
interface Failure {
  readonly repeat: number;
  readonly task_id: string;
  readonly reasons: readonly string[];
}

/** Whether every job passed and no test regressed. */
export function isPassed({ results, against }: ReportedRun): boolean {
  return results.every(({ passed }) => passed) &&
    [...compareRuns(against?.results ?? [], results).values()]
      .every(({ verdict }) => verdict !== "regression");
}

/** Formats runs as one line of JSON. */
export function runsToJson(runs: readonly ReportedRun[]): string {
  return JSON.stringify({
    passed: runs.every(isPassed),
    runs: runs.map((reported) => ({
      id: reported.run.id,
      agent: reported.run.agent_slug,
      revision: reported.run.agent_revision,
      provider: reported.run.provider,
      model: reported.run.model,
      agent_changes: reported.run.agent_changes,
      answered_by: reported.run.answered_by,
      against: reported.against?.id ?? null,
      tests: testReports(reported),
    })),
  });
}

/** Formats a run as text: a table of the tests, then each failure and each difference. */
export function runToText(reported: ReportedRun): string {
  const { run, results, against } = reported;
  const tests = testReports(reported);
  const total = { test: "total", ...summaryOf(results) };
  const notes = tests.flatMap((report) => [...failureLines(report), ...comparisonLines(report)]);
  return [
    `${nameOf(run)}, run ${run.id}`,
    ...otherAnswers(run),
    ...against === null ? [] : [`compared with ${nameOf(against)}, run ${against.id}`],
    ...against === null ? [] : otherAnswers(against),
    "",
    formatTable([...tests, total].map((line) => ({
      test: line.test,
      passed: `${line.passed}/${line.total}`,
      rate: percent(line.rate),
      "95 %": `${percent(line.low)} to ${percent(line.high)}`,
      cost: line.cost_micro_usd === null ? "unknown" : `$${dollars(line.cost_micro_usd)}`,
      "p50 ms": Math.round(line.latency_ms_p50),
    }))),
    ...notes.length === 0 ? [] : ["", ...notes],
  ].join("\n");
}

function testReports({ results, against }: ReportedRun): TestReport[] {
  const comparisons = compareRuns(against?.results ?? [], results);
  return [...passCounts(results).keys()].map((test) => {
    const own = results.filter((result) => result.test === test);
    return {
      test,
      ...summaryOf(own),
      failures: own.flatMap((result) =>
        result.passed ? [] : [{
          repeat: result.repeat,
          task_id: result.taskId,
          reasons: failureReasons(result),
        }]
      ),
      comparison: comparisons.get(test) ?? null,
    };
  });
}

function summaryOf(results: readonly TestResult[]) {
  const count = { passed: results.filter(({ passed }) => passed).length, total: results.length };
  const costs = results.map(({ costMicroUsd }) => costMicroUsd);
  return {
    ...count,
    rate: count.passed / count.total,
    ...wilsonInterval(count),
    cost_micro_usd: costs.includes(null)
      ? null
      : costs.reduce<number>((sum, cost) => sum + Number(cost), 0) / count.total,
    latency_ms_p50: median(results.map(({ latencyMs }) => latencyMs)),
  };
}

function failureLines({ test, failures }: TestReport): string[] {
  return failures.flatMap(({ repeat, task_id, reasons }) =>
    reasons.map((reason) => `failed     ${test}, job ${repeat} (${task_id}): ${reason}`)
  );
}

function comparisonLines({ test, comparison }: TestReport): string[] {
  if (comparison === null || comparison.verdict === "equal") return [];
  const { before, after, pValue, verdict, neededRepeats } = comparison;
  const change = `${before.passed}/${before.total} before, ${after.passed}/${after.total} now`;
  const evidence = `p = ${pValue.toPrecision(2)}`;
  if (verdict !== "undecided") return [`${verdict.padEnd(10)} ${test}: ${change}, ${evidence}`];
  const need = neededRepeats === null
    ? "more than 1,000 jobs a run would show a difference of this size"
    : `${neededRepeats} jobs a run would show a difference of this size`;
  return [`undecided  ${test}: ${change}, ${evidence}; ${need}`];
}

function nameOf(run: FinishedRun["run"]): string {
  const place = run.agent_changes === null ? "" : " in place of the agent's model";
  return `${run.agent_slug}, revision ${run.agent_revision}, ${modelOf(run)}${place}`;
}

function modelOf({ provider, model }: FinishedRun["run"]): string {
  return `${model ?? "no model"} of ${provider ?? "no provider"}`;
}

/** Says so if others answered than the run's model: a script without a key, or fallbacks. */
function otherAnswers(run: FinishedRun["run"]): string[] {
  const models = run.answered_by ?? [];
  if (models.every((model) => model === modelOf(run))) return [];
  return [`answered by ${models.join(", ")}`];
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

function dollars(microUsd: number): string {
  return (microUsd / 1_000_000).toFixed(4);
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}
