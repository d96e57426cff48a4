import { z } from "../vendor/zod.js";
import { closeWith, createSqlAs, type Sql } from "./sql_client.ts";
import { UserTurns } from "./user_turns.ts";

/** Seconds after which an unused connection is closed. */
const IDLE_SECONDS = 5;
/** Codes of a password that is wrong or a role that is gone: the login was renewed meanwhile. */
const LOGIN_REFUSED: ReadonlySet<unknown> = new Set(["28P01", "28000"]);

const loginSchema = z.object({ name: z.string(), password: z.string() });

/** How {@linkcode CallerSessions.use} runs. */
export interface CallerUse {
  /** Whose statements run. Where there are several connections a user has one of them at a time. */
  readonly userId: string;
  /** Aborting it ends the wait for a connection. */
  readonly signal: AbortSignal;
  /**
   * Close the connection afterwards. What a statement leaves in a session (settings, temporary
   * tables, locks) outlives its commit, and would meet the next caller.
   */
  readonly closes: boolean;
}

/**
 * Connections of the login that is a member of `authenticated` alone. Users take turns, so that
 * nobody waits for more than one call of each other user.
 */
export interface CallerSessions {
  use<T>(work: (sql: Sql) => Promise<T>, use: CallerUse): Promise<T>;
}

const counts = new WeakMap<Sql, number>();
const sessions = new WeakMap<Sql, CallerSessions>();

/** Says how many connections may run statements of callers beside a pool. @default 1 */
export function setCallerConnections(sql: Sql, count: number): void {
  counts.set(sql, count);
}

/** The callers' sessions beside a pool of the functions' own login; they are closed with the pool. */
export function callerSessionsOf(sql: Sql): CallerSessions {
  const known = sessions.get(sql);
  if (known !== undefined) return known;
  const opened = openLazily(sql, counts.get(sql) ?? 1);
  sessions.set(sql, opened);
  return opened;
}

function openLazily(main: Sql, count: number): CallerSessions {
  const connections = Array.from({ length: count }, () => new LazyConnection(main));
  const turns = new UserTurns(connections);
  closeWith(main, async () => {
    await Promise.all(connections.map((connection) => connection.close()));
  });
  return {
    async use(work, { userId, signal, closes }) {
      const connection = await turns.take(userId, signal);
      try {
        return await connection.run(work);
      } finally {
        if (closes) await connection.close();
        turns.giveBack(userId, connection);
      }
    },
  };
}

/** A connection that is opened when it is used, and again when its login was renewed. */
class LazyConnection {
  readonly #main: Sql;
  #opened: Sql | null = null;

  constructor(main: Sql) {
    this.#main = main;
  }

  async run<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    try {
      return await work(this.#opened ??= await open(this.#main));
    } catch (error) {
      if (!isLoginRefused(error)) throw error;
      await this.close();
      return await work(this.#opened = await open(this.#main));
    }
  }

  async close(): Promise<void> {
    const closing = this.#opened;
    this.#opened = null;
    await closing?.end({ timeout: 1 });
  }
}

async function open(main: Sql): Promise<Sql> {
  const [row] = await main`select private.caller_login() as login`;
  const { name, password } = loginSchema.parse(row?.login);
  return createSqlAs(main, { name, password }, {
    maxConnections: 1,
    idleSeconds: IDLE_SECONDS,
    applicationName: "supaswarm caller",
  });
}

function isLoginRefused(error: unknown): boolean {
  return error instanceof Error && LOGIN_REFUSED.has(Reflect.get(error, "code"));
}
