import { SwarmError } from "../errors/swarm_error.ts";

/**
 * What a call needs: an internal tool its own scopes, anything else the scope of its server. It is
 * the same inside a task, where the owner's grant and the agent's `agent_tools` row both count.
 */
export function scopesOf(
  server: { readonly slug: string; readonly type: string },
  ownScopes: readonly string[],
): readonly string[] {
  return server.type === "internal" ? ownScopes : [`mcp:${server.slug}`];
}

/** Includes every other scope. */
const EVERY_SCOPE = "admin:*";

/** Those of the needed scopes that the granted ones do not cover (null: all are granted). */
export function missingScopes(
  needed: readonly string[],
  granted: readonly string[] | null,
): readonly string[] {
  if (granted === null || granted.includes(EVERY_SCOPE)) return [];
  return needed.filter((scope) => !granted.includes(scope));
}

/** The error for a caller who lacks scopes; it names all of them. */
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
