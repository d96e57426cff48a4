import { setCallerConnections } from "../db/caller_session.ts";
import type { LentConnection } from "../db/lent_connection.ts";
import { createSql, type Sql } from "../db/sql_client.ts";

/**
 * Direct connections of one isolate. The smallest plans have about 60 for the whole project, shared
 * with the platform's services, and several isolates run side by side.
 */
export const MAX_ISOLATE_CONNECTIONS = 3;

/** What holds a connection of its own beside a function's pool. */
export type OwnConnection =
  /** Statements that run as the caller: another login. Two of them let users run side by side. */
  | "caller"
  /** Waits for notifications. */
  | "listener";

/**
 * Opens the one pool of an edge function, so large that the isolate stays within its connections.
 *
 * @param beside What else the function connects for.
 * @param lent The one of these that callers borrow when a slow statement holds theirs.
 */
export function openIsolatePool(
  databaseUrl: string,
  functionName: string,
  beside: readonly OwnConnection[] = [],
  lent?: LentConnection,
): Sql {
  const sql = createSql(databaseUrl, {
    maxConnections: MAX_ISOLATE_CONNECTIONS - beside.length,
    applicationName: functionName,
  });
  const count = beside.filter((own) => own === "caller").length;
  setCallerConnections(sql, { count, ...(lent === undefined ? {} : { lent }) });
  return sql;
}
