import { z } from "../../vendor/zod.js";
import type { SwarmError } from "../errors/swarm_error.ts";
import { answerInTime } from "./answer_in_time.ts";
import type { LentConnection } from "./lent_connection.ts";
import { closeWith, createSqlAs, type Sql } from "./sql_client.ts";
import { UserTurns } from "./user_turns.ts";

/** Seconds after which an unused connection is closed. */
const IDLE_SECONDS = 5;
/** Time that an aborted statement gets to end; then its connection counts as lost. */
const ABORT_GRACE_MS = 5_000;
/** More than the largest first batch of rows that an answer could show. */
const MAX_ANSWER_BYTES = 32 * 1_048_576;
/** Codes of a wrong password or missing role: the login was renewed in the meantime. */
const LOGIN_REFUSED: ReadonlySet<unknown> = new Set(["28P01", "28000"]);

const loginSchema = z.object({ name: z.string(), password: z.string() });

/** Options of {@linkcode CallerSessions.use}. */
export interface CallerUse {
  /** The user whose statements run. With several connections, a user has one of them at a time. */
  readonly userId: string;
  /**
   * Aborting it ends the wait for a connection, and closes the connection if the work does not end
   * within five seconds, so that a lost answer does not keep it from other users.
   */
  readonly signal: AbortSignal;
  /**
   * Close the connection afterwards. Session state of a statement that a reset does not end, such as
   * locks and prepared statements, would affect the next caller.
   */
  readonly closes: boolean;
}

/**
 * Connections of the login that is only a member of `authenticated`. Users take turns, so that a
 * user waits for at most one call of each other user.
 */
export interface CallerSessions {
  use<T>(work: (sql: Sql) => Promise<T>, use: CallerUse): Promise<T>;
}

/** The connections that run statements of callers. */
export interface CallerConnections {
  readonly count: number;
  /**
   * An additional one, borrowed while one caller's statement runs and another waits. @default none
   */
  readonly lent?: LentConnection;
}

const allowed = new WeakMap<Sql, CallerConnections>();
const sessions = new WeakMap<Sql, CallerSessions>();

/** Sets the connections that run statements of callers next to a pool. @default one */
export function setCallerConnections(sql: Sql, connections: CallerConnections): void {
  allowed.set(sql, connections);
}

/**
 * The callers' sessions next to a pool of the functions' own login; they are closed with the pool.
 */
export function callerSessionsOf(sql: Sql): CallerSessions {
  const known = sessions.get(sql);
  if (known !== undefined) return known;
  const opened = openLazily(sql, allowed.get(sql) ?? { count: 1 });
  sessions.set(sql, opened);
  return opened;
}

function openLazily(main: Sql, { count, lent }: CallerConnections): CallerSessions {
  const own = Array.from({ length: count }, () => new LazyConnection(main));
  // Turns are assigned from the end, so the borrowed one is used last.
  const connections = lent === undefined ? own : [new BorrowedConnection(main, lent), ...own];
  const turns = new UserTurns(connections);
  closeWith(main, async () => {
    await Promise.all(connections.map((connection) => connection.close()));
  });
  return {
    async use(work, { userId, signal, closes }) {
      const connection = await turns.take(userId, signal);
      const settle = closeAfterAbort(connection, signal);
      try {
        return await connection.run(work);
      } finally {
        settle();
        if (closes) await connection.close();
        turns.giveBack(userId, connection);
      }
    },
  };
}

/** Closes a connection that is still in use some time after the abort, until the result is called. */
function closeAfterAbort(
  connection: LazyConnection | BorrowedConnection,
  signal: AbortSignal,
): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const onAbort = () => {
    timer = setTimeout(() => void connection.close(0), ABORT_GRACE_MS);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  return () => {
    signal.removeEventListener("abort", onAbort);
    clearTimeout(timer);
  };
}

/** A connection that is opened on first use, and again after its login was renewed. */
class LazyConnection {
  readonly #main: Sql;
  #opened: Sql | null = null;
  /** Why the opened connection has ended. */
  #excess: SwarmError | null = null;

  constructor(main: Sql) {
    this.#main = main;
  }

  async run<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    try {
      return await work(this.#opened ??= await this.#open());
    } catch (error) {
      if (this.#excess !== null) {
        const excess = this.#excess;
        // The driver does not open a connection again that ended within a transaction.
        await this.close();
        throw excess;
      }
      if (!isLoginRefused(error)) throw error;
      await this.close();
      return await work(this.#opened = await this.#open());
    }
  }

  /**
   * Never throws: the next caller opens another connection, whatever became of this one.
   *
   * @param graceSeconds Time for a running statement, which then fails. @default 1, 0 if lost
   */
  async close(graceSeconds = this.#excess === null ? 1 : 0): Promise<void> {
    const closing = this.#opened;
    this.#opened = null;
    this.#excess = null;
    await closing?.end({ timeout: graceSeconds }).catch(() => {});
  }

  async #open(): Promise<Sql> {
    const [row] = await answerInTime(this.#main`select private.caller_login() as login`);
    const { name, password } = loginSchema.parse(row?.login);
    return createSqlAs(this.#main, { name, password }, {
      maxConnections: 1,
      idleSeconds: IDLE_SECONDS,
      applicationName: "supaswarm caller",
      answerCap: {
        maxBytes: MAX_ANSWER_BYTES,
        onExcess: (error) => {
          this.#excess = error;
        },
      },
    });
  }
}

/** A borrowed connection that is open only while it is used. */
class BorrowedConnection {
  readonly #connection: LazyConnection;
  readonly #lent: LentConnection;

  constructor(main: Sql, lent: LentConnection) {
    this.#connection = new LazyConnection(main);
    this.#lent = lent;
  }

  async run<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    await this.#lent.borrow();
    try {
      return await this.#connection.run(work);
    } finally {
      await this.#connection.close();
      this.#lent.giveBack();
    }
  }

  async close(graceSeconds?: number): Promise<void> {
    await this.#connection.close(graceSeconds);
  }
}

function isLoginRefused(error: unknown): boolean {
  return error instanceof Error && LOGIN_REFUSED.has(Reflect.get(error, "code"));
}
