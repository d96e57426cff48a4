import { join } from "node:path";
import type { Logger, ReportDoing } from "./database_port.ts";

const MANIFEST = "manifest.json";
const DATA = "data";
/** A run of all tests uses seven. A snapshot has about 50 MB. */
const KEPT_SNAPSHOTS = 16;
/** For how long something in the cache is kept without a use. */
const KEPT_MS = 30 * 86_400_000;
/** What the stack writes into the cache, which may be a folder that others use too. */
const CACHE_ENTRY = /^(database|extensions|draft)-/;
const LOCK_CHECK_MS = 100;

/** A file or folder in a snapshot. Folders have no size. */
interface ManifestEntry {
  readonly path: string;
  readonly sizeBytes: number | null;
}

/** Where a snapshot is stored, and how to build it. */
export interface SnapshotOptions {
  readonly cacheDir: string;
  /** Identifies the content: the same key always means the same data. */
  readonly key: string;
  /** Fills the new folder with a database and closes the database cleanly. */
  readonly build: (dataDir: string) => Promise<void>;
  readonly log: Logger;
  /** Ends the wait for a build of another process. */
  readonly signal?: AbortSignal;
  /** @default nothing is reported */
  readonly report?: ReportDoing;
}

/**
 * Copies the snapshot `key` to `target`, and builds the snapshot first if it is missing or damaged.
 * Safe against concurrent processes and against a kill at any time: a rename creates snapshot and
 * target atomically.
 */
export async function copySnapshot(options: SnapshotOptions, target: string): Promise<void> {
  const snapshot = join(options.cacheDir, `database-${options.key}`);
  if (await exists(snapshot) && await tryCopy(snapshot, target, options.log)) return;
  await Deno.mkdir(options.cacheDir, { recursive: true, mode: 0o700 });
  using lock = await Deno.open(`${snapshot}.lock`, { create: true, write: true });
  // A build takes seconds and much memory, so concurrent starts wait for one build.
  await takeLock(lock, options);
  if (await exists(snapshot) && await tryCopy(snapshot, target, options.log)) return;
  await Deno.remove(snapshot, { recursive: true }).catch(() => {});
  await buildSnapshot(options, snapshot);
  if (!await tryCopy(snapshot, target, options.log)) {
    throw new Error(`Cannot copy the new snapshot ${snapshot} to ${target}`);
  }
  await removeOldSnapshots(options.cacheDir);
}

async function takeLock(lock: Deno.FsFile, { signal, report }: SnapshotOptions): Promise<void> {
  for (let isFirst = true; !await lock.tryLock(true); isFirst = false) {
    if (isFirst) report?.("waiting for another start, which builds the same database");
    await new Promise((resolve) => setTimeout(resolve, LOCK_CHECK_MS));
    signal?.throwIfAborted();
  }
}

async function buildSnapshot(options: SnapshotOptions, snapshot: string): Promise<void> {
  const draft = join(options.cacheDir, `draft-${crypto.randomUUID()}`);
  const startedAt = performance.now();
  try {
    await Deno.mkdir(draft, { recursive: true });
    await options.build(join(draft, DATA));
    const manifest = await listEntries(join(draft, DATA));
    await Deno.writeTextFile(join(draft, MANIFEST), JSON.stringify(manifest));
    await renameUnlessThere(draft, snapshot);
  } finally {
    await Deno.remove(draft, { recursive: true }).catch(() => {});
  }
  const duration = Math.round(performance.now() - startedAt);
  options.log("info", "database.snapshot_built", { key: options.key, duration_ms: duration });
}

/** Returns false when the snapshot does not match its manifest. */
async function tryCopy(snapshot: string, target: string, log: Logger): Promise<boolean> {
  const draft = `${target}.draft-${crypto.randomUUID()}`;
  try {
    const manifest = JSON.parse(
      await Deno.readTextFile(join(snapshot, MANIFEST)),
    ) as ManifestEntry[];
    // First, because another start removes those that were not used for long.
    await markUsed(snapshot);
    await Deno.mkdir(draft, { recursive: true, mode: 0o700 });
    for (const { path } of manifest.filter((entry) => entry.sizeBytes === null)) {
      await Deno.mkdir(join(draft, path), { mode: 0o700 });
    }
    const files = manifest.filter((entry) => entry.sizeBytes !== null);
    await Promise.all(files.map((file) => copyFile(join(snapshot, DATA), draft, file)));
    await renameUnlessThere(draft, target);
    return true;
  } catch (error) {
    log("warn", "database.snapshot_unusable", { snapshot, reason: String(error) });
    return false;
  } finally {
    await Deno.remove(draft, { recursive: true }).catch(() => {});
  }
}

async function copyFile(from: string, to: string, file: ManifestEntry): Promise<void> {
  await Deno.copyFile(join(from, file.path), join(to, file.path));
  const { size } = await Deno.stat(join(to, file.path));
  if (size !== file.sizeBytes) throw new RangeError(`${file.path} has ${size} bytes`);
}

/** Lists each folder before its content. */
async function listEntries(root: string, folder = ""): Promise<ManifestEntry[]> {
  const entries: ManifestEntry[] = [];
  for await (const entry of Deno.readDir(join(root, folder))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory) {
      entries.push({ path, sizeBytes: null }, ...await listEntries(root, path));
    } else {
      entries.push({ path, sizeBytes: (await Deno.stat(join(root, path))).size });
    }
  }
  return entries;
}

async function renameUnlessThere(draft: string, target: string): Promise<void> {
  try {
    await Deno.rename(draft, target);
  } catch (error) {
    // A concurrent start renamed first; its result is equivalent.
    if (!await exists(target)) throw error;
  }
}

/** Sets the time by which old snapshots are found. */
async function markUsed(snapshot: string): Promise<void> {
  const now = new Date();
  // The copy is complete even if the cache belongs to another user.
  await Deno.utime(snapshot, now, now).catch(() => {});
}

/** Removes the snapshots that were not used for longest, and what nobody has used for long. */
async function removeOldSnapshots(cacheDir: string): Promise<void> {
  const snapshots: { path: string; usedAt: number }[] = [];
  for await (const { name, isDirectory } of Deno.readDir(cacheDir)) {
    if (!CACHE_ENTRY.test(name)) continue;
    const path = join(cacheDir, name);
    // Another start may have removed it.
    const stat = await Deno.stat(path).catch(() => null);
    const usedAt = stat?.mtime?.getTime() ?? 0;
    if (Date.now() - usedAt > KEPT_MS) await removeEntry(path);
    else if (isDirectory && name.startsWith("database-")) snapshots.push({ path, usedAt });
  }
  snapshots.sort((a, b) => b.usedAt - a.usedAt);
  for (const { path } of snapshots.slice(KEPT_SNAPSHOTS)) await removeEntry(path);
}

async function removeEntry(path: string): Promise<void> {
  await Deno.remove(path, { recursive: true }).catch(() => {});
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}
