import type { Actor } from "../http/actor.ts";
import type { JsonObject } from "../json.ts";
import type { ToolCaller } from "./tool_port.ts";

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
