import type { TransactionSql } from "postgres";
import type { JsonObject } from "../json.ts";
import { sleep } from "../sleep.ts";
import type { Sql } from "./sql_client.ts";

/** As whom a transaction runs, and how long. */
export interface UserTransaction {
  readonly userId: string;
  /** Beside `sub` and `role`; `supaswarm_actor` of `agent` takes the rights of agents. @default none */
  readonly claims?: JsonObject;
  readonly isReadOnly: boolean;
  readonly statementTimeoutMs: number;
  /** Aborting it cancels the statement that runs. */
  readonly signal: AbortSignal;
}

/**
 * Runs a transaction with a signed-in user's role and claims, so that row level security holds.
 *
 * @throws what the database or `work` throws; the signal's reason when it aborted.
 */
export async function runAsUser<T>(
  sql: Sql,
  { userId, claims: ownClaims = {}, isReadOnly, statementTimeoutMs, signal }: UserTransaction,
  work: (sql: TransactionSql) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const claims = JSON.stringify({ ...ownClaims, sub: userId, role: "authenticated" });
  const isAgent = ownClaims.supaswarm_actor === "agent";
  const end = new AbortController();
  try {
    const result = await sql.begin(isReadOnly ? "read only" : "read write", async (transaction) => {
      const [session] = await transaction<Session[]>`
        select pg_backend_pid() as pid, now()::text as started_at,
          set_config('statement_timeout', ${String(Math.ceil(statementTimeoutMs))}, true),
          set_config('request.jwt.claims', ${claims}, true),
          set_config('role', 'authenticated', true),
          -- What is called could replace the claims, but not release a lock of its transaction.
          -- The key is random, so that nobody can wait for it or keep it from being taken.
          case when ${isAgent} then pg_advisory_xact_lock_shared(
            ${AGENT_LOCK_CLASS}::int, floor(random() * 2147483647)::int)::text end`;
      signal.throwIfAborted();
      const cancel = () => session === undefined ? undefined : cancelSession(sql, session, end);
      signal.addEventListener("abort", cancel, { once: true, signal: end.signal });
      return await work(transaction);
    });
    return result as T;
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    end.abort();
  }
}

/** Names the locks that mark a transaction as an agent's; `private.is_agent_call()` looks for one. */
const AGENT_LOCK_CLASS = 1_398_227_271;

interface Session {
  readonly pid: number;
  readonly started_at: string;
}

/** Between two messages of a statement the database takes no notice of a cancellation. */
const CANCEL_INTERVAL_MS = 100;

/**
 * Cancels what a session runs until its transaction has ended. It is known by its transaction, too:
 * a pooler may have given the session to somebody else meanwhile.
 */
async function cancelSession(
  sql: Sql,
  { pid, started_at: startedAt }: Session,
  { signal: ended }: AbortController,
): Promise<void> {
  try {
    while (!ended.aborted) {
      // As text, since the driver would make a date without microseconds of it.
      await sql`
        select pg_cancel_backend(activity.pid)
        from pg_stat_activity activity
        where activity.pid = ${pid} and activity.xact_start = ${startedAt}::text::timestamptz`;
      await sleep(CANCEL_INTERVAL_MS, ended);
    }
  } catch {
    // The transaction has ended; or the statement timeout will end it.
  }
}
