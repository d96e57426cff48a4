/** Writes one log event of the stack. Fields never hold secrets or statement texts. */
export type { OpenLogger as Logger } from "../../shared/platform/log/logger.ts";

/**
 * Reports what a long work does now, and how much of that is done, from 0 to 1 if it is known. Work
 * that reports nothing for long may be ended.
 */
export type ReportDoing = (doing: string, done?: number) => void;

/** What serves the stack's database. */
export type DatabaseKind = "pglite" | "native" | "url";

/** The database of a running stack, of any kind. */
export interface StackDatabase {
  readonly kind: DatabaseKind;
  /** Connection string as role `postgres`. Edge functions get it as `SUPABASE_DB_URL`. */
  readonly url: string;
  /**
   * Connection string of the bootstrap superuser (`supabase_admin`), for gateway, realtime and
   * scheduler. PGlite has no login roles, so there it is the same as `url`.
   */
  readonly adminUrl: string;
  /**
   * Calls `handler` with the payload of every notification committed on `channel`, in order,
   * until the returned function is called. The subscription survives a restart of the database.
   * Notifications sent while it is down are lost, so callers must also poll.
   */
  onNotification(channel: string, handler: (payload: string) => void): Promise<() => void>;
  /**
   * Calls `handler` each time the database is available again after a crash or a forced restart.
   */
  onRestart(handler: () => void): () => void;
  /** Stops the database and everything it started. Safe to call twice. */
  stop(): Promise<void>;
}
