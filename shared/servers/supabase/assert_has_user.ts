import { SwarmError } from "../../platform/errors/swarm_error.ts";
import type { ToolContext } from "../../gateway/tool_contracts/internal_server.ts";

/**
 * Refuses a call without a user, whose rights the SQL needs.
 *
 * @param act What was attempted, for the message.
 * @throws SwarmError `CALLER_REQUIRED`
 */
export function assertHasUser({ caller }: Pick<ToolContext, "caller">, act: string): void {
  if (caller.userId !== null) return;
  throw new SwarmError(
    "CALLER_REQUIRED",
    `Cannot ${act} without a user: the statement gets a user's rights`,
    { hint: "Call as a signed-in user, or with a secret key on_behalf_of one." },
  );
}
