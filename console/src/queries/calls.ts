// deno-lint-ignore-file explicit-module-boundary-types -- a query has the type of its answer
import { useInfiniteQuery, useQuery } from "@tanstack/vue-query";
import { computed, type Ref } from "vue";
import type { PlatformSchema } from "../../../client/mod.ts";
import { projectClient } from "../project/project_client.ts";
import { dataOf } from "../project/request_error.ts";
import { localDayStart } from "./job_filters.ts";
import { PLAN_COLUMNS, type PlannedCall } from "./plans_of_runs.ts";

const PAGE_SIZE = 50;
const COLUMNS = "id,mcp_name,tool_name,tool_version,status,error_message,execution_time_ms," +
  "created_at,task_id,step_seq,feedback_token,llm_model,is_try," +
  PLAN_COLUMNS;

/** How a call ended. */
type CallStatus = PlatformSchema["Tables"]["mcp_executions"]["Row"]["status"];

/** A row of the call ledger. */
export interface Call extends PlannedCall {
  readonly id: string;
  readonly mcp_name: string;
  readonly tool_name: string;
  readonly tool_version: string | null;
  readonly status: CallStatus;
  readonly error_message: string | null;
  readonly execution_time_ms: number;
  readonly created_at: string;
  readonly task_id: string | null;
  readonly step_seq: number | null;
  readonly feedback_token: string;
  readonly llm_model: string | null;
  /** A call of a draft that was not saved. */
  readonly is_try: boolean;
}

/** The filters of the ledger. */
export interface CallFilters {
  readonly server: string;
  readonly tool: string;
  readonly status: string;
  /** A local day, such as `2026-11-22`, or empty. */
  readonly from: string;
  readonly to: string;
}

/** The user's calls, newest first, page by page. */
export function useCalls(filters: Ref<CallFilters>) {
  return useInfiniteQuery({
    queryKey: computed(() => ["calls", filters.value]),
    queryFn: async ({ pageParam }) => {
      const { server, tool, status, from, to } = filters.value;
      let request = projectClient().from("mcp_executions").select(COLUMNS)
        .order("created_at", { ascending: false }).order("id", { ascending: false })
        .limit(PAGE_SIZE);
      if (server !== "") request = request.eq("mcp_name", server);
      if (tool !== "") request = request.eq("tool_name", tool);
      if (status !== "") request = request.eq("status", status as CallStatus);
      if (from !== "") request = request.gte("created_at", localDayStart(from));
      if (to !== "") request = request.lt("created_at", localDayStart(to, 1));
      if (pageParam !== null) {
        const { at, id } = pageParam;
        request = request.or(`created_at.lt."${at}",and(created_at.eq."${at}",id.lt.${id})`);
      }
      return dataOf(await request) as unknown as Call[];
    },
    initialPageParam: null as { at: string; id: string } | null,
    getNextPageParam: (page) => {
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE_SIZE) return undefined;
      return { at: last.created_at, id: last.id };
    },
  });
}

/** One call with its arguments, answer and failures. */
export function useCall(id: Ref<string>) {
  return useQuery({
    queryKey: computed(() => ["calls", "one", id.value]),
    queryFn: async () => {
      const client = projectClient();
      const [call, failures] = await Promise.all([
        client.from("mcp_executions").select(`${COLUMNS},request_data,response_data`)
          .eq("id", id.value).maybeSingle(),
        client.from("mcp_failures").select("error_type,error_code,error_details,retry_attempt")
          .eq("execution_id", id.value),
      ]);
      const row = dataOf({ ...call, data: call.data ?? false }) as unknown as
        | (Call & { readonly request_data: unknown; readonly response_data: unknown })
        | false;
      return { call: row === false ? null : row, failures: dataOf(failures) };
    },
    enabled: computed(() => id.value !== ""),
  });
}
