import { answerInTime } from "./answer_in_time.ts";
import { callerSessionsOf } from "./caller_session.ts";
import {
  awaitSession,
  onNotification,
  poolingOfSql,
  prepareStatements,
  type Sql,
} from "./sql_client.ts";

const CHANNEL = "supaswarm_session_check";
/** A notification that takes longer, with the opening of the connection, counts as not delivered. */
const TEST_TIMEOUT_MS = 3_000;

/**
 * Creates a function that checks, once, whether each connection of a pool has its own session, and
 * then enables prepared statements for the pool. With its own session, a listener gets
 * notifications; a transaction pooler accepts a LISTEN but never delivers, and so does the embedded
 * database. Until then the pool sends one statement at a time. Checks nothing where the address says
 * that there are no sessions. Never throws. A check that failed, for example because callers used all
 * their connections, is made again at the next call.
 *
 * A connection of the callers listens and the pool notifies, because a pooler may use one session
 * for both. The listening connection runs nothing else, because a pooler would deliver the
 * notification together with the answer of another statement.
 */
export function createSessionCheck(sql: Sql): () => Promise<void> {
  if (!poolingOfSql(sql).hasSessions) return () => Promise.resolve();
  awaitSession(sql);
  let tested: Promise<void> | null = null;
  return () => tested ??= test();

  async function test(): Promise<void> {
    try {
      if (await deliversNotifications(sql)) prepareStatements(sql);
    } catch {
      // Two round trips per statement are not a failure.
      tested = null;
    }
  }
}

async function deliversNotifications(sql: Sql): Promise<boolean> {
  const signal = AbortSignal.timeout(TEST_TIMEOUT_MS);
  return await callerSessionsOf(sql).use(
    (listener) => hears(listener, { notifier: sql, signal }),
    { userId: CHANNEL, signal, closes: false },
  );
}

/** The pool of the listener has one connection, which is therefore not reserved. */
async function hears(
  listener: Sql,
  { notifier, signal }: { readonly notifier: Sql; readonly signal: AbortSignal },
): Promise<boolean> {
  signal.throwIfAborted();
  const test = crypto.randomUUID();
  const heard = Promise.withResolvers<boolean>();
  const giveUp = () => heard.resolve(false);
  signal.addEventListener("abort", giveUp, { once: true });
  const ignore = onNotification(listener, (channel, payload) => {
    if (channel === CHANNEL && payload === test) heard.resolve(true);
  });
  try {
    await listener.unsafe(`listen ${CHANNEL}`);
    await answerInTime(notifier`select pg_notify(${CHANNEL}, ${test})`);
    const isHeard = await heard.promise;
    await listener.unsafe(`unlisten ${CHANNEL}`);
    return isHeard;
  } finally {
    signal.removeEventListener("abort", giveUp);
    ignore();
  }
}
