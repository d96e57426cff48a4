import { Buffer } from "node:buffer";
import postgres from "../../vendor/postgres.js";
import { type AnswerCap, capAnswers } from "./cap_answers.ts";
import {
  createSocketOpener,
  type ReportPlainText,
  type SocketOpener,
  tlsModeOf,
} from "./tls_socket.ts";

/** A connection pool of postgres.js. */
export type Sql = postgres.Sql;

interface SqlOptions {
  /** Maximum number of connections. */
  readonly maxConnections: number;
  /** Seconds after which an unused connection is closed. */
  readonly idleSeconds?: number;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
  /** @default nothing is reported */
  readonly reportPlainText?: ReportPlainText;
  /** Gets the warnings and notices of the server. @default they are ignored */
  readonly reportNotice?: (notice: SqlNotice) => void;
}

/** A warning or a notice of the server. */
export interface SqlNotice {
  readonly severity: string;
  readonly message: string;
  readonly hint?: string;
}

/**
 * Opens a lazy pool: the first query connects.
 *
 * Statements are not prepared by name, because connections through a transaction pooler or to the
 * embedded database (one shared session) have no state of their own; see {@linkcode
 * prepareStatements}.
 *
 * The pool uses TLS if the server offers it, unless the URL's `sslmode` is set: a project may require
 * TLS, and a local server may not support it. As with libpq's `prefer`, the certificate is not
 * verified; `sslmode=verify-full` in the URL enables that.
 */
export function createSql(url: string, options: SqlOptions): Sql {
  const handlers = new Set<NotificationHandler>();
  const openSocket = createSocketOpener(tlsModeOf(url), options.reportPlainText);
  const sql = postgres(url, {
    ...connectingBy(openSocket),
    ...settingsOf(options, (channel, payload) => {
      for (const handle of handlers) handle(channel, payload);
    }),
  });
  notificationHandlers.set(sql, handlers);
  openers.set(sql, openSocket);
  return sql;
}

/** Kept for further pools to the same server, because the driver hides its own. */
const openers = new WeakMap<Sql, SocketOpener>();

type NotificationHandler = (channel: string, payload: string) => void;

const notificationHandlers = new WeakMap<Sql, Set<NotificationHandler>>();

/**
 * Calls `handle` for each notification that reaches a connection of the pool. The caller decides
 * which connection listens. Returns a function that unsubscribes.
 */
export function onNotification(sql: Sql, handle: NotificationHandler): () => void {
  const handlers = notificationHandlers.get(sql);
  handlers?.add(handle);
  return () => void handlers?.delete(handle);
}

/** The driver's types do not know the option. */
function connectingBy(socket: SocketOpener) {
  return { ssl: false, socket };
}

function settingsOf(options: SqlOptions, onNotify: NotificationHandler = () => {}) {
  return {
    max: options.maxConnections,
    idle_timeout: options.idleSeconds ?? 20,
    connect_timeout: 10,
    backoff: reconnectDelaySeconds,
    prepare: false,
    fetch_types: false,
    onnotice: (notice: unknown) => options.reportNotice?.(notice as SqlNotice),
    onnotify: onNotify,
    connection: { application_name: options.applicationName },
    types: PARAMETER_TYPES,
  };
}

/**
 * Parameters that the driver would change: a text is sent as it is, so that the server reads times
 * to the microsecond, `infinity`, `'t'` and `'\\x00ff'` itself.
 */
const PARAMETER_TYPES = {
  boolean: {
    to: 16,
    from: [16],
    serialize: (value: unknown) => typeof value === "string" ? value : value === true ? "t" : "f",
    parse: (text: string) => text === "t",
  },
  date: {
    to: 1184,
    from: [1082, 1114, 1184],
    serialize: (value: unknown) => value instanceof Date ? value.toISOString() : String(value),
    parse: (text: string) => new Date(text),
  },
  bytea: {
    to: 17,
    from: [17],
    serialize: (value: unknown) =>
      value instanceof Uint8Array ? `\\x${Buffer.from(value).toString("hex")}` : String(value),
    parse: (text: string) => Buffer.from(text.slice(2), "hex"),
  },
};

/** A role that logs in with a password. */
export interface Login {
  readonly name: string;
  readonly password: string;
}

interface CallerSqlOptions extends SqlOptions {
  readonly answerCap: AnswerCap;
}

/** Like {@linkcode createSql}, but to the database of another pool with another login. */
export function createSqlAs(sql: Sql, { name, password }: Login, options: CallerSqlOptions): Sql {
  const { host, port, path, database, user } = sql.options;
  // A pooler identifies projects by the suffix of the role.
  const project = /\.[a-z0-9]+$/.exec(user)?.[0] ?? "";
  const handlers = new Set<NotificationHandler>();
  const openSocket = openers.get(sql) ?? createSocketOpener("off");
  const opened = postgres({
    host: host.map((name, index) => `${name}:${port[index]}`).join(","),
    ...(path ? { path } : {}),
    database,
    ...connectingBy(async (target) => capAnswers(await openSocket(target), options.answerCap)),
    user: `${name}${project}`,
    password,
    ...settingsOf(options, (channel, payload) => {
      for (const handle of handlers) handle(channel, payload);
    }),
  });
  notificationHandlers.set(opened, handlers);
  return opened;
}

/** Closes something else with a pool. */
export function closeWith(sql: Sql, close: () => Promise<void>): void {
  const end = sql.end;
  sql.end = async (options) => {
    await Promise.all([end(options), close()]);
  };
}

/**
 * Enables named prepared statements for this pool: one round trip instead of two, and no planning.
 * Only for a server that gives each connection its own session.
 */
export function prepareStatements(sql: Sql): void {
  // The driver reads it for each query and has no other way to change it.
  (sql.options as { prepare: boolean }).prepare = true;
}

/** The driver's own delay grows to 20 s, long after a restarted database is available again. */
function reconnectDelaySeconds(attempt: number): number {
  return Math.min(0.05 * 2 ** attempt, 1);
}
