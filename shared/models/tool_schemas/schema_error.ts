import { SwarmError } from "../../platform/errors/swarm_error.ts";

/** Creates the error for a schema that cannot be converted to a function. */
export function unusableSchema(reason: string): SwarmError {
  return new SwarmError("TOOL_CONFIG_INVALID", `Cannot offer the tool to a model: ${reason}`, {
    hint: "Ask the tool's provider for a self-contained JSON Schema of its arguments.",
  });
}
