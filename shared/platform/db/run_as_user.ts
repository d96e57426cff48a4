import type { TransactionSql } from "../../vendor/postgres.js";
import type { JsonObject } from "../values/json.ts";
import { jsonObject } from "../values/json_schema.ts";
import { sleep } from "../values/sleep.ts";
import { SwarmError } from "../errors/swarm_error.ts";
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
 * @throws SwarmError `TOOL_TIMEOUT` if the server does not end a statement at its timeout; errors of
 * the database, such as `STATEMENT_STILL_RUNNING` while an earlier statement of the user runs past
 * its time, or of `work`; the signal's reason if it aborted.
 */
export async function runAsUser<T>(
  sql: Sql,
  user: UserTransaction,
  work: (sql: TransactionSql) => Promise<T>,
): Promise<T> {
  const { isReadOnly, userId } = user;
  const begin = isReadOnly ? beginReadOnly<T> : beginReadWrite<T>;
  return await runWithClaims(
    sql,
    user,
    (run, signal) => {
      const beginAndForget = async (callers: Sql) => {
        try {
          return await begin(callers, run);
        } finally {
          await forget(callers);
        }
      };
      return callerSessionsOf(sql).use(beginAndForget, { userId, signal, closes: !isReadOnly });
    },
    work,
  );
}

/**
 * Runs a transaction with the rights of the project's migrations, on behalf of an operator. Its
 * snapshot is fixed. `work` must send no statement that could call functions of the project or
 * change settings.
 *
 * @throws SwarmError `MIGRATION_REQUIRED` if the user is not an operator; errors of the database or
 * `work`; the signal's reason if it aborted.
 */
export async function runAsOperator<T>(
  sql: Sql,
  user: UserTransaction,
  work: (sql: TransactionSql) => Promise<T>,
): Promise<T> {
  const mode = `isolation level repeatable read read ${user.isReadOnly ? "only" : "write"}`;
  return await runWithClaims(
    sql,
    user,
    async (run) => await sql.begin(mode, run) as T,
    async (transaction) => {
      const [caller] = await transaction<{ is_operator: boolean }[]>`
        select private.is_operator() as is_operator`;
      if (caller?.is_operator !== true) {
        throw new SwarmError(
          "MIGRATION_REQUIRED",
          "Cannot run this: the caller is not an operator",
        );
      }
      await transaction`select set_config('role', 'none', true)`;
      return await work(transaction);
    },
  );
}

/** Runs work in a transaction with the role and claims of a user, which an abort cancels. */
async function runWithClaims<T>(
  sql: Sql,
  {
    userId,
    tokenClaims,
    claims: ownClaims = {},
    settings: ownSettings = {},
    statementTimeoutMs,
    signal: callersSignal,
  }: UserTransaction,
  begin: (
    run: (transaction: TransactionSql) => Promise<T>,
    signal: AbortSignal,
  ) => Promise<T>,
  work: (sql: TransactionSql) => Promise<T>,
): Promise<T> {
  callersSignal.throwIfAborted();
  await answerInTime(sql`select private.assert_no_late_statement(${userId})`);
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
  const overdue = new AbortController();
  const signal = AbortSignal.any([callersSignal, overdue.signal]);
  let patience: ReturnType<typeof setTimeout> | undefined;
  const run = async (transaction: TransactionSql) => {
    const [session] = await transaction<Session[]>`
      select pg_backend_pid() as pid, now()::text as started_at,
        count(set_config(setting.name, setting.value, true)),
        -- A called function could replace the claims, but cannot release a lock of its
        -- transaction. The key is random, so that no one else can hold it.
        (select pg_advisory_xact_lock_shared(
          ${AGENT_LOCK_CLASS}::int, floor(random() * 2147483647)::int)::text where ${isAgent}),
        -- Who runs the statement and for how long, for private.late_statements().
        pg_advisory_xact_lock_shared(
          (${USER_LOCK_CLASS}::bigint << 32) | (hashtext(${userId}::text)::bigint & 4294967295))::text,
        pg_advisory_xact_lock_shared(
          (${TIMEOUT_LOCK_CLASS}::bigint << 32) | ${Math.ceil(statementTimeoutMs)}::bigint)::text
      from jsonb_each_text(${transaction.json(settings)}) as setting (name, value)`;
    signal.throwIfAborted();
    const cancel = () => session === undefined ? undefined : cancelSession(sql, session, end);
    signal.addEventListener("abort", cancel, { once: true, signal: end.signal });
    patience = setTimeout(
      () => overdue.abort(ignoresTimeout(statementTimeoutMs)),
      TIMEOUTS_OF_A_TRANSACTION * statementTimeoutMs + PATIENCE_MS,
    );
    return await work(transaction);
  };
  try {
    return await begin(run, signal);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(patience);
    end.abort();
  }
}

/** A transaction plans a statement and fetches its rows, each within the statement's timeout. */
const TIMEOUTS_OF_A_TRANSACTION = 3;
/** How long the server may take in addition. */
const PATIENCE_MS = 5_000;

function ignoresTimeout(statementTimeoutMs: number): SwarmError {
  return new SwarmError(
    "TOOL_TIMEOUT",
    `Cannot finish the statement: the database does not end it at its timeout of ` +
      `${statementTimeoutMs} ms`,
    { hint: "Compare smaller values. Your next statement is refused until this one has ended." },
  );
}

/**
 * Class of the locks that mark a transaction as an agent's; `private.is_agent_call()` checks it.
 */
const AGENT_LOCK_CLASS = 1_398_227_271;
/** Classes of the locks that name the user and the timeout of a transaction's statements. */
const USER_LOCK_CLASS = 1_398_227_272;
const TIMEOUT_LOCK_CLASS = 1_398_227_273;

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

const RESET = "set constraints all immediate; close all; discard temp; discard sequences; " +
  "reset all; reset session authorization; reset role";

/**
 * Ends what a rollback does not: locks of the session, and statements that were prepared in SQL.
 * Those that clients prepared over the protocol stay.
 */
const FORGET = `
  do $$
  declare
    v_name text;
  begin
    perform pg_catalog.pg_advisory_unlock_all();
    for v_name in select name from pg_catalog.pg_prepared_statements where from_sql loop
      execute pg_catalog.format('deallocate %I', v_name);
    end loop;
  end $$`;

/**
 * Undoes what the transaction's statements have set for the whole session, which others share on
 * the embedded database and behind a pooler. It commits with the transaction, so that no other
 * statement runs in between. Deferred triggers run first, because they could set something too.
 */
async function resetSession(transaction: TransactionSql, searchPath: string): Promise<void> {
  const channels = await transaction<{ name: string }[]>`
    select quote_ident(name) as name from pg_listening_channels() as name`;
  await transaction.unsafe(RESET).simple();
  // Committing is what makes the transaction's own LISTEN and UNLISTEN happen.
  const listens = ["unlisten *", ...channels.map(({ name }) => `listen ${name}`)];
  await transaction.unsafe(listens.join("; ")).simple();
  await transaction`select set_config('search_path', ${searchPath}, false)`;
}

async function forget(callers: Sql): Promise<void> {
  try {
    await callers.unsafe(FORGET).simple();
  } catch {
    // The connection was lost, and its session with it.
  }
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
