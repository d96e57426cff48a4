import { SwarmError } from "../../platform/errors/swarm_error.ts";

/**
 * Creates the error for a server that requires the user's own account, which is not (or no longer)
 * connected.
 */
export function authorizationRequired(server: string): SwarmError {
  return new SwarmError(
    "AUTHORIZATION_REQUIRED",
    `Cannot use the tool server '${server}': the user has to connect their own account first`,
    {
      hint: `POST {"server": "${server}"} to /functions/v1/mcp-oauth as that user and open ` +
        "authorization_url.",
      details: { server, connect_at: "/functions/v1/mcp-oauth" },
    },
  );
}
