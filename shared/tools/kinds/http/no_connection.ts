import { SwarmError } from "../../../errors/swarm_error.ts";
import { isJsonObject } from "../../../json.ts";

const REASON = "no_connection";

/** The error for a server to which no connection came about: nothing was sent. */
export function noConnection(what: string, hint: string, cause: unknown): SwarmError {
  return new SwarmError("TOOL_UNAVAILABLE", `Cannot reach ${what}`, {
    hint,
    cause,
    details: { reason: REASON },
  });
}

/** Whether an error is one of {@linkcode noConnection}, so that trying again repeats nothing. */
export function isNoConnection({ details }: SwarmError): boolean {
  return isJsonObject(details) && details.reason === REASON;
}
