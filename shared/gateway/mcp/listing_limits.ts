/** Servers listed in parallel; more would hold too many long lists in memory. */
export const CONCURRENT_LISTINGS = 32;
/** How long the list of all servers waits for a server that was never listed. */
export const FIRST_WAIT_MS = 5_000;
