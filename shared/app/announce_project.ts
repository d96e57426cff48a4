import type { Sql } from "../platform/db/sql_client.ts";
import { toSwarmError } from "../platform/db/to_swarm_error.ts";

/**
 * Creates the function that stores the URL of the edge functions in the database, once per isolate:
 * the database wakes the worker there.
 */
export function createProjectAnnouncer(sql: Sql, url: string): () => Promise<void> {
  let announced: Promise<void> | null = null;

  return () => {
    announced ??= announce().catch((error) => {
      announced = null;
      throw toSwarmError(error, "announce the project");
    });
    return announced;
  };

  async function announce(): Promise<void> {
    await sql`select private.configure_project_url(${url})`;
  }
}
