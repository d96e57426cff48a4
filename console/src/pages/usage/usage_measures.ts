import { formatCost, formatCount, formatDuration, formatShare } from "../../format/numbers.ts";
import type { UsageDimension, UsageLine } from "../../queries/usage.ts";

/** A measure of a usage line that has a column and can be charted. */
export interface UsageMeasure {
  /** Name of the column in an exported file and in the address. */
  readonly key: string;
  readonly name: string;
  /** Null if unknown. */
  of(line: UsageLine): number | null;
  format(amount: number | null): string;
}

/** Dimensions with task counts: models and tools have none. */
const WITH_TASKS: readonly UsageDimension[] = ["day", "agent", "job"];

const ALL_MEASURES: readonly (UsageMeasure & { readonly dimensions?: typeof WITH_TASKS })[] = [
  column("cost_micro_usd", "Cost", formatCost),
  column("input_tokens", "Tokens in", formatCount),
  column("output_tokens", "Tokens out", formatCount),
  column("model_call_count", "Model calls", formatCount, "model_calls"),
  column("model_p50_ms", "Model p50", formatDuration),
  column("model_p95_ms", "Model p95", formatDuration),
  column("tool_call_count", "Tool calls", formatCount, "tool_calls"),
  { key: "tool_success", name: "Tool success", of: toolSuccess, format: formatShare },
  column("tool_p50_ms", "Tool p50", formatDuration),
  column("tool_p95_ms", "Tool p95", formatDuration),
  column("tool_p99_ms", "Tool p99", formatDuration),
  { ...column("task_count", "Tasks", formatCount, "tasks"), dimensions: WITH_TASKS },
  {
    key: "task_success",
    name: "Task success",
    dimensions: WITH_TASKS,
    of: taskSuccess,
    format: formatShare,
  },
  column("up_count", "Good", formatCount, "up"),
  column("down_count", "Bad", formatCount, "down"),
  column("average_score", "Stars", (amount) => amount === null ? "–" : amount.toFixed(1), "stars"),
];

/** A column of the report without conversion. */
function column(
  of: NumericColumn,
  name: string,
  format: UsageMeasure["format"],
  key: string = of,
): UsageMeasure {
  return { key, name, of: (line) => line[of], format };
}

type NumericColumn = {
  [Name in keyof UsageLine]: UsageLine[Name] extends number | null ? Name : never;
}[keyof UsageLine];

/** The measures of each day, agent, model, tool or job. */
export function measuresOf(dimension: UsageDimension): readonly UsageMeasure[] {
  return ALL_MEASURES.filter(({ dimensions }) => dimensions?.includes(dimension) ?? true);
}

/** The share of tool calls that succeeded, without cancelled ones. */
function toolSuccess(line: UsageLine): number | null {
  const counted = line.tool_call_count - line.tool_cancelled_count;
  return counted > 0 ? line.tool_success_count / counted : null;
}

/** The share of tasks that completed, without cancelled ones. */
function taskSuccess(line: UsageLine): number | null {
  const ended = line.completed_count + line.failed_count;
  return ended > 0 ? line.completed_count / ended : null;
}
