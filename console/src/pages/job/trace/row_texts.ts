import { formatCompact, formatCount, formatShortCost } from "../../../format/numbers.ts";
import { stepLabel, totalsOf, type TraceRow } from "./trace_model.ts";

/**
 * What a row is: its agent, tool or model. The answer of the only model says enough by itself.
 *
 * @param hasOneModel Whether all answers of the job are from one model, which its header names.
 */
export function titleOf({ task, step }: TraceRow, hasOneModel: boolean): string {
  if (step === null) return task.agent_slug ?? "deleted agent";
  if (step.kind !== "model" || !hasOneModel) return stepLabel(step);
  return step.summary === null || step.state === "failed" || step.error_code !== null
    ? stepLabel({ ...step, usage: null })
    : "";
}

/** What happened there: the beginning of a text, and how much a closed row hides. */
export function detailOf({ step, hidden }: TraceRow): string {
  const summary = step?.summary ?? "";
  if (hidden === null) return summary;
  const { stepCount, failedCount } = hidden;
  const steps = stepCount === 1 ? "1 step" : `${formatCount(stepCount)} steps`;
  const counted = failedCount === 0 ? steps : `${steps}, ${formatCount(failedCount)} failed`;
  return summary === "" ? counted : `${summary} · ${counted}`;
}

/** The state of a row, for screen readers. */
export function stateOf({ kind, task, step, isWaiting, endMs }: TraceRow): string {
  if (kind === "task") return task.status.replaceAll("_", " ");
  if (step?.state === "failed") return "failed";
  if (endMs === null) return isWaiting ? "waiting" : "running";
  return isWaiting ? "waited" : "done";
}

/** Most rows are calls of tools, which use none: zeros would hide the others. */
export function tokensOf(row: TraceRow): string {
  const { tokens } = totalsOf(row);
  return tokens === 0 ? "" : formatCompact(tokens);
}

/** What a row cost; empty if it cost nothing. */
export function costOf(row: TraceRow): string {
  const { costMicroUsd } = totalsOf(row);
  return costMicroUsd === 0 ? "" : formatShortCost(costMicroUsd);
}
