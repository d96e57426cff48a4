import { LentConnection } from "../db/lent_connection.ts";
import { createSql, prepareStatements, type Sql } from "../db/sql_client.ts";
import type { Logger } from "../log/logger.ts";
import type { ListenForWork, WorkHint } from "../work/work_kind.ts";
import type { Clock } from "../isolate/clock.ts";

/** What a listener needs. */
export interface TaskListenerOptions {
  /** Of the database; listening takes a connection of its own. */
  readonly databaseUrl: string;
  /**
   * A pool to the same server, for the test of the connection. Who can listen has a session of its
   * own, so its statements are prepared from then on.
   */
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Logger;
  /** The right to its connection, which others may need more. @default its own alone */
  readonly lent?: LentConnection;
}

/** On which `private.wake_at_commit()` notifies, and `private.cancel_task()` with a word of its own. */
const CHANNEL = "supaswarm_tasks";
/** A notification that takes longer than this is as good as none. */
const TEST_TIMEOUT_MS = 3_000;
const CLOSE_TIMEOUT_SECONDS = 1;
/** Who borrowed the connection may need it again soon. */
const RESUME_AFTER_MS = 5_000;

/**
 * Listens where it works. A transaction pooler takes a LISTEN and never delivers, and so does the
 * embedded database; so the listener sends itself a notification first. When it does not come, the
 * connection is closed, the log says so, and the worker keeps to its polling and to wakes over HTTP.
 */
export function createTaskListener(options: TaskListenerOptions): ListenForWork {
  const { clock, lent = new LentConnection() } = options;
  return async (onHint, signal) => {
    let onListening = () => {};
    while (!signal.aborted) {
      const held = await lent.hold(signal).catch(() => null);
      if (held === null) return;
      const ended = AbortSignal.any([signal, held.asked]);
      await listen(options, { onHint, onListening }, ended);
      held.release();
      if (!held.asked.aborted) return;
      // What came while the connection was lent was not heard.
      onListening = () => onHint("work");
      await clock.sleep(RESUME_AFTER_MS, signal);
    }
  };
}

interface ListenerEvents {
  readonly onHint: (hint: WorkHint) => void;
  readonly onListening: () => void;
}

/** Listens until the signal aborts, or not at all where notifications are not delivered. */
async function listen(
  options: TaskListenerOptions,
  { onHint, onListening }: ListenerEvents,
  signal: AbortSignal,
): Promise<void> {
  const { databaseUrl, log } = options;
  const listening = createSql(databaseUrl, {
    maxConnections: 1,
    applicationName: "supaswarm-worker listener",
  });
  try {
    if (await canHear(listening, onHint, signal, options)) {
      prepareStatements(options.sql);
      log("info", "worker.listening");
      onListening();
      await aborted(signal);
    } else if (!signal.aborted) {
      log("info", "worker.not_listening", { reason: "A test notification was not delivered" });
    }
  } catch (error) {
    const reason = error instanceof Error ? error.name : "unknown";
    log("info", "worker.not_listening", { reason });
  } finally {
    await listening.end({ timeout: CLOSE_TIMEOUT_SECONDS }).catch(() => {});
  }
}

/** Subscribes `onHint`, then waits until a notification of this listener's own comes back. */
async function canHear(
  listening: Sql,
  onHint: (hint: WorkHint) => void,
  signal: AbortSignal,
  { sql, clock }: TaskListenerOptions,
): Promise<boolean> {
  const test = crypto.randomUUID();
  const over = new AbortController();
  let isHeard = false;
  const end = () => over.abort();
  signal.addEventListener("abort", end);
  try {
    const subscribed = listening.listen(CHANNEL, (payload) => {
      // Other workers' tests are nothing to wake for.
      if (payload === "") return onHint("work");
      if (payload === "cancel") return onHint("cancel");
      if (payload !== test) return;
      isHeard = true;
      end();
    }, () => {
      // Also after each reconnection: tasks may have come meanwhile.
      if (isHeard) onHint("work");
    });
    const tested = subscribed.then(() => sql`select pg_notify(${CHANNEL}, ${test})`);
    const failed = tested.then(() => new Promise<never>(() => {}));
    await Promise.race([failed, clock.sleep(TEST_TIMEOUT_MS, over.signal)]);
    return isHeard;
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
