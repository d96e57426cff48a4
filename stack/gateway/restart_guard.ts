import type { StackDatabase } from "../database/database_port.ts";

/** How long requests that were under way may still take once the database is back. */
const GRACE_MS = 2_000;

/** Keeps requests from waiting for a database that has forgotten them. */
export interface RestartGuard {
  /**
   * The answer; null when the database has restarted while it was being made and it still is not
   * there. The driver can lose a query with its connection and never settle it.
   */
  answerOf<T>(answer: Promise<T>): Promise<T | null>;
  stop(): void;
}

/** Watches a database's restarts. */
export function createRestartGuard(
  database: Pick<StackDatabase, "onRestart">,
  graceMs: number = GRACE_MS,
): RestartGuard {
  let restarted = Promise.withResolvers<null>();
  const timers = new Set<ReturnType<typeof setTimeout>>();

  const forget = database.onRestart(() => {
    // Requests that come from now on meet the new server and wait for the next restart.
    const { resolve } = restarted;
    restarted = Promise.withResolvers();
    const timer = setTimeout(() => {
      timers.delete(timer);
      resolve(null);
    }, graceMs);
    timers.add(timer);
  });
  return {
    answerOf: (answer) => Promise.race([answer, restarted.promise]),
    stop: () => {
      forget();
      for (const timer of timers) clearTimeout(timer);
    },
  };
}
