import type { TransactionSql } from "../../vendor/postgres.js";
import type { JsonObject } from "../values/json.ts";
import { jsonObject } from "../values/json_schema.ts";
import { sleep } from "../values/sleep.ts";
import { answerInTime } from "./answer_in_time.ts";
import { callerSessionsOf } from "./caller_session.ts";
import type { Sql } from "./sql_client.ts";

/** The user and timeout of a transaction. */
export interface UserTransaction {
  readonly userId: string;
  /** The claims of the user's verified token. @default the claims that Auth would issue */
  readonly tokenClaims?: JsonObject;
  /**
   * The product's own claims, such as `supaswarm_actor`, which a token cannot contain. @default
   * none
   */
  readonly claims?: JsonObject;
  readonly isReadOnly: boolean;
  readonly statementTimeoutMs: number;
  /** Further settings of the transaction, by name; those of the caller's rights stay. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Aborting it cancels the running statement. */
  readonly signal: AbortSignal;
}

/**
 * Runs a transaction with a signed-in user's role and claims, so that row level security holds. It
 * uses a separate login that is only a member of `authenticated`, which limits every statement. A
 * read-only transaction is rolled back, so that it leaves no session state.
 *
 * @throws errors of the database or `work`; the signal's reason if it aborted.
 */
export async function runAsUser<T>(
  sql: Sql,
  {
    userId,
    tokenClaims,
    claims: ownClaims = {},
    settings: ownSettings = {},
    isReadOnly,
    statementTimeoutMs,
    signal,
  }: UserTransaction,
  work: (sql: TransactionSql) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const verified = withoutOwn(tokenClaims ?? await claimsOfAccount(sql, userId));
  const claims = { ...verified, ...ownClaims, sub: userId, role: "authenticated" };
  const settings = {
    ...NO_SETTINGS,
    ...ownSettings,
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
        -- A called function could replace the claims, but cannot release a lock of its
        -- transaction. The key is random, so that no one else can hold it.
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

/**
 * Class of the locks that mark a transaction as an agent's; `private.is_agent_call()` checks it.
 */
const AGENT_LOCK_CLASS = 1_398_227_271;

/**
 * Settings that an earlier statement of the session may have changed, and limits: a query takes
 * `work_mem` for each of its sorts and hash tables, in each worker.
 */
const NO_SETTINGS = {
  hash_mem_multiplier: "1",
  jit: "off",
  max_parallel_workers_per_gather: "0",
  work_mem: "4MB",
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
  const [row] = await answerInTime(
    sql`select private.user_claims(${userId}) as claims`,
  );
  return jsonObject.nullable().parse(row?.claims ?? null) ?? {};
}

async function beginReadWrite<T>(
  sql: Sql,
  run: (transaction: TransactionSql) => Promise<T>,
): Promise<T> {
  const committed = await sql.begin("read write", async (transaction) => {
    const [session] = await transaction<{ path: string }[]>`
      select current_setting('search_path') as path`;
    const result = await run(transaction);
    await resetSession(transaction, session?.path ?? "");
    return result;
  });
  // postgres.js widens the result type to that of arrays of queries.
  return committed as T;
}

const RESET = "set constraints all immediate; discard temp; reset all; " +
  "reset session authorization; reset role";

/**
 * Undoes what the transaction's statements have set for the whole session, which others share on
 * the embedded database and behind a pooler. It commits with the transaction, so that no other
 * statement runs in between. Deferred triggers run first, because they could set something too.
 */
async function resetSession(transaction: TransactionSql, searchPath: string): Promise<void> {
  await transaction.unsafe(RESET).simple();
  await transaction`select set_config('search_path', ${searchPath}, false)`;
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
  throw new Error("Cannot end the transaction: it was committed instead of rolled back");
}

/** Rolls back a read-only transaction after its work. */
class ReadToEnd extends Error {
  constructor(readonly result: unknown) {
    super("Read to the end");
  }
}

interface Session {
  readonly pid: number;
  readonly started_at: string;
}

/** The database ignores a cancellation between two messages of a statement. */
const CANCEL_INTERVAL_MS = 100;

/**
 * Cancels a session's statements until its transaction has ended. The transaction is checked too,
 * because a pooler may have reassigned the session.
 */
async function cancelSession(
  sql: Sql,
  { pid, started_at: startedAt }: Session,
  { signal: ended }: AbortController,
): Promise<void> {
  try {
    while (!ended.aborted) {
      // As text, because the driver's date has no microseconds.
      await answerInTime(sql`
        select pg_cancel_backend(activity.pid)
        from pg_stat_activity activity
        where activity.pid = ${pid} and activity.xact_start = ${startedAt}::text::timestamptz`);
      await sleep(CANCEL_INTERVAL_MS, ended);
    }
  } catch {
    // The transaction has ended, or its statement timeout will end it.
  }
}
