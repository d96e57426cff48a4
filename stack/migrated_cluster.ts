import { applyMigrations } from "./migrations/apply_migrations.ts";
import type { Logger } from "./database/database_port.ts";
import { copySnapshot } from "./database/snapshot.ts";
import { migrationsHash } from "./migrations/migrations_hash.ts";
import { startNativeCluster } from "./native/native_cluster.ts";
import { findNativePrefix } from "./native/native_prefix.ts";
import { serverUser } from "./native/server_user.ts";
import { platformHash } from "./platform/platform_files.ts";

/** Options of {@linkcode copyMigratedCluster}. */
export interface MigratedClusterOptions {
  /** The project whose migrations and seed are applied. */
  readonly projectRoot: string;
  /** Folder of the snapshots. The server's user must be able to enter it. */
  readonly cacheDir: string;
  readonly log: Logger;
}

/**
 * Fills `dataDir`, which must be empty or absent, with a cluster that has the platform and the
 * project's migrations, for `startNativeCluster()`. A copy takes a fraction of the time of `initdb`
 * and the migrations. Use it only for ephemeral databases: the passwords, and the secrets that
 * migrations generate, are the same in every copy.
 */
export async function copyMigratedCluster(
  dataDir: string,
  { projectRoot, cacheDir, log }: MigratedClusterOptions,
): Promise<void> {
  const prefix = await findNativePrefix();
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
