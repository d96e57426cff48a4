/** Writes one log event of the stack; fields never hold secrets or statement texts. */
export type { Logger } from "../../shared/log/logger.ts";

/** Where the stack's data is kept, and by whom. */
export type DatabaseKind = "pglite" | "native" | "url";

/** The database of a running stack, whatever serves it. */
export interface StackDatabase {
  readonly kind: DatabaseKind;
  /** Connection string as role `postgres`; what edge functions get as `SUPABASE_DB_URL`. */
  readonly url: string;
  /**
   * Connection string of the bootstrap superuser (`supabase_admin`), for the platform's own parts:
   * gateway, realtime, scheduler. The same as `url` where the server knows no login roles (PGlite).
   */
  readonly adminUrl: string;
  /**
   * Calls `handler` with the payload of every notification committed on `channel`, in order,
   * until the returned function is called. Survives a restart of the database; notifications
   * sent while it is down are lost, so a caller also polls.
   */
  onNotification(channel: string, handler: (payload: string) => void): Promise<() => void>;
  /** Calls `handler` each time the database has come back after a crash or a forced restart. */
  onRestart(handler: () => void): () => void;
  /** Ends the database and everything it started. Safe to call twice. */
  stop(): Promise<void>;
}
