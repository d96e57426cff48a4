import { formatCost, formatCount, formatDuration, formatShare } from "../../format/numbers.ts";
import type { Whose } from "../../queries/job_filters.ts";
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

/** Dimensions with counts of tasks or jobs: models and tools have none. */
const WITH_TASKS: readonly UsageDimension[] = ["day", "owner", "agent", "revision", "job"];
/** What is known of the tool calls of all users, apart from their number. */
const WITH_TOOLS: readonly UsageDimension[] = ["day", "agent", "tool"];

interface ReportedMeasure extends UsageMeasure {
  /** @default those of both */
  readonly whose?: Whose;
  /** Dimensions of the report of all users. @default all */
  readonly ofAll?: readonly UsageDimension[];
  /** Dimensions of both reports. @default all */
  readonly dimensions?: readonly UsageDimension[];
}

const ALL_MEASURES: readonly ReportedMeasure[] = [
  column("cost_micro_usd", "Cost", formatCost),
  column("input_tokens", "Tokens in", formatCount),
  column("output_tokens", "Tokens out", formatCount),
  column("model_call_count", "Model calls", formatCount, "model_calls"),
  {
    ...column("unpriced_call_count", "Without price", formatCount, "unpriced_calls"),
    whose: "all",
  },
  { ...column("model_p50_ms", "Model p50", formatDuration), whose: "own" },
  { ...column("model_p95_ms", "Model p95", formatDuration), whose: "own" },
  {
    ...column("tool_call_count", "Tool calls", formatCount, "tool_calls"),
    ofAll: [...WITH_TOOLS, "owner"],
  },
  {
    key: "tool_success",
    name: "Tool success",
    of: toolSuccess,
    format: formatShare,
    ofAll: WITH_TOOLS,
  },
  { ...column("tool_p50_ms", "Tool p50", formatDuration), ofAll: WITH_TOOLS },
  { ...column("tool_p95_ms", "Tool p95", formatDuration), ofAll: WITH_TOOLS },
  { ...column("tool_p99_ms", "Tool p99", formatDuration), ofAll: WITH_TOOLS },
  {
    ...column("task_count", "Tasks", formatCount, "tasks"),
    whose: "own",
    dimensions: WITH_TASKS,
  },
  { ...column("job_count", "Jobs", formatCount, "jobs"), whose: "all", dimensions: WITH_TASKS },
  {
    key: "task_success",
    name: "Task success",
    whose: "own",
    dimensions: WITH_TASKS,
    of: completedShare,
    format: formatShare,
  },
  {
    key: "job_success",
    name: "Job success",
    whose: "all",
    dimensions: WITH_TASKS,
    of: completedShare,
    format: formatShare,
  },
  { ...column("up_count", "Good", formatCount, "up"), ofAll: WITH_TOOLS },
  { ...column("down_count", "Bad", formatCount, "down"), ofAll: WITH_TOOLS },
  {
    ...column(
      "average_score",
      "Stars",
      (stars) => stars === null ? "–" : stars.toFixed(1),
      "stars",
    ),
    ofAll: WITH_TOOLS,
  },
];

/** A column of the report without conversion. */
function column(
  of: NumericColumn,
  name: string,
  format: UsageMeasure["format"],
  key: string = of,
): UsageMeasure {
  return { key, name, of: (line) => line[of] ?? null, format };
}

type NumericColumn = {
  [Name in keyof UsageLine]-?: UsageLine[Name] extends number | null | undefined ? Name : never;
}[keyof UsageLine];

/** The measures of each value of a dimension. */
export function measuresOf(whose: Whose, dimension: UsageDimension): readonly UsageMeasure[] {
  return ALL_MEASURES.filter((measure) =>
    (measure.whose ?? whose) === whose &&
    (measure.dimensions?.includes(dimension) ?? true) &&
    (whose === "own" || (measure.ofAll?.includes(dimension) ?? true))
  );
}

/** The share of tool calls that succeeded, without cancelled ones. */
function toolSuccess(line: UsageLine): number | null {
  const counted = (line.tool_call_count ?? 0) - (line.tool_cancelled_count ?? 0);
  return counted > 0 ? (line.tool_success_count ?? 0) / counted : null;
}

/** The share of tasks or jobs that completed, without cancelled ones. */
function completedShare(
  { completed_count: completed, failed_count: failed }: UsageLine,
): number | null {
  const ended = (completed ?? 0) + (failed ?? 0);
  return ended > 0 ? (completed ?? 0) / ended : null;
}
