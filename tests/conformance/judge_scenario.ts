import { asJsonObject, type JsonObject } from "../../shared/platform/values/json.ts";

/** A check that the suite made. */
export interface SuiteCheck {
  readonly id: string;
  /** `SUCCESS`, `FAILURE`, `WARNING`, `SKIPPED` or `INFO`. */
  readonly status: string;
  readonly errorMessage?: string | undefined;
  readonly details?: unknown;
}

/** The outcome of a scenario. */
export type Verdict =
  | { readonly kind: "passed" }
  /** Neither a success nor a failure: the suite's exit code ignores it. */
  | { readonly kind: "unchecked"; readonly reason: string }
  | { readonly kind: "failed"; readonly reason: string };

/** Scenarios that succeed when a tool reports an error. */
const EXPECT_ERRORS: ReadonlySet<string> = new Set(["tools-call-error"]);

/**
 * Judges a scenario more strictly than the suite's own exit code: it passes with at least one
 * success, no failure, and no meaningless success. The suite accepts any text of a tool, even
 * an error about a missing tool.
 */
export function judgeScenario(scenario: string, checks: readonly SuiteCheck[]): Verdict {
  const failed = checks.filter(({ status }) => status === "FAILURE");
  if (failed.length > 0) {
    const reason = failed.map(({ id, errorMessage }) => `${id}: ${errorMessage ?? "failed"}`);
    return { kind: "failed", reason: reason.join("; ") };
  }
  const succeeded = checks.filter(({ status }) => status === "SUCCESS");
  if (succeeded.length === 0) {
    return { kind: "unchecked", reason: checks.map(describe).join("; ") || "no checks" };
  }
  const vacuous = succeeded.find((check) => isVacuous(scenario, check));
  if (vacuous === undefined) return { kind: "passed" };
  return { kind: "failed", reason: `${vacuous.id}: succeeded without what it should check` };
}

function describe({ id, status, errorMessage, details }: SuiteCheck): string {
  const { message } = asJsonObject(details as JsonObject | undefined);
  return `${id}: ${status} ${errorMessage ?? message ?? ""}`.trim();
}

function isVacuous(scenario: string, { details }: SuiteCheck): boolean {
  const { untestable, result } = asJsonObject(details as JsonObject | undefined);
  if (untestable === true) return true;
  return asJsonObject(result).isError === true && !EXPECT_ERRORS.has(scenario);
}
