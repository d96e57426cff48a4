// deno-lint-ignore-file explicit-module-boundary-types -- a query has the type of its answer
import { useQuery } from "@tanstack/vue-query";
import { computed, type Ref } from "vue";
import { projectClient } from "../project/project_client.ts";
import { dataOf } from "../project/request_error.ts";

const ROW_LIMIT = 1_000;
const DAY_MS = 86_400_000;

/** What models and tools used in the last days, by day. */
export function useUsage(days: Ref<number>) {
  return useQuery({
    queryKey: computed(() => ["usage", days.value]),
    queryFn: async () => {
      const since = new Date(Date.now() - days.value * DAY_MS).toISOString().slice(0, 10);
      const client = projectClient();
      const [models, tools] = await Promise.all([
        client.from("agent_usage")
          .select("day,agent_slug,model,call_count,input_tokens,output_tokens,cost_micro_usd")
          .gte("day", since).order("day").limit(ROW_LIMIT),
        client.from("tool_usage")
          .select(
            "day,mcp_name,tool_name,call_count,success_count,cost_micro_usd,p50_ms,p95_ms," +
              "up_count,down_count,average_score",
          )
          .gte("day", since).order("day").limit(ROW_LIMIT),
      ]);
      return {
        models: dataOf(models),
        tools: dataOf(tools) as unknown as ToolUsageRow[],
        isCut: dataOf(models).length === ROW_LIMIT || dataOf(tools).length === ROW_LIMIT,
      };
    },
  });
}

/** The calls of one tool on one day. */
export interface ToolUsageRow {
  readonly day: string;
  readonly mcp_name: string;
  readonly tool_name: string;
  readonly call_count: number;
  readonly success_count: number;
  readonly cost_micro_usd: number | null;
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
  readonly up_count: number;
  readonly down_count: number;
  readonly average_score: number | null;
}
