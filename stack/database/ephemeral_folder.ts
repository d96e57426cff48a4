import { dirname, join } from "node:path";
import { isProcessAlive, readHolder } from "./folder_lock.ts";

const PREFIX = "supaswarm-ephemeral-";
const LOCK_SUFFIX = ".lock";
/** A start takes the lock within seconds. */
const UNLOCKED_LIMIT_MS = 600_000;

/** A folder that lasts as long as its stack. */
export interface EphemeralFolder {
  readonly path: string;
  remove(): Promise<void>;
}

/**
 * Makes a temporary folder for one stack. It is on disk, so that the data survive a restart of
 * the database process. Removes the folders that killed stacks left behind.
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

/** Its lock file names a stack that is gone, or it never came to have one. */
async function isAbandoned(folder: string): Promise<boolean> {
  for await (const file of Deno.readDir(folder)) {
    if (!file.name.endsWith(LOCK_SUFFIX)) continue;
    const holder = await readHolder(join(folder, file.name));
    return holder !== null && !isProcessAlive(holder.ownerPid);
  }
  const madeAt = (await Deno.stat(folder)).mtime?.getTime() ?? Date.now();
  return Date.now() - madeAt > UNLOCKED_LIMIT_MS;
}
