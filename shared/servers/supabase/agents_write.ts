import { ApprovalRequired } from "../../gateway/tool_contracts/approval.ts";
import type { ToolContext } from "../../gateway/tool_contracts/internal_server.ts";
import { actorOfCall } from "../../gateway/tool_contracts/tool_caller.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import type { JsonObject } from "../../platform/values/json.ts";
import { READ_SCOPES, WRITE_SCOPES } from "./sql_scopes.ts";

/** Whether an agent calls. It gets no confirmation token: a person or a rule approves its writes. */
export function isByAgent({ caller }: ToolContext): boolean {
  return actorOfCall(caller) === "agent";
}

/** An agent's write. */
export interface AgentsWrite {
  /** The token that the agent sent. */
  readonly token: string | null;
  /** The SQL policy requires the owner's approval, so that no rule can waive it. */
  readonly needsApproval: boolean;
  /** What its dry run shows to the person who decides. */
  readonly shown: JsonObject;
}

/**
 * Lets an agent's write run only with a person's approval, or that of a rule.
 *
 * @throws ApprovalRequired; SwarmError `AGENT_NOT_ALLOWED` for a token, which is a person's.
 */
export function assertAgentMayWrite(
  { approval }: ToolContext,
  { token, needsApproval, shown }: AgentsWrite,
): void {
  if (token !== null) {
    throw new SwarmError("AGENT_NOT_ALLOWED", "Cannot run the write: an agent cannot confirm it", {
      hint: "Send the call without confirmation_token: its owner is asked.",
    });
  }
  if (approval === "given" || (approval === "waived" && !needsApproval)) return;
  throw new ApprovalRequired({
    reasons: [needsApproval ? "sql_policy" : "write"],
    scopes: [...READ_SCOPES, ...WRITE_SCOPES],
    shown,
  });
}
