// deno-lint-ignore-file explicit-module-boundary-types -- a query has the type of its answer
import { useQuery } from "@tanstack/vue-query";
import { computed, type Ref } from "vue";
import { projectClient } from "../project/project_client.ts";
import { dataOf } from "../project/request_error.ts";

/** The dimensions of a usage report. */
export type UsageDimension = "day" | "agent" | "model" | "tool" | "job";

/** The usage of one day, agent, model, tool or job. */
export interface UsageLine {
  readonly label: string;
  readonly name: string | null;
  readonly model_call_count: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_micro_usd: number | null;
  readonly model_p50_ms: number | null;
  readonly model_p95_ms: number | null;
  readonly model_p99_ms: number | null;
  readonly tool_call_count: number;
  readonly tool_success_count: number;
  readonly tool_cancelled_count: number;
  readonly tool_p50_ms: number | null;
  readonly tool_p95_ms: number | null;
  readonly tool_p99_ms: number | null;
  readonly up_count: number;
  readonly down_count: number;
  readonly average_score: number | null;
  readonly task_count: number;
  readonly completed_count: number;
  readonly failed_count: number;
}

/** The maximum number of days, agents, models, tools or jobs in a table. */
export const USAGE_LIMIT = 400;
const DAY_MS = 86_400_000;

/** The user's usage in the last days, by one dimension. */
export function useUsage(dimension: Ref<UsageDimension>, days: Ref<number>) {
  return useQuery({
    queryKey: computed(() => ["usage", dimension.value, days.value]),
    queryFn: async () =>
      dataOf(
        await projectClient().rpc("usage_report", {
          p_by: dimension.value,
          p_from: firstDay(days.value),
          p_limit: USAGE_LIMIT,
        }),
      ) as unknown as UsageLine[],
  });
}

/** Midnight in UTC, so that the first day is complete. */
function firstDay(days: number): string {
  const day = new Date(Date.now() - (days - 1) * DAY_MS);
  return `${day.toISOString().slice(0, 10)}T00:00:00Z`;
}
