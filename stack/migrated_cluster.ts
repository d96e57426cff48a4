import { cp } from "node:fs/promises";
import { sha256Hex } from "../shared/platform/values/sha256_hex.ts";
import { applyMigrations } from "./migrations/apply_migrations.ts";
import { copySnapshot, type SnapshotOptions } from "./database/snapshot.ts";
import { migrationsHash } from "./migrations/migrations_hash.ts";
import { type NativeCluster, startNativeCluster } from "./native/native_cluster.ts";
import { findNativePrefix } from "./native/native_prefix.ts";
import { serverUser } from "./native/server_user.ts";
import { platformHash } from "./platform/platform_files.ts";

/** Where snapshots of clusters are cached. */
export interface ClusterSnapshotOptions
  extends Pick<SnapshotOptions, "cacheDir" | "log" | "signal" | "report"> {
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
  const contents = [await clusterHash(), await migrationsHash(projectRoot)];
  await copyCluster(
    dataDir,
    options,
    contents,
    (cluster) => applyMigrations(cluster, projectRoot, options),
  );
}

/** The same without a project: the cluster has only the platform. */
export async function copyPlatformCluster(
  dataDir: string,
  options: ClusterSnapshotOptions,
): Promise<void> {
  await copyCluster(dataDir, options, [await clusterHash()], () => Promise.resolve());
}

/** A hash of what decides the content of a new cluster of one major version. */
async function clusterHash(): Promise<string> {
  const code = await Deno.readTextFile(new URL("./native/prepare_cluster.ts", import.meta.url));
  return sha256Hex([await platformHash(), code, Deno.build.target].join("\n"));
}

async function copyCluster(
  dataDir: string,
  options: ClusterSnapshotOptions,
  contents: readonly string[],
  prepare: (cluster: NativeCluster) => Promise<unknown>,
): Promise<void> {
  const prefix = await findNativePrefix();
  const build = async (draft: string) => {
    // The server's user may be another one, who cannot enter the cache.
    const folder = await Deno.makeTempDir({ prefix: "supaswarm-build-" });
    try {
      options.report?.("creating the cluster");
      const cluster = await startNativeCluster({ prefix, dataDir: folder, port: 0 });
      try {
        await prepare(cluster);
      } finally {
        await cluster.stop();
      }
      // The server writes its last line after it has removed its pid file, when it counts as stopped.
      await Deno.remove(`${folder}/postgres.log`);
      await cp(folder, draft, { recursive: true });
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
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
