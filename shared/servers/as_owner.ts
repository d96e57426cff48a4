import type { TransactionSql } from "../vendor/postgres.js";
import type { ToolContext } from "../gateway/tool_contracts/internal_server.ts";

const SERVICE_CLAIMS = JSON.stringify({ role: "service_role", supaswarm_actor: "service" });

/**
 * Runs a transaction that sees and changes only what the caller owns. A secret key without a user
 * sees everything, as elsewhere; an agent without a user sees nothing, because its task's texts
 * must not reach other people's jobs.
 *
 * @throws SwarmError `CALLER_REQUIRED` inside a task without a user.
 */
export async function asOwner<T>(
  context: ToolContext,
  access: "read" | "write",
  work: (sql: TransactionSql) => Promise<T>,
): Promise<T> {
  const { userId, taskId, agentId, isService } = context.caller;
  if (!isService || userId !== null || taskId !== null || agentId !== null) {
    return await context.runAsCaller(work, { isReadOnly: access === "read" });
  }
  const mode = access === "read" ? "read only" : "read write";
  // postgres.js widens the result type to that of arrays of queries.
  return await context.sql.begin(mode, async (sql) => {
    await sql`select set_config('request.jwt.claims', ${SERVICE_CLAIMS}, true)`;
    await sql`set local role service_role`;
    return await work(sql);
  }) as T;
}
