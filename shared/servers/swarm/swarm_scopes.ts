/** The scopes that every tool of the swarm requires. */
export const SWARM_SCOPES: readonly string[] = ["swarm:run"];
