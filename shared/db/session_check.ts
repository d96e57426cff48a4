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
 * One connection listens and another notifies: of the pool, or of the callers where it has only one.
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

async function canHear(sql: Sql): Promise<boolean> {
  if (sql.options.max > 1) return await isHeard(sql, sql);
  // The callers' connection is opened first: that asks the pool for a password, and below, its only
  // connection listens.
  return await callerSessionsOf(sql).use(
    (callers) => isHeard(sql, callers),
    { userId: CHANNEL, signal: AbortSignal.timeout(TEST_TIMEOUT_MS), closes: false },
  );
}

async function isHeard(sql: Sql, notifier: Sql): Promise<boolean> {
  const test = crypto.randomUUID();
  const heard = Promise.withResolvers<boolean>();
  const ignore = onNotification(sql, (channel, payload) => {
    if (channel === CHANNEL && payload === test) heard.resolve(true);
  });
  const listening = await sql.reserve();
  const timer = setTimeout(() => heard.resolve(false), TEST_TIMEOUT_MS);
  try {
    await listening.unsafe(`listen ${CHANNEL}`);
    await notifier`select pg_notify(${CHANNEL}, ${test})`;
    const hasArrived = await heard.promise;
    await listening.unsafe(`unlisten ${CHANNEL}`);
    return hasArrived;
  } finally {
    clearTimeout(timer);
    ignore();
    listening.release();
  }
}
