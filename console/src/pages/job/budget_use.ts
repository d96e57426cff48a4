import { formatCost, formatCount, formatDuration } from "../../format/numbers.ts";

/** The spending of a job so far. */
export interface JobSpending {
  readonly costMicroUsd: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly taskCount: number;
  readonly wallMs: number;
}

/** A cap in a job's budget, and how much of it is used. */
export interface BudgetUse {
  readonly label: string;
  /** Such as `$0.10 of $1.00`. */
  readonly text: string;
  /** Null for a per-task cap, which has no total for the job. */
  readonly used: number | null;
  /** Between 0 and 1; higher when the cap was exceeded. */
  readonly share: number;
}

const CAPS: readonly {
  readonly cap: string;
  readonly label: string;
  format(amount: number): string;
  usedOf(spending: JobSpending): number | null;
}[] = [
  {
    cap: "max_cost_micro_usd",
    label: "Cost",
    format: formatCost,
    usedOf: ({ costMicroUsd }) => costMicroUsd,
  },
  {
    cap: "max_input_tokens",
    label: "Tokens in",
    format: formatCount,
    usedOf: ({ inputTokens }) => inputTokens,
  },
  {
    cap: "max_output_tokens",
    label: "Tokens out",
    format: formatCount,
    usedOf: ({ outputTokens }) => outputTokens,
  },
  { cap: "max_tasks", label: "Tasks", format: formatCount, usedOf: ({ taskCount }) => taskCount },
  {
    cap: "max_wall_seconds",
    label: "Time",
    format: (seconds) => formatDuration(seconds * 1_000),
    usedOf: ({ wallMs }) => wallMs / 1_000,
  },
  { cap: "max_steps", label: "Steps per task", format: formatCount, usedOf: () => null },
  { cap: "max_depth", label: "Subtask depth", format: formatCount, usedOf: () => null },
];

/** The caps of a budget, in a fixed order. */
export function budgetUses(
  budget: Readonly<Record<string, unknown>> | null,
  spending: JobSpending,
): BudgetUse[] {
  return CAPS.flatMap(({ cap, label, format, usedOf }) => {
    const limit = budget?.[cap];
    if (typeof limit !== "number") return [];
    const used = usedOf(spending);
    const text = used === null ? `at most ${format(limit)}` : `${format(used)} of ${format(limit)}`;
    return [{ label, text, used, share: used === null ? 0 : limit > 0 ? used / limit : 1 }];
  });
}
