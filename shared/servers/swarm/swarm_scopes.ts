/** What every tool of the swarm needs. */
export const SWARM_SCOPES: readonly string[] = ["swarm:run"];
