/** The oldest Deno that runs the programs, and the one that npm gets where there is none. */
export const DENO_VERSION = "2.9.6";
