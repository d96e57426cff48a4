import { join } from "node:path";
import { endOrphan, folderInUse, isProcessAlive, takeLock } from "./database/folder_lock.ts";

/**
 * Files of the databases and of Storage. Keys are not in the list, so that clients keep working.
 */
const KEPT_DATA = [
  "pglite",
  "native/pgdata",
  "native/cluster.json",
  "native/postgres.log",
  "storage",
];

/**
 * Deletes the databases and stored files of a stack. Keeps the API keys, the caches and an
 * installed native Postgres.
 *
 * @throws SwarmError DATABASE_UNAVAILABLE when a running stack uses the folder. Then nothing is
 * deleted.
 */
export async function resetDataFolder(dataDir: string): Promise<void> {
  await Deno.mkdir(dataDir, { recursive: true });
  await endOrphan(`${join(dataDir, "pglite")}.lock`);
  const releases: (() => void)[] = [];
  try {
    for (const name of ["pglite", "native"]) {
      const lock = await takeLock(`${join(dataDir, name)}.lock`, Deno.pid);
      if (lock.kind === "held") {
        throw folderInUse(join(dataDir, name), lock.holder?.ownerPid ?? null);
      }
      releases.push(lock.release);
    }
    await refuseOrphanServer(join(dataDir, "native"));
    for (const name of KEPT_DATA) await removeIfPresent(join(dataDir, name));
  } finally {
    for (const release of releases) release();
  }
}

/** A native server keeps running after its stack was killed. Its files must stay while it runs. */
async function refuseOrphanServer(folder: string): Promise<void> {
  const text = await Deno.readTextFile(join(folder, "pgdata", "postmaster.pid")).catch(() => "");
  const pid = Number.parseInt(text, 10);
  if (pid > 0 && isProcessAlive(pid)) throw folderInUse(folder, pid);
}

async function removeIfPresent(path: string): Promise<void> {
  try {
    await Deno.remove(path, { recursive: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
