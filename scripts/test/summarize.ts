import { fileDurations } from "./file_durations.ts";
import type { BatchReport } from "./run_batch.ts";
import { isOwnFailure } from "./test_report.ts";

const SHOWN_SLOWEST = 10;
const LONGEST_ERROR_LINE = 300;

/** How many tests and steps passed and failed. */
export interface TestCounts {
  readonly passed: number;
  readonly failed: number;
}

/** Adds up all batches. */
export function countTests(reports: readonly BatchReport[]): TestCounts {
  const cases = reports.flatMap((report) => report.cases);
  const failed = cases.filter(({ failure }) => failure !== null).length;
  return { passed: cases.length - failed, failed };
}

/** Returns one line for a finished batch. */
export function batchLine({ batch, durationMs, cases }: BatchReport): string {
  const failed = cases.filter(isOwnFailure).length;
  const [first = "", ...rest] = batch.files;
  const name = rest.length === 0 ? first : `${first} and ${rest.length} more files`;
  const outcome = failed === 0 ? "ok    " : "FAILED";
  return `${outcome} ${seconds(durationMs)}  ${name} (${cases.length} tests${
    failed === 0 ? "" : `, ${failed} failed`
  })`;
}

/** Returns the slowest files. */
export function slowestFiles(reports: readonly BatchReport[]): string[] {
  return Object.entries(fileDurations(reports))
    .sort(([, a], [, b]) => b - a)
    .slice(0, SHOWN_SLOWEST)
    .map(([file, durationMs]) => `${seconds(durationMs)}  ${file}`);
}

/** Returns every failure with the first line of its error. Lists a repeated failure once. */
export function failureLines(reports: readonly BatchReport[]): string[] {
  const failures = new Map<string, { error: string; count: number }>();
  for (const test of reports.flatMap((report) => report.cases).filter(isOwnFailure)) {
    const name = `${test.file}: ${test.name}`;
    const [error = ""] = (test.failure ?? "").trim().split("\n", 1);
    failures.set(name, { error, count: (failures.get(name)?.count ?? 0) + 1 });
  }
  return [...failures].flatMap(([name, { error, count }]) => [
    count === 1 ? name : `${name} (${count} times)`,
    `  ${error.slice(0, LONGEST_ERROR_LINE)}`,
  ]);
}

function seconds(durationMs: number): string {
  return `${(durationMs / 1_000).toFixed(1).padStart(6)} s`;
}
