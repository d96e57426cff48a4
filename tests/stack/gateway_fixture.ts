import { createSql, type Sql } from "../../shared/platform/db/sql_client.ts";
import type { StackDatabase } from "../../stack/database/database_port.ts";
import { openDatabase } from "../../stack/open_database.ts";
import { protectProcess } from "../../stack/database/protect_process.ts";
import { startGateway } from "../../stack/gateway/gateway.ts";
import { LOOPBACK_CALLERS } from "../../stack/local_callers.ts";
import { ensureKeys, type StackKeys } from "../../stack/keys/keys.ts";
import { loadSupabaseJs, type SupabaseClient } from "../deps.ts";

/** A gateway over an ephemeral embedded database. */
export interface GatewayFixture extends AsyncDisposable {
  readonly url: string;
  readonly keys: StackKeys;
  readonly database: StackDatabase;
  /** As the database's superuser. */
  readonly sql: Sql;
  /** Events that the gateway logged, in order. */
  readonly events: readonly string[];
  /** A real client with only the publishable key. */
  client(): SupabaseClient;
  /** A real client with the secret key. */
  service(): SupabaseClient;
  /** A client signed in as a new user. */
  signedUp(email?: string): Promise<{ readonly client: SupabaseClient; readonly id: string }>;
}

/** Starts the fixture; `setUpSql` runs like a migration before the first request. */
export async function startGatewayFixture(
  setUpSql = "",
  options: { readonly statementLimitMs?: number } = {},
): Promise<GatewayFixture> {
  const events: string[] = [];
  const log = (_level: string, event: string) => void events.push(event);
  const unprotect = protectProcess(() => {});
  const database = await openDatabase({
    db: "pglite",
    dataDir: null,
    log,
    ...options,
  });
  const sql = createSql(database.adminUrl, { maxConnections: 2, applicationName: "gateway-test" });
  await sql.unsafe(setUpSql);
  const keys = await ensureKeys(null);
  const gateway = await startGateway({
    database,
    keys,
    port: 0,
    callers: LOOPBACK_CALLERS,
    dataDir: null,
    log,
    functions: {
      fetch: (name, request) =>
        Promise.resolve(
          name === "events"
            ? manyEvents()
            : Response.json({ name, path: new URL(request.url).pathname }),
        ),
    },
    realtime: { fetch: (request) => Promise.resolve(upgradeEcho(request)) },
  });
  const { createClient } = await loadSupabaseJs();
  const open = (key: string) =>
    createClient(gateway.url, key, { auth: { persistSession: false, autoRefreshToken: false } });
  return {
    url: gateway.url,
    keys,
    database,
    sql,
    events,
    client: () => open(keys.publishableKey),
    service: () => open(keys.secretKey),
    signedUp: async (email = `${crypto.randomUUID()}@example.com`) => {
      const client = open(keys.publishableKey);
      const { data, error } = await client.auth.signUp({ email, password: "long-enough" });
      if (error !== null || data.user === null) throw new Error("Cannot sign up", { cause: error });
      return { client, id: data.user.id };
    },
    [Symbol.asyncDispose]: async () => {
      await gateway.stop();
      await sql.end({ timeout: 1 });
      await database.stop();
      unprotect();
    },
  };
}

function manyEvents(): Response {
  return new Response("data: tick\n\n".repeat(100), {
    headers: { "content-type": "text/event-stream" },
  });
}

/** A Realtime that echoes; the real one has its own tests. */
function upgradeEcho(request: Request): Response {
  const { socket, response } = Deno.upgradeWebSocket(request);
  socket.onmessage = ({ data }) => socket.send(data);
  return response;
}
