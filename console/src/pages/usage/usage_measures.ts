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

const ALL_MEASURES:
  readonly (UsageMeasure & { readonly dimensions?: readonly UsageDimension[] })[] = [
    { key: "cost_micro_usd", name: "Cost", of: (line) => line.cost_micro_usd, format: formatCost },
    {
      key: "input_tokens",
      name: "Tokens in",
      of: (line) => line.input_tokens,
      format: formatCount,
    },
    {
      key: "output_tokens",
      name: "Tokens out",
      of: (line) => line.output_tokens,
      format: formatCount,
    },
    {
      key: "model_calls",
      name: "Model calls",
      of: (line) => line.model_call_count,
      format: formatCount,
    },
    {
      key: "model_p50_ms",
      name: "Model p50",
      of: (line) => line.model_p50_ms,
      format: formatDuration,
    },
    {
      key: "model_p95_ms",
      name: "Model p95",
      of: (line) => line.model_p95_ms,
      format: formatDuration,
    },
    {
      key: "tool_calls",
      name: "Tool calls",
      of: (line) => line.tool_call_count,
      format: formatCount,
    },
    { key: "tool_success", name: "Tool success", of: toolSuccess, format: formatShare },
    {
      key: "tool_p50_ms",
      name: "Tool p50",
      of: (line) => line.tool_p50_ms,
      format: formatDuration,
    },
    {
      key: "tool_p95_ms",
      name: "Tool p95",
      of: (line) => line.tool_p95_ms,
      format: formatDuration,
    },
    {
      key: "tool_p99_ms",
      name: "Tool p99",
      of: (line) => line.tool_p99_ms,
      format: formatDuration,
    },
    {
      key: "tasks",
      name: "Tasks",
      dimensions: ["day", "agent", "job"],
      of: (line) => line.task_count,
      format: formatCount,
    },
    {
      key: "task_success",
      name: "Task success",
      dimensions: ["day", "agent", "job"],
      of: taskSuccess,
      format: formatShare,
    },
    { key: "up", name: "Good", of: (line) => line.up_count, format: formatCount },
    { key: "down", name: "Bad", of: (line) => line.down_count, format: formatCount },
    {
      key: "stars",
      name: "Stars",
      of: (line) => line.average_score,
      format: (amount) => (amount === null ? "–" : amount.toFixed(1)),
    },
  ];

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
