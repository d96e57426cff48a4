import { createSql } from "../../shared/db/sql_client.ts";
import type { DatabaseKind, StackDatabase } from "./database_port.ts";

/** A server that real clients can LISTEN on. */
export interface ListeningDatabaseOptions {
  readonly kind: DatabaseKind;
  readonly url: string;
  readonly adminUrl: string;
  /** Ends the server, where it is ours. */
  readonly stop: () => Promise<void>;
}

const STOP_LIMIT_SECONDS = 1;

/**
 * The port over a server with sessions of its own: notifications come over one connection that
 * listens, which opens itself again when it was lost; that it had to is the sign of a restart.
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
      // All channels share the connection: one of them reports its loss.
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
