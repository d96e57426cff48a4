import type { TransactionSql } from "../vendor/postgres.js";
import type { JsonObject } from "../json.ts";
import { jsonObject } from "../json_schema.ts";
import { sleep } from "../sleep.ts";
import { callerSessionsOf } from "./caller_session.ts";
import type { Sql } from "./sql_client.ts";

/** As whom a transaction runs, and how long. */
export interface UserTransaction {
  readonly userId: string;
  /** All that the user's verified token says. @default what Auth would say of the account */
  readonly tokenClaims?: JsonObject;
  /** The product's own, such as `supaswarm_actor`, which no token can bring. @default none */
  readonly claims?: JsonObject;
  readonly isReadOnly: boolean;
  readonly statementTimeoutMs: number;
  /** Aborting it cancels the statement that runs. */
  readonly signal: AbortSignal;
}

/**
 * Runs a transaction with a signed-in user's role and claims, so that row level security holds. It
 * has a login of its own, which is a member of `authenticated` alone: no statement gets further.
 * A transaction that only reads is rolled back, so that it leaves nothing in the session.
 *
 * @throws what the database or `work` throws; the signal's reason when it aborted.
 */
export async function runAsUser<T>(
  sql: Sql,
  { userId, tokenClaims, claims: ownClaims = {}, isReadOnly, statementTimeoutMs, signal }:
    UserTransaction,
  work: (sql: TransactionSql) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const verified = withoutOwn(tokenClaims ?? await claimsOfAccount(sql, userId));
  const claims = { ...verified, ...ownClaims, sub: userId, role: "authenticated" };
  const settings = {
    ...NO_SETTINGS,
    statement_timeout: String(Math.ceil(statementTimeoutMs)),
    "request.jwt.claims": JSON.stringify(claims),
    role: "authenticated",
  };
  const isAgent = ownClaims.supaswarm_actor === "agent";
  const end = new AbortController();
  const run = async (transaction: TransactionSql) => {
    const [session] = await transaction<Session[]>`
      select pg_backend_pid() as pid, now()::text as started_at,
        count(set_config(setting.name, setting.value, true)),
        -- What is called could replace the claims, but not release a lock of its transaction. The
        -- key is random, so that nobody can keep it from being taken.
        (select pg_advisory_xact_lock_shared(
          ${AGENT_LOCK_CLASS}::int, floor(random() * 2147483647)::int)::text where ${isAgent})
      from jsonb_each_text(${transaction.json(settings)}) as setting (name, value)`;
    signal.throwIfAborted();
    const cancel = () => session === undefined ? undefined : cancelSession(sql, session, end);
    signal.addEventListener("abort", cancel, { once: true, signal: end.signal });
    return await work(transaction);
  };
  const begin = isReadOnly ? beginReadOnly<T> : beginReadWrite<T>;
  try {
    return await callerSessionsOf(sql).use((callers) => begin(callers, run), {
      userId,
      signal,
      closes: !isReadOnly,
    });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    end.abort();
  }
}

/** Names the locks that mark a transaction as an agent's; `private.is_agent_call()` looks for one. */
const AGENT_LOCK_CLASS = 1_398_227_271;

/** What an earlier statement of the session may have set. */
const NO_SETTINGS = {
  search_path: "public, extensions",
  "request.headers": "",
  "request.jwt.claim": "",
  "request.jwt.claim.sub": "",
  "request.jwt.claim.role": "",
  "request.jwt.claim.email": "",
} as const;

function withoutOwn(claims: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(claims).filter(([name]) => !name.startsWith("supaswarm_")),
  );
}

async function claimsOfAccount(sql: Sql, userId: string): Promise<JsonObject> {
  const [row] = await sql`select private.user_claims(${userId}) as claims`;
  return jsonObject.nullable().parse(row?.claims ?? null) ?? {};
}

async function beginReadWrite<T>(
  sql: Sql,
  run: (transaction: TransactionSql) => Promise<T>,
): Promise<T> {
  // postgres.js widens the result type to that of arrays of queries.
  return await sql.begin("read write", run) as T;
}

async function beginReadOnly<T>(
  sql: Sql,
  run: (transaction: TransactionSql) => Promise<T>,
): Promise<T> {
  try {
    await sql.begin("read only", async (transaction) => {
      throw new ReadToEnd(await run(transaction));
    });
  } catch (error) {
    if (error instanceof ReadToEnd) return error.result as T;
    throw error;
  }
  throw new Error("A transaction that is rolled back has been committed");
}

/** Rolls a transaction back that has done its work. */
class ReadToEnd extends Error {
  constructor(readonly result: unknown) {
    super("Read to the end");
  }
}

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
