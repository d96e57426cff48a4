import type { Actor } from "../../platform/values/actor.ts";
import type { JsonObject } from "../../platform/values/json.ts";

/**
 * The identity that a tool call acts as. Endpoints fill it in after authentication; the gateway
 * itself reads the owner of `taskId` and the scopes.
 */
export interface ToolCaller {
  /** The user whose rights, limits and learned parameters apply; null is the service. */
  readonly userId: string | null;
  /** The claims of the user's own verified token; absent without a token. */
  readonly tokenClaims?: JsonObject;
  /** Only from a worker or a secret key. */
  readonly agentId: string | null;
  /** Only from a worker or a secret key. The call then acts as the task's owner, whatever `userId` says. */
  readonly taskId: string | null;
  /** OAuth client of the user's token (`client_id`); null if the token has none. */
  readonly clientId: string | null;
  /**
   * A UUID chosen by the client that groups its calls; the gateway creates the row of `sessions`.
   */
  readonly sessionId: string | null;
  /** The name that the calling program reports, for `sessions.client_name`. */
  readonly clientName: string | null;
  /** Calls without a session reuse the latest one of their user and program. @default false */
  readonly joinsSession?: boolean;
  /**
   * Authenticated by a secret key: outside tasks it has every scope, also on behalf of a user.
   * Inside a task the owner's scopes apply.
   */
  readonly isService: boolean;
  /**
   * A worker's guardrail check of an agent's input or output: `agent_guardrails` permits the call,
   * regardless of the agent's tools and the owner's scopes. Only from a worker. @default false
   */
  readonly isGuardrail?: boolean;
  /**
   * An agent's tool sent the request, which has no task id. @default derived from agentId and
   * taskId
   */
  readonly isAgent?: boolean;
}

/** The role in which a tool call acts. */
export function actorOfCall(caller: ToolCaller): Actor {
  const { agentId, taskId, isAgent = false, isService, clientId } = caller;
  if (isAgent || agentId !== null || taskId !== null) return "agent";
  if (isService) return "service";
  return clientId === null ? "user" : "client";
}

/**
 * The claims of a caller besides the user's id; `private.calling_actor()` and `private.has_scope()`
 * read them.
 */
export function claimsOfCall(caller: ToolCaller): JsonObject {
  return {
    supaswarm_actor: actorOfCall(caller),
    ...(caller.taskId === null ? {} : { supaswarm_task_id: caller.taskId }),
    ...(caller.clientId === null ? {} : { client_id: caller.clientId }),
  };
}
