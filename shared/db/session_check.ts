import { callerSessionsOf } from "./caller_session.ts";
import { onNotification, prepareStatements, type Sql } from "./sql_client.ts";

const CHANNEL = "supaswarm_session_check";
/** A notification that takes longer counts as not delivered. */
const TEST_TIMEOUT_MS = 3_000;

/**
 * Creates a function that checks, once, whether each connection of a pool has its own session, and
 * then enables prepared statements for the pool. With its own session, a listener gets
 * notifications; a transaction pooler accepts a LISTEN but never delivers, and so does the embedded
 * database. Never throws.
 *
 * One connection listens and another notifies, because a pooler may use one session for both.
 */
export function createSessionCheck(sql: Sql): () => Promise<void> {
  let tested: Promise<void> | null = null;
  return () => tested ??= test();

  async function test(): Promise<void> {
    try {
      if (await canHear(sql)) prepareStatements(sql);
    } catch {
      // Two round trips per statement are not a failure.
    }
  }
}

/** A pool with one connection is never blocked: a connection of the callers listens instead. */
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
