import { SwarmError } from "../../../../platform/errors/swarm_error.ts";
import { isJsonObject } from "../../../../platform/values/json.ts";

const REASON = "no_connection";

/** Creates the error for a server that could not be connected: nothing was sent. */
export function noConnection(what: string, hint: string, cause: unknown): SwarmError {
  return new SwarmError("TOOL_UNAVAILABLE", `Cannot reach ${what}`, {
    hint,
    cause,
    details: { reason: REASON },
  });
}

/** Whether an error is from {@linkcode noConnection}, so that a retry repeats nothing. */
export function isNoConnection({ details }: SwarmError): boolean {
  return isJsonObject(details) && details.reason === REASON;
}
