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
 * Statements are not prepared by name, since a transaction pooler and the embedded database (one
 * session for all) give a connection no state of its own; see {@linkcode prepareStatements}.
 */
export function createSql(url: string, options: SqlOptions): Sql {
  return postgres(url, settingsOf(options));
}

function settingsOf(options: SqlOptions) {
  return {
    max: options.maxConnections,
    idle_timeout: options.idleSeconds ?? 20,
    connect_timeout: 10,
    backoff: reconnectDelaySeconds,
    prepare: false,
    fetch_types: false,
    onnotice: () => {},
    connection: { application_name: options.applicationName },
  };
}

/** A role that logs in with a password. */
export interface Login {
  readonly name: string;
  readonly password: string;
}

/** As {@linkcode createSql}, to the database of another pool with another login. */
export function createSqlAs(sql: Sql, { name, password }: Login, options: SqlOptions): Sql {
  const { host, port, path, database, ssl, user } = sql.options;
  // A pooler tells projects apart by what stands behind the role.
  const project = /\.[a-z0-9]+$/.exec(user)?.[0] ?? "";
  return postgres({
    host: host.map((name, index) => `${name}:${port[index]}`).join(","),
    ...(path ? { path } : {}),
    database,
    ...(ssl === undefined ? {} : { ssl }),
    user: `${name}${project}`,
    password,
    ...settingsOf(options),
  });
}

/** Closes something else with a pool. */
export function closeWith(sql: Sql, close: () => Promise<void>): void {
  const end = sql.end;
  sql.end = async (options) => {
    await Promise.all([end(options), close()]);
  };
}

/**
 * From now on statements of this pool are prepared by name: one round trip each instead of two,
 * and no planning. Only for a server that is known to give each connection a session of its own.
 */
export function prepareStatements(sql: Sql): void {
  // The driver reads it at each query, and has no other way to change it.
  (sql.options as { prepare: boolean }).prepare = true;
}

/** The driver's own delay grows to 20 s, long after a restarted database serves again. */
function reconnectDelaySeconds(attempt: number): number {
  return Math.min(0.05 * 2 ** attempt, 1);
}
