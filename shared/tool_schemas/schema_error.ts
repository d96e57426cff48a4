import { SwarmError } from "../errors/swarm_error.ts";

/** A schema of which no function can be made. */
export function unusableSchema(reason: string): SwarmError {
  return new SwarmError("TOOL_CONFIG_INVALID", `Cannot offer the tool to a model: ${reason}`, {
    hint: "Ask the tool's maker for a self-contained JSON Schema of its arguments.",
  });
}
