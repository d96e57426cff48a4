import { createSql, type Sql } from "../../shared/platform/db/sql_client.ts";
import type { OpenLogger as Logger } from "../../shared/platform/log/logger.ts";
import type { StackDatabase } from "../database/database_port.ts";
import { ChangeFeed } from "./change_feed.ts";
import { ChangeHub } from "./change_hub.ts";
import type { ChannelServices } from "./channel.ts";
import { Connection } from "./connection.ts";
import { type Keys, readHandshake } from "./handshake.ts";
import { answerBroadcast } from "./http_broadcast.ts";
import type { VerifyToken } from "./identity.ts";
import { MessageFeed } from "./message_feed.ts";
import { TopicHub } from "./topic_hub.ts";
import { deleteOldMessages } from "./stored_messages.ts";

interface RealtimeOptions extends Keys {
  readonly database: StackDatabase;
  readonly verifyToken: VerifyToken;
  readonly log: Logger;
}

/** A running Realtime server. */
export interface RealtimeServer {
  /** Handles every request below `/realtime/v1`. */
  fetch(request: Request): Promise<Response>;
  /** Closes all connections. Safe to call twice. */
  stop(): Promise<void>;
}

/** More connections would only wait for each other in the embedded server. */
const MAX_DATABASE_CONNECTIONS = 3;
const CATCH_UP_INTERVAL_MS = 10_000;
/** How much later than a query's result a notification may arrive. */
const NOTIFICATION_GRACE_MS = 500;
const MAINTENANCE_INTERVAL_MS = 10 * 60_000;
const SERVICE_RESTART = 1012;

/**
 * Starts the stack's Realtime server: broadcast, presence, `postgres_changes` and the HTTP
 * broadcast endpoint, compatible with `supabase-js`.
 */
export async function startRealtime(options: RealtimeOptions): Promise<RealtimeServer> {
  const { database, log, verifyToken } = options;
  const sql = createSql(database.adminUrl, {
    maxConnections: MAX_DATABASE_CONNECTIONS,
    applicationName: "supaswarm-realtime",
  });
  const services: ChannelServices = {
    sql,
    hub: new TopicHub(),
    changes: new ChangeHub(sql),
    verifyToken,
    log,
  };
  const connections = new Set<Connection>();
  await services.changes.reset();
  const stopFeeds = await startFeeds(database, services);
  return {
    fetch: (request) => answer(request, { ...options, services, connections }),
    stop: async () => {
      for (const connection of connections) connection.end(SERVICE_RESTART, "Realtime stops");
      await stopFeeds();
      await sql.end({ timeout: 5 });
    },
  };
}

async function answer(
  request: Request,
  server: Keys & { readonly services: ChannelServices; readonly connections: Set<Connection> },
): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const path = pathname.replace(/^\/realtime\/v1(?=\/)/, "");
  if (path.startsWith("/api/broadcast")) {
    return await answerBroadcast(request, path + search, server);
  }
  if (path !== "/websocket") return Response.json({ error: "Not found" }, { status: 404 });
  const handshake = readHandshake(request, server);
  if (handshake instanceof Response) return handshake;
  const { socket, response } = Deno.upgradeWebSocket(request);
  const { connections, services } = server;
  connections.add(
    new Connection(socket, handshake, services, (ended) => connections.delete(ended)),
  );
  return response;
}

/** Starts the feeds and returns a function that stops them. */
async function startFeeds(
  database: StackDatabase,
  { sql, hub, changes, log }: ChannelServices,
): Promise<() => Promise<void>> {
  const messageFeed = new MessageFeed({ sql, hub, log });
  const changeFeed = new ChangeFeed({ sql, hub: changes, log });
  const report = (event: string) => (error: unknown) => {
    log("warn", event, { message: error instanceof Error ? error.message : String(error) });
  };
  const catchUp = (graceMs: number) => {
    changeFeed.wake();
    messageFeed.catchUp(graceMs).catch(report("realtime.catch_up_failed"));
  };
  const undo = [
    await database.onNotification("supaswarm_realtime", (payload) => messageFeed.announce(payload)),
    await database.onNotification("supaswarm_cdc", () => changeFeed.wake()),
    // A database that has just started has no notifications in transit.
    database.onRestart(() => catchUp(0)),
    every(CATCH_UP_INTERVAL_MS, () => catchUp(NOTIFICATION_GRACE_MS)),
    every(
      MAINTENANCE_INTERVAL_MS,
      () => void maintainTables(sql).catch(report("realtime.upkeep_failed")),
    ),
  ];
  return async () => {
    for (const end of undo.splice(0)) end();
    await Promise.all([messageFeed.stop(), changeFeed.stop()]);
  };
}

function every(intervalMs: number, work: () => void): () => void {
  const timer = setInterval(work, intervalMs);
  return () => clearInterval(timer);
}

/**
 * Deletes old messages and vacuums these tables, which are written and emptied all the time. The
 * embedded server has no autovacuum.
 */
async function maintainTables(sql: Sql): Promise<void> {
  await deleteOldMessages(sql);
  await sql`vacuum realtime.messages, realtime.stack_changes, realtime.subscription`.simple();
}
