import { type NativeCluster, startNativeCluster } from "../../stack/native/native_cluster.ts";
import { findNativePrefix } from "../../stack/native/native_prefix.ts";
import { createSql, type Sql } from "../../shared/db/sql_client.ts";

/** A fresh native cluster with the platform on it; gone at the end of its scope. */
export interface NativeServer extends AsyncDisposable {
  readonly cluster: NativeCluster;
  /** As `postgres`: what migrations and functions are. */
  readonly sql: Sql;
  /** As `supabase_admin`. */
  readonly admin: Sql;
}

/** Starts one; takes about a second and a half. Needs `deno task native:install` to have run. */
export async function startNativeServer(): Promise<NativeServer> {
  const dataDir = await Deno.makeTempDir({ prefix: "supaswarm_native_" });
  const cluster = await startNativeCluster({ prefix: await findNativePrefix(), dataDir, port: 0 });
  const open = (url: string) =>
    createSql(url, { maxConnections: 4, applicationName: "supaswarm-test" });
  const [sql, admin] = [open(cluster.url), open(cluster.adminUrl)];
  return {
    cluster,
    sql,
    admin,
    async [Symbol.asyncDispose]() {
      await Promise.all([sql.end({ timeout: 1 }), admin.end({ timeout: 1 })]);
      await cluster.stop();
      await Deno.remove(dataDir, { recursive: true });
    },
  };
}

/** A transaction of postgres.js. */
export type Transaction = Parameters<Parameters<Sql["begin"]>[1]>[0];

/** Runs `body` as an API role, in a transaction that is rolled back. */
export async function asRole<T>(
  sql: Sql,
  role: string,
  body: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const outcome = await sql.begin(async (tx) => {
    await tx.unsafe(`set local role ${role}`);
    throw new RolledBack(await body(tx));
  }).catch((error) => error);
  if (outcome instanceof RolledBack) return outcome.value;
  throw outcome;
}

/** Carries a body's result out of the transaction that it ends. */
class RolledBack<T> {
  constructor(readonly value: T) {}
}
