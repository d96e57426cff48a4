import { agentNotAllowed } from "../../platform/http/agent_credential.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import type { Caller } from "../../platform/http/authenticate.ts";
import type { FeedbackRequest } from "./feedback_request.ts";

/**
 * The grading user, which must be the user that the call acted as; null is the service.
 *
 * @throws FORBIDDEN for a user who tries to act as somebody else.
 */
export function gradingUser(request: FeedbackRequest, caller: Caller): string | null {
  if (caller.kind === "service") return request.on_behalf_of ?? null;
  if (caller.kind === "agent") {
    throw agentNotAllowed("grade the tool call", "Only people and the service can grade calls.");
  }
  if (request.on_behalf_of === undefined) return caller.userId;
  throw new SwarmError(
    "FORBIDDEN",
    "Cannot grade the tool call with on_behalf_of: this requires a secret key",
    { hint: "Omit on_behalf_of, or call from a server with a secret key." },
  );
}
