import { type AssertionPorts, checkAssertion } from "./check_assertion.ts";
import type { AssertionResult } from "./assertion_result.ts";
import type { JobRecord } from "./job_record.ts";
import type { EvalTest } from "./read_evals_file.ts";
import type { TestResult } from "./test_result.ts";

/** Checks all assertions of a test. A job that did not complete fails without being checked. */
export async function checkRecord(
  { name, assertions, threshold, judge }: EvalTest,
  repeat: number,
  record: JobRecord,
  ports: AssertionPorts,
): Promise<TestResult> {
  const { taskId, error, usage: { costMicroUsd }, latencyMs } = record;
  const job = { test: name, repeat, taskId, error, costMicroUsd, latencyMs };
  if (error !== null) return { ...job, passed: false, score: 0, assertions: [] };
  const results: AssertionResult[] = [];
  for (const [index, assertion] of assertions.entries()) {
    const reviewIndex = assertions.slice(0, index).filter(({ type }) => type === "review").length;
    results.push(await checkAssertion(assertion, record, { reviewIndex, judge }, ports));
  }
  const weight = results.reduce((sum, result) => sum + result.weight, 0);
  const score = results.reduce((sum, result) => sum + result.score * result.weight, 0) / weight;
  const passed = threshold === null ? results.every((one) => one.passed) : score >= threshold;
  return { ...job, passed, score, assertions: results };
}
