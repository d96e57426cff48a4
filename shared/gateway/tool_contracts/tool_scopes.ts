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
  return server.type === "internal" ? ownScopes : [`${SERVER_SCOPE}${server.slug}`];
}

/** A scope for all tools of a server begins with it. */
const SERVER_SCOPE = "mcp:";

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
    `Cannot ${action}: the caller lacks the ${several} ${missing.join(", ")}` +
      // The warnings of a task have no hints.
      (areOfServers(missing)
        ? "; audience: everyone in the tool's file grants it to all users"
        : ""),
    {
      hint: `${remedyOfScopes(missing)} An agent has what its task's owner has.`,
      details: { missing_scopes: [...missing] },
    },
  );
}

/** What an operator does about missing scopes. */
export function remedyOfScopes(missing: readonly string[]): string {
  return areOfServers(missing)
    ? "Write audience: everyone into the tool's file (or its entry of external-mcps.yaml) and push " +
      "it, or grant the scope to some with grant_scopes()."
    : "Ask an operator to add it with grant_scopes().";
}

function areOfServers(scopes: readonly string[]): boolean {
  return scopes.every((scope) => scope.startsWith(SERVER_SCOPE));
}
