import { createSql } from "../../shared/platform/db/sql_client.ts";
import type { DatabaseKind, StackDatabase } from "./database_port.ts";

/** A server with several sessions, where clients can LISTEN. */
export interface ListeningDatabaseOptions {
  readonly kind: DatabaseKind;
  readonly url: string;
  readonly adminUrl: string;
  /** Stops the server if the stack started it. */
  readonly stop: () => Promise<void>;
}

const STOP_LIMIT_SECONDS = 1;

/**
 * Returns the {@linkcode StackDatabase} of a server with several sessions. One connection listens
 * for all notifications. It reconnects when it is lost, and a reconnect is reported as a restart.
 */
export function listenOnDatabase(options: ListeningDatabaseOptions): StackDatabase {
  const { kind, url, adminUrl } = options;
  const sql = createSql(adminUrl, { maxConnections: 1, applicationName: "supaswarm listener" });
  const restartHandlers = new Set<() => void>();
  let restartChannel: string | null = null;
  let stopped: Promise<void> | null = null;
  return {
    kind,
    url,
    adminUrl,
    onNotification: async (channel, handler) => {
      // All channels share the connection, so only one of them reports its loss.
      restartChannel ??= channel;
      let listenCount = 0;
      const { unlisten } = await sql.listen(channel, handler, () => {
        if (listenCount++ === 0 || channel !== restartChannel) return;
        for (const restarted of restartHandlers) restarted();
      });
      return () => void unlisten().catch(() => {});
    },
    onRestart: (handler) => {
      restartHandlers.add(handler);
      return () => void restartHandlers.delete(handler);
    },
    stop: () => stopped ??= sql.end({ timeout: STOP_LIMIT_SECONDS }).then(options.stop),
  };
}
