import { createSql, prepareStatements, type Sql } from "./sql_client.ts";

const CHANNEL = "supaswarm_session_check";
/** A notification that takes longer than this is as good as none. */
const TEST_TIMEOUT_MS = 3_000;
const CLOSE_TIMEOUT_SECONDS = 1;

/**
 * Makes a function that finds out, once, whether each connection of a pool has a session of its own,
 * and from then on prepares the pool's statements. There a notification reaches who listens for it;
 * a transaction pooler takes a LISTEN and never delivers, and so does the embedded database. Never
 * throws.
 *
 * @param databaseUrl Of the pool's server; the test takes a connection of its own.
 */
export function createSessionCheck(sql: Sql, databaseUrl: string): () => Promise<void> {
  let tested: Promise<void> | null = null;
  return () => tested ??= test();

  async function test(): Promise<void> {
    const listening = createSql(databaseUrl, {
      maxConnections: 1,
      applicationName: "supaswarm session check",
    });
    try {
      if (await canHear(listening, sql)) prepareStatements(sql);
    } catch {
      // Two round trips a statement are no failure.
    } finally {
      await listening.end({ timeout: CLOSE_TIMEOUT_SECONDS }).catch(() => {});
    }
  }
}

async function canHear(listening: Sql, sql: Sql): Promise<boolean> {
  const test = crypto.randomUUID();
  const heard = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => heard.resolve(false), TEST_TIMEOUT_MS);
  try {
    await listening.listen(CHANNEL, (payload) => {
      if (payload === test) heard.resolve(true);
    });
    await sql`select pg_notify(${CHANNEL}, ${test})`;
    return await heard.promise;
  } finally {
    clearTimeout(timer);
  }
}
