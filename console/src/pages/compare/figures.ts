import { formatCount, formatNumber, formatShare } from "../../format/numbers.ts";
import type { ComparedJob } from "../../queries/compared_job.ts";
import type { TraceStep } from "../job/trace/trace_model.ts";

/** A measure of two jobs, as texts. */
export interface Figure {
  readonly label: string;
  readonly first: string;
  readonly second: string;
  /** The second minus the first; empty if one of them is unknown. */
  readonly difference: string;
  /** The difference as a share of the first; empty if there is none. */
  readonly share: string;
}

interface Measure {
  readonly label: string;
  readonly of: (job: ComparedJob) => number | null;
  readonly format: (amount: number) => string;
}

const MICRO = 1_000_000;
const MS = 1_000;

const MEASURES: readonly Measure[] = [
  {
    label: "Time",
    of: ({ task }) => msBetween(task.started_at, task.finished_at),
    format: seconds,
  },
  { label: "Time of model calls", of: ({ steps }) => timeOf(steps, isModelCall), format: seconds },
  { label: "Time of tool calls", of: ({ steps }) => timeOf(steps, isToolCall), format: seconds },
  { label: "Cost", of: ({ usage }) => usage?.cost_micro_usd ?? null, format: dollars },
  { label: "Input tokens", of: ({ usage }) => usage?.input_tokens ?? null, format: formatCount },
  {
    label: "Cached input tokens",
    of: ({ steps }) => sum(steps, ({ usage }) => usage?.cached_input_tokens ?? 0),
    format: formatCount,
  },
  { label: "Output tokens", of: ({ usage }) => usage?.output_tokens ?? null, format: formatCount },
  { label: "Tasks", of: ({ tasks }) => tasks.length, format: formatCount },
  { label: "Steps", of: ({ steps }) => steps.length, format: formatCount },
  {
    label: "Model calls",
    of: ({ steps }) => steps.filter(isModelCall).length,
    format: formatCount,
  },
  { label: "Tool calls", of: ({ steps }) => steps.filter(isToolCall).length, format: formatCount },
  {
    label: "Failed steps",
    of: ({ steps }) => steps.filter(({ state }) => state === "failed").length,
    format: formatCount,
  },
];

/** The measures of two jobs, exact: no amount is rounded to fewer digits than it has. */
export function figuresOf(first: ComparedJob, second: ComparedJob): Figure[] {
  return MEASURES.map(({ label, of, format }) => {
    const [before, after] = [of(first), of(second)];
    const change = before === null || after === null ? null : after - before;
    return {
      label,
      first: before === null ? "–" : format(before),
      second: after === null ? "–" : format(after),
      difference: change === null ? "" : signed(change, format),
      share: change && before ? signed(change / before, formatShare) : "",
    };
  });
}

function signed(amount: number, format: Measure["format"]): string {
  if (amount === 0) return "0";
  return `${amount < 0 ? "−" : "+"}${format(Math.abs(amount))}`;
}

function isModelCall({ kind }: TraceStep): boolean {
  return kind === "model";
}

function isToolCall({ kind }: TraceStep): boolean {
  return kind === "tool";
}

function timeOf(steps: readonly TraceStep[], isWanted: (step: TraceStep) => boolean): number {
  return sum(steps.filter(isWanted), (step) => msBetween(step.started_at, step.ended_at) ?? 0);
}

function msBetween(from: string | null, to: string | null): number | null {
  return from === null || to === null ? null : Date.parse(to) - Date.parse(from);
}

function sum<Item>(items: readonly Item[], of: (item: Item) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}

function seconds(durationMs: number): string {
  return `${formatNumber(durationMs / MS)} s`;
}

function dollars(microUsd: number): string {
  return `$${formatNumber(microUsd / MICRO)}`;
}
