import { definedOnly } from "../values/defined_only.ts";
import { setCallerConnections } from "../db/caller_session.ts";
import type { LentConnection } from "../db/lent_connection.ts";
import { createSql, type Sql } from "../db/sql_client.ts";
import { createLogger } from "../log/logger.ts";

/**
 * Direct connections of one isolate. The smallest plans have about 60 for the whole project, shared
 * with the platform's services, and several isolates run side by side.
 */
export const MAX_ISOLATE_CONNECTIONS = 3;

/** The additional connections besides a function's pool. */
export type OwnConnection =
  /**
   * Statements that run as the caller use another login. Two connections let users run in parallel.
   */
  | "caller"
  /** Listens for notifications. */
  | "listener";

/**
 * Opens the only pool of an edge function, sized so that the isolate stays within its connection
 * limit.
 *
 * @param beside The function's other connections.
 * @param lent The connection that callers borrow when a slow statement occupies theirs.
 * @param connections Connections in all. @default those of an isolate
 */
export function openIsolatePool(
  databaseUrl: string,
  functionName: string,
  beside: readonly OwnConnection[] = [],
  lent?: LentConnection,
  connections = MAX_ISOLATE_CONNECTIONS,
): Sql {
  const sql = createSql(databaseUrl, {
    maxConnections: connections - beside.length,
    applicationName: functionName,
    reportPlainText: (reason) =>
      createLogger(functionName)("warn", "database.without_tls", { reason }),
  });
  const count = beside.filter((own) => own === "caller").length;
  setCallerConnections(sql, { count, ...definedOnly({ lent }) });
  return sql;
}
