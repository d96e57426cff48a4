import type { Caller } from "../http/authenticate.ts";
import type { ToolCaller } from "../tool_contracts/tool_caller.ts";

/** What a request may say of its call beside who it is. */
export interface CallerDetails {
  readonly clientName?: string | null;
  readonly sessionId?: string | null;
  /** Its calls belong together although they name no session. @default false */
  readonly joinsSession?: boolean;
  /** Only of a secret key; whoever takes the request has seen to that. */
  readonly onBehalfOf?: string | null;
  /** As `onBehalfOf`. */
  readonly agentId?: string | null;
  /** As `onBehalfOf`. */
  readonly taskId?: string | null;
}

/** As whom a call through an endpoint acts. */
export function toToolCaller(caller: Caller, details: CallerDetails): ToolCaller {
  const { clientName = null, sessionId = null, joinsSession = false } = details;
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
        joinsSession,
        isService: false,
      };
    case "agent":
      return {
        userId: caller.userId,
        clientId: caller.clientId,
        agentId: caller.agentId,
        taskId: caller.taskId,
        sessionId,
        clientName,
        joinsSession,
        isService: false,
        isAgent: true,
      };
    case "service":
      return {
        userId: details.onBehalfOf ?? null,
        clientId: null,
        agentId: details.agentId ?? null,
        taskId: details.taskId ?? null,
        sessionId,
        clientName,
        joinsSession,
        isService: true,
      };
  }
}
