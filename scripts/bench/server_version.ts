import type { Sql } from "../../shared/db/sql_client.ts";

/** The server's version and the setting that decides what a commit costs. */
export async function serverVersion(sql: Sql): Promise<Record<string, string>> {
  const [row] = await sql<{ version: string; synchronous_commit: string }[]>`
    select split_part(current_setting('server_version'), ' ', 1) as version,
      current_setting('synchronous_commit') as synchronous_commit`;
  return { postgres: `${row?.version} (synchronous_commit=${row?.synchronous_commit})` };
}

/** @throws Error for PGlite, which is one session: what a benchmark compares cannot run on it. */
export function requireSessions(bench: string, db: string): void {
  if (db !== "pglite") return;
  throw new Error(`The benchmark ${bench} needs many sessions; run it with --db native`);
}
