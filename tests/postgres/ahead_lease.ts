/** Lease of the worker that is killed with tasks claimed ahead. */
export const AHEAD_LEASE_SECONDS = 2;
