import type { Logger } from "../database/database_port.ts";
import { copySnapshot } from "../database/snapshot.ts";
import { applyMigrations } from "../migrations/apply_migrations.ts";
import { migrationsHash } from "../migrations/migrations_hash.ts";
import { platformHash } from "../platform/platform_files.ts";
import { startNativeCluster } from "./native_cluster.ts";
import type { NativePrefix } from "./native_prefix.ts";
import { serverUser } from "./server_user.ts";

/** What a copied cluster is made from. */
export interface ClusterSnapshotOptions {
  readonly prefix: NativePrefix;
  /** Whose migrations and seed the cluster has. */
  readonly projectRoot: string;
  /** Where snapshots are kept; the server's user must reach it. */
  readonly cacheDir: string;
  readonly log: Logger;
}

/**
 * Makes `dataDir`, which is empty or does not exist, a cluster with the platform and the project's migrations,
 * for `startNativeCluster()`: a copy takes a fraction of the time of `initdb` and the migrations.
 * For databases that keep nothing: the passwords, and the secrets that migrations draw at random,
 * are the same in every copy.
 */
export async function copyMigratedCluster(
  dataDir: string,
  { prefix, projectRoot, cacheDir, log }: ClusterSnapshotOptions,
): Promise<void> {
  const contents = [await platformHash(), await migrationsHash(projectRoot)]
    .map((hash) => hash.slice(0, 16));
  const build = async (draft: string) => {
    const cluster = await startNativeCluster({ prefix, dataDir: draft, port: 0 });
    try {
      await applyMigrations(cluster, projectRoot);
    } finally {
      await cluster.stop();
    }
  };
  const key = `native${prefix.major}-${contents.join("-")}`;
  await copySnapshot({ cacheDir, key, build, log }, dataDir);
  await (await serverUser()).own(`${dataDir}/pgdata`);
}
