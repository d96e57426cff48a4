// deno-lint-ignore-file explicit-module-boundary-types -- a query has the type of its answer
import { useQuery } from "@tanstack/vue-query";
import { projectClient } from "../project/project_client.ts";
import { dataOf } from "../project/request_error.ts";
import { PLAN_COLUMNS, type PlannedCall } from "./plans_of_runs.ts";

const HISTORY_LIMIT = 50;

/** A statement that the user ran or planned. */
export interface PastStatement extends PlannedCall {
  readonly id: string;
  readonly sql: string | null;
  readonly status: string;
  readonly error_message: string | null;
  readonly execution_time_ms: number;
  readonly created_at: string;
}

/** The user's latest calls of `execute_sql`, from the ledger. */
export function useStatementHistory() {
  return useQuery({
    queryKey: ["calls", "statements"],
    queryFn: async () =>
      dataOf(
        await projectClient().from("mcp_executions").select(
          "id,status,error_message,execution_time_ms,created_at," +
            `sql:request_data->>sql,${PLAN_COLUMNS}`,
        ).eq("mcp_name", "supabase").eq("tool_name", "execute_sql")
          .order("created_at", { ascending: false }).order("id", { ascending: false })
          .limit(HISTORY_LIMIT),
      ) as unknown as PastStatement[],
  });
}

/** Approves a statement that waits for its owner, so that it can run. @throws RequestError */
export async function approveStatement(confirmationId: string): Promise<void> {
  const answer = await projectClient().rpc("approve_statement", {
    p_confirmation_id: confirmationId,
    p_approved: true,
  });
  dataOf({ ...answer, data: true });
}
