import { randomBytes } from "node:crypto";
import type { Sql } from "../../../../platform/db/sql_client.ts";
import { toSwarmError } from "../../../../platform/db/to_swarm_error.ts";
import type { ServerCall } from "../../../tool_contracts/tool_server.ts";
import { sha256Hex } from "../../../../platform/values/sha256_hex.ts";

/** How much longer than the call its token is valid, so that the callee can finish its work. */
const GRACE_SECONDS = 30;

/**
 * Creates the token that a callee gets with a call: it identifies this call's user, task and tool,
 * expires soon after the call's timeout, and has the rights of an agent.
 *
 * @param tool `tools.slug`.
 * @throws DATABASE_UNAVAILABLE
 */
export async function issueToolToken(
  sql: Sql,
  tool: string,
  { caller, executionId, timeoutMs }: ServerCall,
): Promise<string> {
  const token = `swt_${randomBytes(32).toString("base64url")}`;
  const call = {
    user_id: caller.userId,
    agent_id: caller.agentId,
    task_id: caller.taskId,
    client_id: caller.clientId,
    tool,
    execution_id: executionId,
  };
  try {
    await sql`
      select private.issue_tool_token(
        p_call => ${sql.json(call)},
        p_token_hash => ${sha256Hex(token)},
        p_seconds => ${timeoutMs / 1_000 + GRACE_SECONDS}
      )`;
  } catch (error) {
    throw toSwarmError(error, "call the edge function");
  }
  return token;
}
