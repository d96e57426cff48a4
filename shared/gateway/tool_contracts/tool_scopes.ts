import { SwarmError } from "../../platform/errors/swarm_error.ts";

/**
 * The scopes that a call requires: for an internal tool its own, otherwise the scope of its server.
 * The same holds inside a task, where both the owner's grant and the agent's `agent_tools` row
 * apply.
 */
export function scopesOf(
  server: { readonly slug: string; readonly type: string },
  ownScopes: readonly string[],
): readonly string[] {
  return server.type === "internal" ? ownScopes : [`mcp:${server.slug}`];
}

/** Includes every other scope. */
const EVERY_SCOPE = "admin:*";

/** The required scopes that are not granted (null means that all are granted). */
export function missingScopes(
  needed: readonly string[],
  granted: readonly string[] | null,
): readonly string[] {
  if (granted === null || granted.includes(EVERY_SCOPE)) return [];
  return needed.filter((scope) => !granted.includes(scope));
}

/** Creates the error for a caller that lacks scopes; it lists all of them. */
export function insufficientScope(action: string, missing: readonly string[]): SwarmError {
  const several = missing.length > 1 ? "scopes" : "scope";
  return new SwarmError(
    "INSUFFICIENT_SCOPE",
    `Cannot ${action}: the caller lacks the ${several} ${missing.join(", ")}`,
    {
      hint:
        "Ask an operator to add it with grant_scopes(); an agent has what its task's owner has.",
      details: { missing_scopes: [...missing] },
    },
  );
}
