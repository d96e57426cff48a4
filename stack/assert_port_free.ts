import { SwarmError } from "../shared/platform/errors/swarm_error.ts";

/**
 * Checks that a port is free, before anything else is started.
 *
 * @param port 0 is always free.
 * @throws SwarmError CONFIG_INVALID
 */
export function assertPortFree(port: number): void {
  try {
    Deno.listen({ hostname: "127.0.0.1", port }).close();
  } catch (cause) {
    if (!(cause instanceof Deno.errors.AddrInUse)) throw cause;
    throw new SwarmError("CONFIG_INVALID", `Cannot serve on port ${port}: it is already in use`, {
      hint: "Choose another port with --port (the database takes the next one), or --port 0 for " +
        "any free ports.",
      cause,
    });
  }
}
