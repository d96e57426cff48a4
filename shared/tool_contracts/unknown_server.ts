import { SwarmError } from "../errors/swarm_error.ts";

/** The error for a slug that no active registry row has. */
export function unknownServer(server: string): SwarmError {
  return new SwarmError("TOOL_NOT_FOUND", `There is no active tool server '${server}'`, {
    hint: "Use another one; GET /functions/v1/mcp-execute lists them.",
  });
}
