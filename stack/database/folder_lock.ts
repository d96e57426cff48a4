import process from "node:process";
import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";

const ORPHAN_END_LIMIT_MS = 5_000;

/** Who holds a folder: process `pid` has it open, on behalf of the stack `ownerPid`. */
export interface LockHolder {
  readonly pid: number;
  readonly ownerPid: number;
}

/** The result of an attempt to lock. */
export type LockOutcome =
  | { readonly kind: "taken"; readonly release: () => void }
  /** `holder` is null when the lock file does not name one (yet). */
  | { readonly kind: "held"; readonly holder: LockHolder | null };

/**
 * Takes the exclusive lock on the file `path`, or returns its holder. The operating system
 * releases the lock when the process ends for any reason.
 */
export async function takeLock(path: string, ownerPid: number): Promise<LockOutcome> {
  const file = await Deno.open(path, { read: true, write: true, create: true });
  if (!await file.tryLock(true)) {
    file.close();
    return { kind: "held", holder: await readHolder(path) };
  }
  const holder: LockHolder = { pid: Deno.pid, ownerPid };
  await file.truncate(0);
  await file.write(new TextEncoder().encode(JSON.stringify(holder)));
  return { kind: "taken", release: () => file.close() };
}

/** Reads the holder from the lock file. Returns null when there is no file or no holder in it. */
export async function readHolder(path: string): Promise<LockHolder | null> {
  try {
    const { pid, ownerPid } = JSON.parse(await Deno.readTextFile(path));
    return Number.isInteger(pid) && Number.isInteger(ownerPid) ? { pid, ownerPid } : null;
  } catch {
    // The file is missing, or another process is writing it.
    return null;
  }
}

/** Creates the error for a folder that another stack uses. `ownerPid` is null when unknown. */
export function folderInUse(folder: string, ownerPid: number | null): SwarmError {
  const holder = ownerPid === null ? "another process" : `process ${ownerPid}`;
  return new SwarmError(
    "DATABASE_UNAVAILABLE",
    `Cannot open the database in ${folder}: it is in use by ${holder}`,
    {
      hint: "Stop that process, or start with --ephemeral or another SUPASWARM_DATA_DIR.",
      details: { reason: "in_use", pid: ownerPid },
    },
  );
}

/** True while a process with this id runs. */
export function isProcessAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // The process runs as another user.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/**
 * Kills a process that still holds the lock `path` although its stack has ended: a database child
 * that was too busy to notice. Does nothing while the stack runs or the lock is free.
 */
export async function endOrphan(path: string): Promise<void> {
  const holder = await readHolder(path);
  if (holder === null || isProcessAlive(holder.ownerPid) || !await isHeld(path)) return;
  Deno.kill(holder.pid, "SIGKILL");
  const deadline = performance.now() + ORPHAN_END_LIMIT_MS;
  while (await isHeld(path) && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function isHeld(path: string): Promise<boolean> {
  using file = await Deno.open(path, { read: true, write: true });
  return !await file.tryLock(true);
}
