import type { Sql } from "../db/sql_client.ts";
import { toSwarmError } from "../db/to_swarm_error.ts";

/**
 * Makes the function that tells the database, once an isolate, where its edge functions are: the
 * database wakes the worker there.
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
