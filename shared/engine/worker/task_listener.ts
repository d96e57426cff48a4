import { LentConnection } from "../../platform/db/lent_connection.ts";
import { poolingOf } from "../../platform/config/pooling.ts";
import {
  awaitSession,
  createSql,
  prepareStatements,
  type Sql,
} from "../../platform/db/sql_client.ts";
import type { Logger } from "../../platform/log/logger.ts";
import type { ListenForWork, WorkListener } from "../work/work_kind.ts";
import type { Clock } from "../../platform/isolate/clock.ts";

/** The dependencies of a listener. */
export interface TaskListenerOptions {
  /** URL of the database; listening needs its own connection. */
  readonly databaseUrl: string;
  /**
   * A pool to the same server, for the connection test. A connection that can listen has its own
   * session, so the pool's statements are prepared from then on, and sent without waiting for each
   * other's answers.
   */
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Logger;
  /** The shared right to the connection, which others may borrow. @default not shared */
  readonly lent?: LentConnection;
}

/**
 * The channel of `private.wake_at_commit()`. `private.cancel_task()` notifies it with
 * another payload.
 */
const CHANNEL = "supaswarm_tasks";
/** A notification that takes longer counts as not delivered. A busy machine may need seconds. */
const TEST_TIMEOUT_MS = 10_000;
/** The database may have been unavailable or slow during the test. */
const TEST_AGAIN_AFTER_MS = 30_000;
const CLOSE_TIMEOUT_SECONDS = 1;
/** The borrower of the connection may need it again soon. */
const RESUME_AFTER_MS = 5_000;

/**
 * Listens if notifications are delivered. A transaction pooler accepts a LISTEN but never delivers,
 * and so does the embedded database, so the listener first sends itself a notification. If it does
 * not arrive, the connection is closed, this is logged once, and the worker relies on polling and
 * wake-ups over HTTP until a later test succeeds. It does not try where the address is that of a
 * transaction pooler.
 */
export function createTaskListener(options: TaskListenerOptions): ListenForWork {
  const { clock, log, lent = new LentConnection(), databaseUrl, sql } = options;
  if (!poolingOf(databaseUrl).hasSessions) {
    return () => {
      log("info", "worker.not_listening", {
        reason: "The database is behind a transaction pooler",
      });
      return Promise.resolve();
    };
  }
  awaitSession(sql);
  return async (listener, signal) => {
    let hasMissedHints = false;
    let isReported = false;
    while (!signal.aborted) {
      const held = await lent.hold(signal).catch(() => null);
      if (held === null) return;
      const ended = AbortSignal.any([signal, held.asked]);
      const failure = await listen(options, listener, hasMissedHints, ended);
      held.release();
      if (failure !== null && !isReported) {
        log("info", "worker.not_listening", { reason: failure });
        isReported = true;
      }
      hasMissedHints = true;
      await clock.sleep(held.asked.aborted ? RESUME_AFTER_MS : TEST_AGAIN_AFTER_MS, signal);
    }
  };
}

/**
 * Listens until the signal aborts, or not at all if notifications are not delivered.
 *
 * @returns why it did not listen, or null.
 */
async function listen(
  options: TaskListenerOptions,
  listener: WorkListener,
  hasMissedHints: boolean,
  signal: AbortSignal,
): Promise<string | null> {
  const { databaseUrl, log } = options;
  const listening = createSql(databaseUrl, {
    maxConnections: 1,
    applicationName: "supaswarm-worker listener",
  });
  try {
    if (await receivesNotifications(listening, listener, signal, options)) {
      prepareStatements(options.sql);
      log("info", "worker.listening");
      if (hasMissedHints) listener.onHint("work");
      await aborted(signal);
      return null;
    }
    return signal.aborted ? null : "A test notification was not delivered";
  } catch (error) {
    return error instanceof Error ? error.name : "unknown";
  } finally {
    await listening.end({ timeout: CLOSE_TIMEOUT_SECONDS }).catch(() => {});
  }
}

/** Subscribes `onHint`, then waits until its own test notification arrives. */
async function receivesNotifications(
  listening: Sql,
  { onHint }: WorkListener,
  signal: AbortSignal,
  { sql, clock }: TaskListenerOptions,
): Promise<boolean> {
  const test = crypto.randomUUID();
  const over = new AbortController();
  let hasArrived = false;
  const end = () => over.abort();
  signal.addEventListener("abort", end);
  try {
    const subscribed = listening.listen(CHANNEL, (payload) => {
      if (payload === "") return onHint("work");
      if (payload === "cancel") return onHint("cancel");
      if (payload !== test) return;
      hasArrived = true;
      end();
    }, () => {
      // Also after each reconnection, because tasks may have arrived in the meantime.
      if (hasArrived) onHint("work");
    });
    const tested = subscribed.then(() => sql`select pg_notify(${CHANNEL}, ${test})`);
    const failed = tested.then(() => new Promise<never>(() => {}));
    await Promise.race([failed, clock.sleep(TEST_TIMEOUT_MS, over.signal)]);
    return hasArrived;
  } finally {
    signal.removeEventListener("abort", end);
    end();
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
