import type { StackDatabase } from "../database/database_port.ts";

/** How long running requests may still take after the database has restarted. */
const GRACE_MS = 2_000;

/** Keeps requests from waiting for queries that a restart of the database has lost. */
export interface RestartGuard {
  /**
   * Resolves with the answer, or with null when the database restarted and the answer does not
   * arrive within the grace period. The driver can lose a query with its connection and then never
   * settles it.
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

  const unsubscribe = database.onRestart(() => {
    // Later requests use the new server and wait for the next restart.
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
      unsubscribe();
      for (const timer of timers) clearTimeout(timer);
    },
  };
}
