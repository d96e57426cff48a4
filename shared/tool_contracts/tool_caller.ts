import type { Actor } from "../actor.ts";
import type { JsonObject } from "../json.ts";

/**
 * Who a tool call acts as. Endpoints fill it in from what they authenticated; the gateway itself reads
 * the owner of `taskId` and the scopes.
 */
export interface ToolCaller {
  /** Whose rights, limits and learned parameters hold; null: the service. */
  readonly userId: string | null;
  /** All that the user's own verified token says; absent where none came. */
  readonly tokenClaims?: JsonObject;
  /** Only from a worker or a secret key. */
  readonly agentId: string | null;
  /** Only from a worker or a secret key. The call then acts as the task's owner, whatever `userId` says. */
  readonly taskId: string | null;
  /** OAuth client of the user's token (`client_id`); null when the token names none. */
  readonly clientId: string | null;
  /** A UUID of the client's choice that groups its calls; the gateway makes the row of `sessions`. */
  readonly sessionId: string | null;
  /** What the calling program says it is, for `sessions.client_name`. */
  readonly clientName: string | null;
  /** Calls without a session join the last one of their user and program. @default false */
  readonly joinsSession?: boolean;
  /**
   * Authenticated by a secret key: outside tasks it has every scope, also on behalf of a user.
   * Inside a task the owner's scopes hold.
   */
  readonly isService: boolean;
  /**
   * A worker checks what an agent is asked or answers: `agent_guardrails` grants the call, whatever
   * the agent's tools and the owner's scopes. Only from a worker. @default false
   */
  readonly isGuardrail?: boolean;
  /** An agent's tool sent the request, which names no task. @default as agentId and taskId say */
  readonly isAgent?: boolean;
}

/** In which capacity a tool call acts. */
export function actorOfCall(caller: ToolCaller): Actor {
  const { agentId, taskId, isAgent = false, isService, clientId } = caller;
  if (isAgent || agentId !== null || taskId !== null) return "agent";
  if (isService) return "service";
  return clientId === null ? "user" : "client";
}

/**
 * What the database is told of a caller beside the user's id; `private.calling_actor()` and
 * `private.has_scope()` read it.
 */
export function claimsOfCall(caller: ToolCaller): JsonObject {
  return {
    supaswarm_actor: actorOfCall(caller),
    ...(caller.taskId === null ? {} : { supaswarm_task_id: caller.taskId }),
    ...(caller.clientId === null ? {} : { client_id: caller.clientId }),
  };
}
