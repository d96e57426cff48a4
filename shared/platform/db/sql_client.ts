import { Buffer } from "node:buffer";
import postgres from "../../vendor/postgres.js";
import { type Pooling, poolingOf, withoutPoolMark } from "../config/pooling.ts";
import {
  createSocketOpener,
  type ReportPlainText,
  type SocketOpener,
  tlsModeOf,
} from "./tls_socket.ts";
import type { Duplex } from "node:stream";
import { SwarmError } from "../errors/swarm_error.ts";

/** Statements that one connection may have sent without an answer; the driver's own default. */
const MAX_PIPELINE = 100;
const NO_POOLER: Pooling = { hasSessions: true, pipelines: true };

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
 * A pooler gets a statement only after the answer to the one before; see {@linkcode poolingOf}.
 *
 * The pool uses TLS if the server offers it, unless the URL's `sslmode` is set: a project may require
 * TLS, and a local server may not support it. As with libpq's `prefer`, the certificate is not
 * verified; `sslmode=verify-full` in the URL enables that.
 */
export function createSql(url: string, options: SqlOptions): Sql {
  const handlers = new Set<NotificationHandler>();
  const openSocket = createSocketOpener(tlsModeOf(url), options.reportPlainText);
  const pooling = poolingOf(url);
  const sql = postgres(withoutPoolMark(url), {
    ...connectingBy(openSocket),
    ...settingsOf(options, pooling, (channel, payload) => {
      for (const handle of handlers) handle(channel, payload);
    }),
  });
  notificationHandlers.set(sql, handlers);
  openers.set(sql, openSocket);
  poolings.set(sql, pooling);
  return sql;
}

/** Kept for further pools to the same server, because the driver hides its own. */
const openers = new WeakMap<Sql, SocketOpener>();
const poolings = new WeakMap<Sql, Pooling>();

/** How the connections of a pool behave, by its address. */
export function poolingOfSql(sql: Sql): Pooling {
  return poolings.get(sql) ?? NO_POOLER;
}

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

function pipelineOf({ pipelines }: Pooling): number {
  return pipelines ? MAX_PIPELINE : 1;
}

function settingsOf(
  options: SqlOptions,
  pooling: Pooling,
  onNotify: NotificationHandler = () => {},
) {
  return {
    max_pipeline: pipelineOf(pooling),
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
    ...settingsOf(options, poolingOfSql(sql), (channel, payload) => {
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

/** What the driver reads for each query. It has no other way to change it. */
interface QueryOptions {
  prepare: boolean;
  max_pipeline: number;
}

/**
 * Enables named prepared statements for this pool: one round trip instead of two, and no planning.
 * Only for a server that gives each connection its own session.
 */
export function prepareStatements(sql: Sql): void {
  const options = sql.options as unknown as QueryOptions;
  options.prepare = true;
  options.max_pipeline = pipelineOf(poolingOfSql(sql));
}

/**
 * Sends one statement at a time, until {@linkcode prepareStatements} is called: an address may be a
 * pooler's without a sign of it.
 */
export function awaitSession(sql: Sql): void {
  (sql.options as unknown as QueryOptions).max_pipeline = 1;
}

/** The driver's own delay grows to 20 s, long after a restarted database is available again. */
function reconnectDelaySeconds(attempt: number): number {
  return Math.min(0.05 * 2 ** attempt, 1);
}

/** Limits what a connection receives. */
interface AnswerCap {
  /** Bytes between two messages of the client. */
  readonly maxBytes: number;
  /** Called before the connection ends: the driver reports only that it was lost. */
  readonly onExcess: (error: SwarmError) => void;
}

/**
 * Ends a connection with `OUTPUT_TOO_LARGE` when the server sends more than the cap. The driver
 * collects a value, or an error that quotes one, before anything else sees it: a value of hundreds of
 * megabytes would end the isolate and all that runs in it.
 */
function capAnswers(socket: Duplex, { maxBytes, onExcess }: AnswerCap): Duplex {
  let byteCount = 0;
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
  socket.write = (...args: unknown[]) => {
    byteCount = 0;
    return write(...args);
  };
  socket.on("data", (chunk: Uint8Array) => {
    byteCount += chunk.length;
    if (byteCount <= maxBytes || socket.destroyed) return;
    const error = answerTooLarge(maxBytes);
    onExcess(error);
    socket.destroy(error);
  });
  return socket;
}

function answerTooLarge(maxBytes: number): SwarmError {
  return new SwarmError(
    "OUTPUT_TOO_LARGE",
    `Cannot read the database's answer: it is larger than ${maxBytes} bytes`,
    { hint: "Nothing was changed. Select fewer rows, or less of long values with left()." },
  );
}
