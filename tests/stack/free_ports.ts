/**
 * The system gives these ports to nobody who does not ask for them, and `fetch()` blocks none of them
 * as it blocks 10080.
 */
const FIRST_PORT = 11_000;
const LAST_PORT = 32_000;

/** Returns a free port; the next two are free as well, for the database and the console of a stack. */
export function freePorts(): number {
  for (;;) {
    const port = FIRST_PORT + Math.floor(Math.random() * (LAST_PORT - FIRST_PORT));
    try {
      for (const tried of [port, port + 1, port + 2]) {
        Deno.listen({ hostname: "127.0.0.1", port: tried }).close();
      }
      return port;
    } catch (error) {
      if (!(error instanceof Deno.errors.AddrInUse)) throw error;
    }
  }
}
