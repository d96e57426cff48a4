import { dirname, join } from "node:path";
import { isProcessAlive, readHolder } from "./folder_lock.ts";

const PREFIX = "supaswarm-ephemeral-";
const LOCK_SUFFIX = ".lock";
/** A starting stack takes the lock within seconds. */
const UNLOCKED_LIMIT_MS = 600_000;

/** A folder that exists as long as its stack. */
export interface EphemeralFolder {
  readonly path: string;
  remove(): Promise<void>;
}

/**
 * Creates a temporary folder for one stack and removes the folders that killed stacks left behind.
 * The folder is on disk because its data must survive a restart of the database process.
 */
export async function makeEphemeralFolder(): Promise<EphemeralFolder> {
  const path = await Deno.makeTempDir({ prefix: PREFIX });
  await removeAbandoned(dirname(path));
  return { path, remove: () => Deno.remove(path, { recursive: true }) };
}

async function removeAbandoned(parent: string): Promise<void> {
  for await (const entry of Deno.readDir(parent)) {
    if (!entry.isDirectory || !entry.name.startsWith(PREFIX)) continue;
    const folder = join(parent, entry.name);
    // Another start may remove it at the same time.
    if (await isAbandoned(folder).catch(() => false)) {
      await Deno.remove(folder, { recursive: true }).catch(() => {});
    }
  }
}

/** True when the lock file names a stack that has ended, or when there is no lock file for long. */
async function isAbandoned(folder: string): Promise<boolean> {
  for await (const file of Deno.readDir(folder)) {
    if (!file.name.endsWith(LOCK_SUFFIX)) continue;
    const holder = await readHolder(join(folder, file.name));
    return holder !== null && !isProcessAlive(holder.ownerPid);
  }
  const madeAt = (await Deno.stat(folder)).mtime?.getTime() ?? Date.now();
  return Date.now() - madeAt > UNLOCKED_LIMIT_MS;
}
