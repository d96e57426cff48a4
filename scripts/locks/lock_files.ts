/**
 * The lock file of what users run, which Deno reads by default. Deno downloads all packages of a
 * lock file before it runs anything.
 */
export const COMMANDS_LOCK = "deno.lock";
/** The lock file with every package, also those of tests, benchmarks and checks. */
export const FULL_LOCK = "tests/deno.lock";
