import type { AssertionResult } from "./assertion_result.ts";

/** The result of one job of a test. */
export interface TestResult {
  /** The test's description. */
  readonly test: string;
  /** Which job of the test this is, counted from 1. */
  readonly repeat: number;
  readonly taskId: string;
  readonly passed: boolean;
  /** The weighted mean of the assertions' scores; 0 if the job did not complete. */
  readonly score: number;
  readonly assertions: readonly AssertionResult[];
  /** Why the job did not complete. */
  readonly error: string | null;
  readonly costMicroUsd: number | null;
  readonly latencyMs: number;
}
