import { statfs } from "node:fs/promises";

const FOLDER = "/dev/shm";
/** A run uses less than half of this at a time. */
const LEAST_FREE_BYTES = 4 * 1024 ** 3;

/** The room for temporary files in memory. */
interface Room {
  /** Free bytes of the folder. */
  readonly freeBytes: number;
  /** Free bytes of memory. */
  readonly memoryBytes: number;
}

/**
 * Returns the folder for temporary files in memory. Undefined where the machine has none, where it
 * runs no programs, or where files of a run could fill the memory.
 *
 * Each database of a test has more than a thousand files. On ext4, a new file takes long after many
 * were deleted, because ext4 does not use their places again at once and searches for others.
 */
export async function findMemoryFolder(): Promise<string | undefined> {
  try {
    const { bavail, bsize } = await statfs(FOLDER);
    return memoryFolder(await Deno.readTextFile("/proc/mounts"), {
      freeBytes: bavail * bsize,
      memoryBytes: Deno.systemMemoryInfo().available,
    });
  } catch {
    // Only Linux has these files.
    return undefined;
  }
}

/** @param mounts The text of `/proc/mounts`. */
export function memoryFolder(mounts: string, { freeBytes, memoryBytes }: Room): string | undefined {
  const [, options = "noexec"] = mounts.match(new RegExp(`^\\S+ ${FOLDER} tmpfs (\\S+)`, "m")) ??
    [];
  if (options.split(",").includes("noexec")) return undefined;
  return Math.min(freeBytes, memoryBytes) < LEAST_FREE_BYTES ? undefined : FOLDER;
}
