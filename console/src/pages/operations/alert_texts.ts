import { formatCost, formatCount, formatDuration, formatShare } from "../../format/numbers.ts";
import type { Alert } from "../../queries/operations.ts";

const DAY_MS = 86_400_000;

/** Whether an alert was cleared in the last day. */
export function hasRecovered({ cleared_at: at }: Alert, nowMs: number): boolean {
  return at !== null && nowMs - Date.parse(at) < DAY_MS;
}

interface MeasureTexts {
  readonly name: string;
  readonly format: (value: number | null) => string;
  /** The list that explains the value; the agent is one of its filters. */
  readonly to: (agent: string | null) => { path: string; query: Record<string, string> };
}

const seconds = (value: number | null) => formatDuration(value === null ? null : value * 1_000);
const view = (name: string, more: Record<string, string> = {}) => (agent: string | null) => ({
  path: "/operations",
  query: { view: name, ...more, ...(agent !== null && { agent }) },
});

export const MEASURES: Readonly<Record<Alert["measure"], MeasureTexts>> = {
  failure_rate: {
    name: "Failure rate",
    format: formatShare,
    to: view("jobs", { status: "failed" }),
  },
  cost_usd: {
    name: "Cost",
    format: (value) => formatCost(value === null ? null : value * 1_000_000),
    to: view("jobs"),
  },
  oldest_waiting_seconds: { name: "Longest wait", format: seconds, to: view("stuck") },
  failing_seconds: { name: "Longest failing step", format: seconds, to: view("jobs") },
  dead_letters: { name: "Dead letters", format: formatCount, to: view("dead") },
  late_cron_seconds: { name: "Delay of cron", format: seconds, to: view("checks") },
};
