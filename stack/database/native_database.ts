import { join } from "node:path";
import { startNativeCluster } from "../native/native_cluster.ts";
import { findNativePrefix } from "../native/native_prefix.ts";
import type { StackDatabase } from "./database_port.ts";
import { folderInUse, takeLock } from "./folder_lock.ts";
import { listenOnDatabase } from "./listening_database.ts";

/**
 * Starts a private cluster of the machine's Postgres on `dataDir/native`.
 *
 * @param port Port on 127.0.0.1. 0 takes any free port.
 * @throws SwarmError `CONFIG_INVALID` when native Postgres is not set up, `DATABASE_UNAVAILABLE`
 * when the folder is in use or the server does not start.
 */
export async function startNativeDatabase(dataDir: string, port: number): Promise<StackDatabase> {
  const prefix = await findNativePrefix();
  await Deno.mkdir(dataDir, { recursive: true });
  const clusterDir = join(dataDir, "native");
  const lock = await takeLock(`${clusterDir}.lock`, Deno.pid);
  if (lock.kind === "held") throw folderInUse(clusterDir, lock.holder?.ownerPid ?? null);
  try {
    const cluster = await startNativeCluster({ prefix, dataDir: clusterDir, port });
    return listenOnDatabase({
      kind: "native",
      url: cluster.url,
      adminUrl: cluster.adminUrl,
      stop: async () => {
        await cluster.stop();
        lock.release();
      },
    });
  } catch (error) {
    lock.release();
    throw error;
  }
}
