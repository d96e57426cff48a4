import type { Sql } from "../../shared/platform/db/sql_client.ts";

/** Reads the server's version and the settings that decide the cost of a commit. */
export async function serverVersion(sql: Sql): Promise<Record<string, string>> {
  const [row] = await sql<{ version: string; synchronous_commit: string; fsync: string }[]>`
    select split_part(current_setting('server_version'), ' ', 1) as version,
      current_setting('synchronous_commit') as synchronous_commit, current_setting('fsync') as fsync`;
  const { version, synchronous_commit, fsync } = row ?? {};
  return { postgres: `${version} (synchronous_commit=${synchronous_commit}, fsync=${fsync})` };
}

/** @throws Error for PGlite, because it has one session and cannot run the compared systems. */
export function requireSessions(bench: string, db: string): void {
  if (db !== "pglite") return;
  throw new Error(`Cannot run the benchmark ${bench} on one session: use --db native`);
}
