import { createSql, type Sql } from "../../shared/platform/db/sql_client.ts";
import type { OpenLogger as Logger } from "../../shared/platform/log/logger.ts";
import { openDatabase } from "../../stack/open_database.ts";
import { startRealtime } from "../../stack/realtime/realtime.ts";
import { loadSupabaseJs, type SupabaseClient } from "../deps.ts";

/** A Realtime server over an ephemeral embedded database, behind HTTP. */
export interface RealtimeFixture extends AsyncDisposable {
  readonly url: string;
  readonly sql: Sql;
  /** The names of all logged events. */
  readonly logged: readonly string[];
  readonly publishableKey: string;
  readonly secretKey: string;
  /** A token for that user; the fake issuer remembers its tokens instead of signing them. */
  token(sub: string, options?: { readonly role?: string; readonly lifeSeconds?: number }): string;
  /** A real client, closed with the fixture. */
  client(options?: ClientOptions): Promise<SupabaseClient>;
  /** Ends the Realtime server and starts another one on the same address. */
  restartServer(): Promise<void>;
}

/** How a client connects. */
export interface ClientOptions {
  /** Returns the current token; without it the client has only its key. */
  readonly accessToken?: () => string;
  /** @default the publishable key */
  readonly key?: string;
  /** @default "2.0.0" */
  readonly vsn?: "1.0.0" | "2.0.0";
}

const PUBLISHABLE_KEY = "sb_publishable_fixture";
const SECRET_KEY = "sb_secret_fixture";

/** Starts the fixture; `setUpSql` runs like a migration. */
export async function startRealtimeFixture(
  setUpSql: string,
  options: { readonly statementLimitMs?: number } = {},
): Promise<RealtimeFixture> {
  const logged: string[] = [];
  const log: Logger = (_level, event) => void logged.push(event);
  const database = await openDatabase({
    db: "pglite",
    dataDir: null,
    log,
    ...options,
  });
  const sql = createSql(database.url, { maxConnections: 4, applicationName: "realtime-test" });
  await sql.unsafe(setUpSql);

  const issued = new Map<string, Record<string, unknown>>();
  const serverOptions = {
    database,
    verifyToken: (token: string) => Promise.resolve(issued.get(token) ?? null),
    publishableKey: PUBLISHABLE_KEY,
    secretKey: SECRET_KEY,
    log,
  };
  let realtime = await startRealtime(serverOptions);
  const http = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    (request) => realtime.fetch(request),
  );
  const url = `http://127.0.0.1:${http.addr.port}`;
  const clients: SupabaseClient[] = [];
  const { createClient } = await loadSupabaseJs();

  return {
    url,
    sql,
    logged,
    publishableKey: PUBLISHABLE_KEY,
    secretKey: SECRET_KEY,
    token: (sub, { role = "authenticated", lifeSeconds = 3600 } = {}) => {
      const exp = Math.floor(Date.now() / 1000) + lifeSeconds;
      const claims = { sub, role, exp, jti: crypto.randomUUID() };
      const token = `${btoa('{"alg":"none"}')}.${btoa(JSON.stringify(claims))}.`;
      issued.set(token, claims);
      return token;
    },
    client: async ({ accessToken, key = PUBLISHABLE_KEY, vsn = "2.0.0" } = {}) => {
      const client = createClient(url, key, {
        realtime: { vsn },
        ...(accessToken === undefined
          ? { auth: { persistSession: false, autoRefreshToken: false } }
          : { accessToken: () => Promise.resolve(accessToken()) }),
      });
      clients.push(client);
      // The first join must not be faster than the client's own session check.
      await client.realtime.setAuth();
      return client;
    },
    restartServer: async () => {
      await realtime.stop();
      realtime = await startRealtime(serverOptions);
    },
    [Symbol.asyncDispose]: async () => {
      for (const client of clients) {
        await client.removeAllChannels();
        await client.realtime.disconnect();
      }
      await realtime.stop();
      await http.shutdown();
      // A connection that broke during a database restart never ends on its own.
      await sql.end({ timeout: 1 });
      await database.stop();
    },
  };
}
