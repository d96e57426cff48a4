import { dirname, join } from "node:path";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { cacheFolder } from "../../stack/cache_folder.ts";
import { copyMigratedCluster, copyPlatformCluster } from "../../stack/migrated_cluster.ts";
import { isProcessAlive } from "../../stack/database/folder_lock.ts";
import { type NativeCluster, startNativeCluster } from "../../stack/native/native_cluster.ts";
import { findNativePrefix } from "../../stack/native/native_prefix.ts";
import { createSql, type Sql } from "../../shared/platform/db/sql_client.ts";

/** A new native cluster with the platform on it; deleted at the end of its scope. */
export interface NativeServer extends AsyncDisposable {
  readonly cluster: NativeCluster;
  /** As `postgres`, the role of migrations and functions. */
  readonly sql: Sql;
  /** As `supabase_admin`. */
  readonly admin: Sql;
}

/** Where the suites cache prepared databases. */
const CACHE = { cacheDir: await cacheFolder(), log: () => {} };

/** A server's folder, named after the process that started the server. */
const FOLDER_PREFIX = "supaswarm_native_";

/** Starts one in half a second. Requires `deno task native:install`. */
export async function startNativeServer(): Promise<NativeServer> {
  return await startServer((dataDir) => copyPlatformCluster(dataDir, CACHE));
}

/** Starts one with the project's migrations and seed. */
export async function startMigratedServer(): Promise<NativeServer> {
  return await startServer(fillMigrated);
}

/** Starts one with the migrations and the seed of another project. */
export async function startProjectServer(projectRoot: string): Promise<NativeServer> {
  return await startServer((dataDir) => copyMigratedCluster(dataDir, { projectRoot, ...CACHE }));
}

/** Makes `dataDir` a cluster that `startNativeCluster()` starts with the project's migrations. */
export async function fillMigrated(dataDir: string): Promise<void> {
  await copyMigratedCluster(dataDir, { projectRoot: PROJECT_ROOT, ...CACHE });
}

async function startServer(fill: (dataDir: string) => Promise<void>): Promise<NativeServer> {
  const dataDir = await makeServerFolder();
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

/**
 * Creates the folder of a server, and removes the folders that killed processes left behind. Their
 * servers notice that within a minute, and end.
 */
async function makeServerFolder(): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: `${FOLDER_PREFIX}${Deno.pid}_` });
  for await (const { name } of Deno.readDir(dirname(folder))) {
    const pid = new RegExp(`^${FOLDER_PREFIX}(\\d+)_`).exec(name)?.[1];
    if (pid === undefined || isProcessAlive(Number(pid))) continue;
    // Another start may remove it at the same time.
    await Deno.remove(join(dirname(folder), name), { recursive: true }).catch(() => {});
  }
  return folder;
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
