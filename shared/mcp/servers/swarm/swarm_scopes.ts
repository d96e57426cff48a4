/** What every tool of the swarm needs outside tasks. */
export const SWARM_SCOPES: readonly string[] = ["swarm:run"];
