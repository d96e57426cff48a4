import type { Caller } from "../../http/authenticate.ts";
import type { ToolCaller } from "../../tools/tool_port.ts";

/** What a request may say of its call beside who it is. */
export interface CallerDetails {
  readonly clientName?: string | null;
  readonly sessionId?: string | null;
  /** Only of a secret key; whoever takes the request has seen to that. */
  readonly onBehalfOf?: string | null;
  /** As `onBehalfOf`. */
  readonly agentId?: string | null;
  /** As `onBehalfOf`. */
  readonly taskId?: string | null;
}

/** Who a call through a door acts as. */
export function toToolCaller(caller: Caller, details: CallerDetails): ToolCaller {
  const { clientName = null, sessionId = null } = details;
  switch (caller.kind) {
    case "user":
      return {
        userId: caller.userId,
        tokenClaims: caller.claims,
        clientId: caller.clientId,
        agentId: null,
        taskId: null,
        sessionId,
        clientName,
        isService: false,
      };
    case "service":
      return {
        userId: details.onBehalfOf ?? null,
        clientId: null,
        agentId: details.agentId ?? null,
        taskId: details.taskId ?? null,
        sessionId,
        clientName,
        isService: true,
      };
  }
}
