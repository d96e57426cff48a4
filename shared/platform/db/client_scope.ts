import type { Caller } from "../http/caller.ts";
import type { Sql } from "./sql_client.ts";
import { toSwarmError } from "./to_swarm_error.ts";

/** Scope of an OAuth client that creates tasks, answers reviews and reads results. */
export const SWARM_RUN = "swarm:run";
/** Scope of an OAuth client that stores a user's own credentials and connects accounts. */
export const CREDENTIALS_WRITE = "credentials:write";

/**
 * Rejects an OAuth client, or an agent that sends its token, without the scope.
 *
 * @throws INSUFFICIENT_SCOPE
 */
export async function assertClientHasScope(
  sql: Sql,
  caller: Caller,
  attempt: string,
  scope: string,
): Promise<void> {
  if (caller.kind === "service" || caller.clientId === null) return;
  try {
    await sql`
      select private.assert_client_has_scope(
        p_user_id => ${caller.userId}::uuid,
        p_client_id => ${caller.clientId},
        p_attempt => ${attempt},
        p_scope => ${scope}
      )`;
  } catch (error) {
    throw toSwarmError(error, attempt);
  }
}
