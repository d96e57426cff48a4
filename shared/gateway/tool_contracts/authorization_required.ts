import { FUNCTION_NAMES } from "../../platform/values/function_names.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";

/**
 * Creates the error for a server that requires the user's own account, which is not (or no longer)
 * connected.
 */
export function authorizationRequired(server: string): SwarmError {
  const path = `/functions/v1/${FUNCTION_NAMES.oauth}`;
  return new SwarmError(
    "AUTHORIZATION_REQUIRED",
    `Cannot use the tool server '${server}': the user has to connect their own account first`,
    {
      hint: `POST {"server": "${server}"} to ${path} as that user and open authorization_url.`,
      details: { server, connect_at: path },
    },
  );
}
