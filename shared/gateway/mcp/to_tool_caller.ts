import type { Caller } from "../../platform/http/authenticate.ts";
import type { ToolCaller } from "../tool_contracts/tool_caller.ts";

/** Details of a call in addition to the caller's identity. */
export interface CallerDetails {
  readonly clientName?: string | null;
  readonly sessionId?: string | null;
  /** Its calls belong together although they have no session id. @default false */
  readonly joinsSession?: boolean;
  /** Only with a secret key; the endpoint must have checked that. */
  readonly onBehalfOf?: string | null;
  /** As `onBehalfOf`. */
  readonly agentId?: string | null;
  /** As `onBehalfOf`. */
  readonly taskId?: string | null;
}

/** The identity that a call through an endpoint acts as. */
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
