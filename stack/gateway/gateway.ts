import { createSql } from "../../shared/platform/db/sql_client.ts";
import type { OpenLogger as Logger } from "../../shared/platform/log/logger.ts";
import type { StackDatabase } from "../database/database_port.ts";
import type { StackKeys } from "../keys/keys.ts";
import type { LocalCallers } from "../local_callers.ts";
import type { FunctionPort, RealtimePort } from "./gateway_ports.ts";
import { openHttpServer } from "./http_server.ts";
import { openInternalTokens } from "./internal_tokens.ts";
import { createLiteServer, type LiteServer } from "./lite_server.ts";
import { createRestartGuard } from "./restart_guard.ts";
import { createRouter } from "./router.ts";
import { openStorageFolder } from "./storage_folder.ts";
import { openUserDirectory } from "./user_directory.ts";

const ADMIN_CONNECTIONS = 2;
const CLOSE_SECONDS = 2;

interface GatewayOptions {
  readonly database: StackDatabase;
  /** 0 takes any free port. */
  readonly port: number;
  readonly callers: LocalCallers;
  /** Schemas that the REST API exposes. @default public */
  readonly schemas?: readonly string[];
  readonly keys: StackKeys;
  readonly functions: FunctionPort;
  readonly realtime: RealtimePort;
  /** Objects are stored in its folder `storage`. `null` uses a temporary folder. */
  readonly dataDir: string | null;
  readonly log: Logger;
}

/** A running gateway. */
export interface Gateway {
  /** The project URL that clients use, such as `http://127.0.0.1:54321`. */
  readonly url: string;
  /** Starts REST, Auth and Storage, which otherwise start with their first request. */
  warm(): Promise<void>;
  /** Ends open requests and releases the port. Safe to call twice. */
  stop(): Promise<void>;
}

/**
 * Serves a project's API: `/rest/v1`, `/auth/v1`, `/storage/v1`, `/functions/v1`, `/realtime/v1`.
 *
 * @throws SwarmError CONFIG_INVALID when the port is in use.
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { database, keys, log } = options;
  await using opening = new AsyncDisposableStack();
  const storage = await openStorageFolder(options.dataDir);
  opening.defer(() => storage.close());
  const sql = createSql(database.adminUrl, {
    maxConnections: ADMIN_CONNECTIONS,
    applicationName: "supaswarm gateway",
  });
  opening.defer(() => sql.end({ timeout: CLOSE_SECONDS }));
  const lite = createLiteServer({
    databaseUrl: database.adminUrl,
    schemas: options.schemas ?? ["public"],
    keys,
    storage: storage.adapter,
    onMail: (text) => log("info", "mail_not_delivered", { text }),
    log,
  });
  opening.defer(() => lite.stop());
  const server = openHttpServer(options.port, options.callers);
  opening.defer(() => server.stop());
  opening.defer(await followSchema(database, lite));
  const restarts = createRestartGuard(database);
  opening.defer(() => restarts.stop());
  server.handle(createRouter({
    ...options,
    sql,
    lite,
    restarts,
    issuer: `${server.url}/auth/v1`,
    tokens: await openInternalTokens(keys),
    users: openUserDirectory(sql),
  }));
  const opened = opening.move();
  return { url: server.url, warm: () => lite.warm(), stop: () => opened.disposeAsync() };
}

/** Reloads the schema of the REST service after each schema change. */
async function followSchema(database: StackDatabase, lite: LiteServer): Promise<() => void> {
  const unsubscribe = await database.onNotification("pgrst", (payload) => {
    if (payload === "" || payload === "reload schema") lite.reloadSchema();
  });
  const unsubscribeRestart = database.onRestart(() => lite.restart());
  return () => {
    unsubscribe();
    unsubscribeRestart();
  };
}
