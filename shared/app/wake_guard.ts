import type { ApiKeys } from "../platform/config/env.ts";
import { SwarmError } from "../platform/errors/swarm_error.ts";
import { authenticate } from "../platform/http/authenticate.ts";
import type { TaskStore } from "../engine/worker/task_store.ts";
import { sha256Hex } from "../platform/values/sha256_hex.ts";

/** Header with the wake token of the database. */
export const WAKE_TOKEN_HEADER = "x-supaswarm-wake-token";

/** The sender of a wake-up: the database, or a holder of a secret key. */
export type Waker = "database" | "service";

/**
 * Accepts a wake-up with a secret key or with the wake token that the database sends. The isolate
 * remembers a verified token, so that a wake-up costs no query.
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
    // By digest, so that the duration of a comparison reveals nothing about the token.
    const digest = sha256Hex(token);
    if (digest === knownDigest) return "database";
    if (!await store.isWakeToken(token)) throw refused();
    knownDigest = digest;
    return "database";
  };
}

function refused(): SwarmError {
  return new SwarmError("UNAUTHORIZED", "Cannot wake the function: the wake token is wrong", {
    hint: "Send a secret key in `apikey`; only the database uses the wake token.",
  });
}
