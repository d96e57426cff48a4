import postgres from "postgres";

/** A connection pool of postgres.js. */
export type Sql = postgres.Sql;

/** How a pool is opened. */
export interface SqlOptions {
  /** Most connections at once. */
  readonly maxConnections: number;
  /** Seconds after which an unused connection is closed. */
  readonly idleSeconds?: number;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
}

/**
 * Opens a lazy pool: the first query connects.
 *
 * Statements are never prepared by name, since a transaction pooler and the embedded database
 * (one session for all) give a connection no state of its own.
 */
export function createSql(url: string, options: SqlOptions): Sql {
  return postgres(url, {
    max: options.maxConnections,
    idle_timeout: options.idleSeconds ?? 20,
    connect_timeout: 10,
    backoff: reconnectDelaySeconds,
    prepare: false,
    fetch_types: false,
    onnotice: () => {},
    connection: { application_name: options.applicationName },
  });
}

/** The driver's own delay grows to 20 s, long after a restarted database serves again. */
function reconnectDelaySeconds(attempt: number): number {
  return Math.min(0.05 * 2 ** attempt, 1);
}
