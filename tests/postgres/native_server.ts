import { join } from "node:path";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { copyMigratedCluster } from "../../stack/migrated_cluster.ts";
import { type NativeCluster, startNativeCluster } from "../../stack/native/native_cluster.ts";
import { findNativePrefix } from "../../stack/native/native_prefix.ts";
import { createSql, type Sql } from "../../shared/db/sql_client.ts";

/** A new native cluster with the platform on it; deleted at the end of its scope. */
export interface NativeServer extends AsyncDisposable {
  readonly cluster: NativeCluster;
  /** As `postgres`, the role of migrations and functions. */
  readonly sql: Sql;
  /** As `supabase_admin`. */
  readonly admin: Sql;
}

/** Where the suites cache prepared databases. */
const CACHE_DIR = join(PROJECT_ROOT, ".supaswarm", "cache");

/** Starts one in about a second and a half. Requires `deno task native:install`. */
export async function startNativeServer(): Promise<NativeServer> {
  return await startServer(() => Promise.resolve());
}

/** Starts one with the project's migrations and seed. */
export async function startMigratedServer(): Promise<NativeServer> {
  return await startServer(fillMigrated);
}

/** Makes `dataDir` a cluster that `startNativeCluster()` starts with the project's migrations. */
export async function fillMigrated(dataDir: string): Promise<void> {
  await copyMigratedCluster(dataDir, {
    projectRoot: PROJECT_ROOT,
    cacheDir: CACHE_DIR,
    log: () => {},
  });
}

async function startServer(fill: (dataDir: string) => Promise<void>): Promise<NativeServer> {
  const dataDir = await Deno.makeTempDir({ prefix: "supaswarm_native_" });
  await fill(dataDir);
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

/** Runs `body` as an API role in a transaction that is rolled back. */
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

/** Passes the result of a body out of the transaction that it ends. */
class RolledBack<T> {
  constructor(readonly value: T) {}
}
