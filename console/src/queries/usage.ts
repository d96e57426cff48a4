// deno-lint-ignore-file explicit-module-boundary-types -- a query has the type of its answer
import { useQuery } from "@tanstack/vue-query";
import { computed, type Ref } from "vue";
import { projectClient } from "../project/project_client.ts";
import { dataOf } from "../project/request_error.ts";
import type { Whose } from "./job_filters.ts";

/** The dimensions of a usage report; operators have no jobs, and owners and revisions instead. */
export type UsageDimension = "day" | "owner" | "agent" | "revision" | "model" | "tool" | "job";

/** The usage of one value of a dimension, of the user or of all users. */
export interface UsageLine {
  readonly label: string;
  readonly name: string | null;
  readonly model_call_count: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_micro_usd: number | null;
  /** Only of all users: calls of models without a price. */
  readonly unpriced_call_count?: number;
  /** Only of the user, as its other percentiles. */
  readonly model_p50_ms?: number | null;
  readonly model_p95_ms?: number | null;
  readonly model_p99_ms?: number | null;
  /** Null where it is not known by the dimension. */
  readonly tool_call_count: number | null;
  readonly tool_success_count: number | null;
  readonly tool_cancelled_count: number | null;
  readonly tool_p50_ms: number | null;
  readonly tool_p95_ms: number | null;
  readonly tool_p99_ms: number | null;
  readonly up_count: number | null;
  readonly down_count: number | null;
  readonly average_score: number | null;
  /** Of the user, with subtasks. */
  readonly task_count?: number;
  /** Of all users. */
  readonly job_count?: number | null;
  readonly completed_count: number | null;
  readonly failed_count: number | null;
}

/** The maximum number of days, agents, models, tools or jobs in a table. */
export const USAGE_LIMIT = 400;
const DAY_MS = 86_400_000;

/** A usage report. */
export interface UsageRequest {
  readonly whose: Whose;
  readonly dimension: UsageDimension;
  /** Until today, in UTC. */
  readonly days: number;
}

/** The usage of the user, or to an operator that of all users, in the last days. */
export function useUsage(request: Ref<UsageRequest>) {
  return useQuery({
    queryKey: computed(() => ["usage", request.value]),
    queryFn: () => readUsage(request.value),
  });
}

async function readUsage({ whose, dimension, days }: UsageRequest): Promise<UsageLine[]> {
  // A UTC day, so that the first one is complete.
  const from = new Date(Date.now() - (days - 1) * DAY_MS).toISOString().slice(0, 10);
  const asked = { p_by: dimension, p_limit: USAGE_LIMIT };
  // In the generated types of both reports every column is nullable.
  if (whose === "all") {
    return dataOf(
      await projectClient().rpc("operator_usage_report", { ...asked, p_from: from }),
    ) as UsageLine[];
  }
  return dataOf(
    await projectClient().rpc("usage_report", { ...asked, p_from: `${from}T00:00:00Z` }),
  ) as UsageLine[];
}

/** A spending cap of a policy, and what was spent. */
export interface SpendingCap {
  readonly provider: string;
  /** Null: all models of the provider. */
  readonly model: string | null;
  /** Null: all users together. */
  readonly owner_email: string | null;
  readonly cap_micro_usd: number;
  readonly cap_period: string;
  /** Null until the first call under the cap. */
  readonly spent_micro_usd: number | null;
  readonly reserved_micro_usd: number;
}

/** The spending caps of the project, for operators. */
export function useSpendingCaps() {
  return useQuery({
    queryKey: ["usage", "caps"],
    queryFn: async () =>
      dataOf(
        await projectClient().from("operator_budgets").select("*"),
      ) as unknown as readonly SpendingCap[],
  });
}
