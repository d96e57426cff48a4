/** How the connections of a database's address behave. */
export interface Pooling {
  /**
   * Whether each connection has a session of its own. Without one, a LISTEN is accepted and never
   * delivers.
   */
  readonly hasSessions: boolean;
  /**
   * Whether a statement may be sent before the one ahead of it is answered. Poolers lose such
   * statements, or never answer them.
   */
  readonly pipelines: boolean;
}

/** What a connection of an address is: a session of its own, or one that transactions share. */
export const POOL_MODES = ["session", "transaction"] as const;

/** One of {@linkcode POOL_MODES}, as PgBouncer and Supavisor call them. */
export type PoolMode = typeof POOL_MODES[number];

/** The parameter with which such an address is marked, as Prisma does. It is not Postgres's. */
const PARAMETER = "pgbouncer";
/** The port of Supabase's transaction poolers: Supavisor, and the dedicated PgBouncer. */
const TRANSACTION_PORT = "6543";
const POOLER_HOST = /(^|[.-])(pooler|supavisor|pgbouncer)([.-]|$)/i;

/** Reads from an address whether it is a pooler's, and which. */
export function poolingOf(url: string): Pooling {
  const { hostname, port, searchParams } = new URL(url);
  const mark = searchParams.get(PARAMETER);
  if (mark === "false") return { hasSessions: true, pipelines: true };
  if (mark !== null || port === TRANSACTION_PORT) return { hasSessions: false, pipelines: false };
  return { hasSessions: true, pipelines: !POOLER_HOST.test(hostname) };
}

/** Marks an address with the mode that an operator names. */
export function withPoolMode(url: string, mode: PoolMode): string {
  const marked = new URL(url);
  marked.searchParams.set(PARAMETER, String(mode === "transaction"));
  return marked.href;
}

/** Removes the mark, because Postgres refuses parameters that it does not know. */
export function withoutPoolMark(url: string): string {
  const unmarked = new URL(url);
  if (!unmarked.searchParams.has(PARAMETER)) return url;
  unmarked.searchParams.delete(PARAMETER);
  return unmarked.href;
}
