import { callerSessionsOf } from "./caller_session.ts";
import { onNotification, prepareStatements, type Sql } from "./sql_client.ts";

const CHANNEL = "supaswarm_session_check";
/** A notification that takes longer than this is as good as none. */
const TEST_TIMEOUT_MS = 3_000;

/**
 * Makes a function that finds out, once, whether each connection of a pool has a session of its own,
 * and from then on prepares the pool's statements. There a notification reaches who listens for it;
 * a transaction pooler takes a LISTEN and never delivers, and so does the embedded database. Never
 * throws.
 *
 * One connection listens and another notifies, since a pooler may give both to one.
 */
export function createSessionCheck(sql: Sql): () => Promise<void> {
  let tested: Promise<void> | null = null;
  return () => tested ??= test();

  async function test(): Promise<void> {
    try {
      if (await canHear(sql)) prepareStatements(sql);
    } catch {
      // Two round trips a statement are no failure.
    }
  }
}

/** A pool of one connection is never held up: a connection of the callers listens in its place. */
async function canHear(sql: Sql): Promise<boolean> {
  if (sql.options.max > 1) return await canHearFrom(sql, sql);
  const signal = AbortSignal.timeout(TEST_TIMEOUT_MS);
  return await callerSessionsOf(sql).use((callers) => canHearFrom(sql, callers), {
    userId: CHANNEL,
    signal,
    closes: false,
  });
}

async function canHearFrom(notifier: Sql, listener: Sql): Promise<boolean> {
  const test = crypto.randomUUID();
  const heard = Promise.withResolvers<boolean>();
  const ignore = onNotification(listener, (channel, payload) => {
    if (channel === CHANNEL && payload === test) heard.resolve(true);
  });
  const listening = await listener.reserve();
  const timer = setTimeout(() => heard.resolve(false), TEST_TIMEOUT_MS);
  try {
    await listening.unsafe(`listen ${CHANNEL}`);
    await notifier`select pg_notify(${CHANNEL}, ${test})`;
    const isHeard = await heard.promise;
    await listening.unsafe(`unlisten ${CHANNEL}`);
    return isHeard;
  } finally {
    clearTimeout(timer);
    ignore();
    listening.release();
  }
}
