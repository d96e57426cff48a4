import type { ApiKeys } from "../config/env.ts";
import { SwarmError } from "../errors/swarm_error.ts";
import { authenticate } from "../http/authenticate.ts";
import type { TaskStore } from "../worker/task_store.ts";

/** Carries the wake token of the database. */
export const WAKE_TOKEN_HEADER = "x-supaswarm-wake-token";

/** Who asks a function to look for its work: the database, or a holder of a secret key. */
export type Waker = "database" | "service";

/**
 * Lets a wake in with a secret key, or with the wake token that the database sends. A token that
 * was right once is remembered by this isolate, so that a wake costs no query.
 *
 * @throws UNAUTHORIZED, DATABASE_UNAVAILABLE
 */
export function createWakeGuard(
  keys: ApiKeys,
  store: Pick<TaskStore, "isWakeToken">,
): (request: Request) => Promise<Waker> {
  let knownDigest: string | null = null;

  return async (request) => {
    const token = request.headers.get(WAKE_TOKEN_HEADER);
    if (token === null) {
      await authenticate(request, keys, ["service"]);
      return "service";
    }
    // By digest, so that the time a comparison takes tells nothing of the token.
    const digest = await digestOf(token);
    if (digest === knownDigest) return "database";
    if (!await store.isWakeToken(token)) throw refused();
    knownDigest = digest;
    return "database";
  };
}

async function digestOf(token: string): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token));
  return new Uint8Array(bytes).join(".");
}

function refused(): SwarmError {
  return new SwarmError("UNAUTHORIZED", "Cannot wake the function: the wake token is wrong", {
    hint: "Send a secret key in `apikey`; the wake token is the database's own.",
  });
}
