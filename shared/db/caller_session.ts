import { z } from "zod";
import { closeWith, createSqlAs, type Sql } from "./sql_client.ts";

/** Seconds after which an unused connection is closed. */
const IDLE_SECONDS = 5;
/** Codes of a password that is wrong or a role that is gone: the login was renewed meanwhile. */
const LOGIN_REFUSED: ReadonlySet<unknown> = new Set(["28P01", "28000"]);

const loginSchema = z.object({ name: z.string(), password: z.string() });

/** How {@linkcode CallerSession.use} runs. */
export interface CallerUse {
  /** Aborting it ends the wait for the connection. */
  readonly signal: AbortSignal;
  /**
   * Close the connection afterwards. What a statement leaves in a session (settings, temporary
   * tables, locks) outlives its commit, and would meet the next caller.
   */
  readonly closes: boolean;
}

/**
 * One connection of the login that is a member of `authenticated` alone. Whoever needs it waits for
 * its turn, so an isolate has no more than one.
 */
export interface CallerSession {
  use<T>(work: (sql: Sql) => Promise<T>, use: CallerUse): Promise<T>;
}

const sessions = new WeakMap<Sql, CallerSession>();

/** The caller's session beside a pool of the functions' own login; it is closed with the pool. */
export function callerSessionOf(sql: Sql): CallerSession {
  const known = sessions.get(sql);
  if (known !== undefined) return known;
  const session = openLazily(sql);
  sessions.set(sql, session);
  return session;
}

function openLazily(main: Sql): CallerSession {
  let opened: Sql | null = null;
  let turns: Promise<unknown> = Promise.resolve();
  closeWith(main, close);
  return { use };

  async function use<T>(work: (sql: Sql) => Promise<T>, { signal, closes }: CallerUse): Promise<T> {
    const before = turns;
    const done = Promise.withResolvers<void>();
    turns = Promise.all([before, done.promise]);
    try {
      await untilAborted(before, signal);
      return await run(work);
    } finally {
      if (closes) await close();
      done.resolve();
    }
  }

  async function run<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    try {
      return await work(opened ??= await open(main));
    } catch (error) {
      if (!isLoginRefused(error)) throw error;
      await close();
      return await work(opened = await open(main));
    }
  }

  async function close(): Promise<void> {
    const closing = opened;
    opened = null;
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

/** @throws the signal's reason when it aborts first. */
async function untilAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
