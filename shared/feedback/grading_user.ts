import { agentNotAllowed } from "../http/agent_credential.ts";
import { SwarmError } from "../errors/swarm_error.ts";
import type { Caller } from "../http/authenticate.ts";
import type { FeedbackRequest } from "./feedback_request.ts";

/**
 * As whom a request grades, which must be whom the call acted as; null: the service.
 *
 * @throws FORBIDDEN for a user who would pass for somebody else.
 */
export function gradingUser(request: FeedbackRequest, caller: Caller): string | null {
  if (caller.kind === "service") return request.on_behalf_of ?? null;
  if (caller.kind === "agent") {
    throw agentNotAllowed("grade the tool call", "Grades are people's judgement of agents.");
  }
  if (request.on_behalf_of === undefined) return caller.userId;
  throw new SwarmError(
    "FORBIDDEN",
    "Cannot grade the tool call with on_behalf_of: that takes a secret key",
    { hint: "Leave out on_behalf_of, or call from a server with a secret key." },
  );
}
