import { FUNCTION_NAMES } from "../../platform/values/function_names.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";

/** Creates the error for a slug without an active registry row. */
export function unknownServer(server: string): SwarmError {
  return new SwarmError(
    "TOOL_NOT_FOUND",
    `Tool server '${server}' not found: no active tool has this slug`,
    {
      hint: `Use another one; GET /functions/v1/${FUNCTION_NAMES.execute} lists them.`,
    },
  );
}
