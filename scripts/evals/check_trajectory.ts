import { canonicalJson } from "../../shared/platform/values/canonical_json.ts";
import { isJsonObject, type JsonValue } from "../../shared/platform/values/json.ts";
import { type Finding, shown } from "./assertion_result.ts";
import type { Assertion } from "./evals_file_schema.ts";
import type { RecordedCall } from "../../shared/engine/evals/test_of_job.ts";

type TrajectoryAssertion = Extract<Assertion, { type: "trajectory" }>;
type ExpectedCall = TrajectoryAssertion["value"][number];

/** Compares the calls of a job with those that a test expects. */
export function checkTrajectory(
  { value: expected, mode = "in-order" }: TrajectoryAssertion,
  calls: readonly RecordedCall[],
): Finding {
  const missing = firstMissing(expected, calls, mode);
  const made = calls.map(({ tool }) => tool).join(", ") || "none";
  if (missing !== undefined) {
    return {
      passed: false,
      reason: `expected the call ${nameOf(missing)} (${mode}); calls: ${made}`,
    };
  }
  const isExact = mode !== "exact" || calls.length === expected.length;
  return { passed: isExact, reason: `expected ${expected.length} calls; calls: ${made}` };
}

function firstMissing(
  expected: readonly ExpectedCall[],
  calls: readonly RecordedCall[],
  mode: NonNullable<TrajectoryAssertion["mode"]>,
): ExpectedCall | undefined {
  if (mode === "exact") {
    return expected.find((call, index) => !isMadeBy(call, calls[index]));
  }
  const left = [...calls];
  return expected.find((call) => {
    const index = left.findIndex((made) => isMadeBy(call, made));
    if (index >= 0) {
      left.splice(mode === "in-order" ? 0 : index, mode === "in-order" ? index + 1 : 1);
    }
    return index < 0;
  });
}

function isMadeBy(expected: ExpectedCall, made: RecordedCall | undefined): boolean {
  if (made === undefined) return false;
  if (typeof expected === "string") return isNameOf(expected, made.tool);
  return isNameOf(expected.tool, made.tool) && isPartOf(expected.arguments ?? {}, made.arguments);
}

/** As in an agent's file, a server without a tool stands for each of its tools. */
function isNameOf(expected: string, tool: string): boolean {
  return tool === expected || tool.startsWith(`${expected}/`);
}

/** Whether an object has at least these members, and any other value is equal. */
function isPartOf(part: JsonValue, whole: JsonValue | undefined): boolean {
  if (!isJsonObject(part) || !isJsonObject(whole)) {
    return whole !== undefined && canonicalJson(part) === canonicalJson(whole);
  }
  return Object.entries(part).every(([name, member]) => isPartOf(member, whole[name]));
}

function nameOf(call: ExpectedCall): string {
  if (typeof call === "string") return call;
  return call.arguments === undefined ? call.tool : `${call.tool} ${shown(call.arguments)}`;
}
