import { applyMigrations } from "./migrations/apply_migrations.ts";
import type { Logger } from "./database/database_port.ts";
import { copySnapshot } from "./database/snapshot.ts";
import { migrationsHash } from "./migrations/migrations_hash.ts";
import { type NativeCluster, startNativeCluster } from "./native/native_cluster.ts";
import { findNativePrefix } from "./native/native_prefix.ts";
import { serverUser } from "./native/server_user.ts";
import { platformHash } from "./platform/platform_files.ts";

/** Where snapshots of clusters are cached. */
export interface ClusterSnapshotOptions {
  /** Folder of the snapshots. The server's user must be able to enter it. */
  readonly cacheDir: string;
  readonly log: Logger;
  /**
   * Whether writes wait for the disk. Otherwise they survive the death of the server, but not of
   * the machine. @default false
   */
  readonly syncsWrites?: boolean;
}

interface MigratedClusterOptions extends ClusterSnapshotOptions {
  /** The project whose migrations and seed are applied. */
  readonly projectRoot: string;
}

/**
 * Fills `dataDir`, which must be empty or absent, with a cluster that has the platform and the
 * project's migrations, for `startNativeCluster()`. A copy takes a fraction of the time of `initdb`
 * and the migrations. Use it only for ephemeral databases: the passwords, and the secrets that
 * migrations generate, are the same in every copy.
 */
export async function copyMigratedCluster(
  dataDir: string,
  { projectRoot, ...options }: MigratedClusterOptions,
): Promise<void> {
  const contents = [await platformHash(), await migrationsHash(projectRoot)];
  await copyCluster(dataDir, options, contents, (cluster) => applyMigrations(cluster, projectRoot));
}

/** The same without a project: the cluster has only the platform. */
export async function copyPlatformCluster(
  dataDir: string,
  options: ClusterSnapshotOptions,
): Promise<void> {
  await copyCluster(dataDir, options, [await platformHash()], () => Promise.resolve());
}

async function copyCluster(
  dataDir: string,
  options: ClusterSnapshotOptions,
  contents: readonly string[],
  prepare: (cluster: NativeCluster) => Promise<unknown>,
): Promise<void> {
  const prefix = await findNativePrefix();
  const build = async (draft: string) => {
    const cluster = await startNativeCluster({ prefix, dataDir: draft, port: 0 });
    try {
      await prepare(cluster);
    } finally {
      await cluster.stop();
    }
    // The server writes its last line after it has removed its pid file, when it counts as stopped.
    await Deno.remove(`${draft}/postgres.log`);
  };
  const hashes = contents.map((hash) => hash.slice(0, 16));
  const key = `native${prefix.major}-${hashes.join("-")}`;
  await copySnapshot({ ...options, key, build }, dataDir);
  if (!options.syncsWrites) {
    await Deno.writeTextFile(`${dataDir}/pgdata/postgresql.conf`, "\nfsync = off\n", {
      append: true,
    });
  }
  await (await serverUser()).own(`${dataDir}/pgdata`);
}
