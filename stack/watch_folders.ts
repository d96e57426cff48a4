import { basename, dirname, join } from "node:path";

/**
 * How long the folders must be unchanged before a change is reported, because editors write in
 * several steps.
 */
const QUIET_MS = 150;

/**
 * Calls `onChange` after something in these folders or files of a project has changed, one call at a
 * time, until the returned function is called. They may be created later.
 *
 * @param onChange Must not throw: no change would be reported after that.
 */
export function watchFolders(
  projectRoot: string,
  paths: readonly string[],
  onChange: () => Promise<void>,
): () => Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let changing = Promise.resolve();
  const report = () => {
    clearTimeout(timer);
    timer = setTimeout(() => changing = changing.then(onChange), QUIET_MS);
  };
  const watches = paths.map((path) => watchPath(join(projectRoot, path), report));
  return async () => {
    const following = watches.map((stop) => stop());
    clearTimeout(timer);
    await Promise.all([...following, changing]);
  };
}

/** Watches one path until the returned function is called. */
function watchPath(path: string, report: () => void): () => Promise<void> {
  let isStopped = false;
  let watcher = watchNearest(path);
  const following = (async () => {
    while (!isStopped) {
      const { folder, entry } = watcher;
      for await (const { kind, paths } of watcher.events) {
        if (kind === "access") continue;
        const isDeleted = !isFolder(folder);
        const isMeant = entry === null || paths.some((changed) => basename(changed) === entry);
        if (isMeant || isDeleted) report();
        if (isDeleted || (entry !== null && isFolder(join(folder, entry)))) break;
      }
      if (!isStopped) watcher = watchNearest(path);
    }
  })();
  return async () => {
    isStopped = true;
    watcher.events.close();
    await following;
  };
}

/** Watches a folder, or an entry of the folder that is nearest to a path which is none. */
function watchNearest(path: string): {
  readonly events: Deno.FsWatcher;
  readonly folder: string;
  /** Null: everything in the folder. */
  readonly entry: string | null;
} {
  try {
    if (isFolder(path)) return { events: Deno.watchFs(path), folder: path, entry: null };
    let entry = path;
    while (!isFolder(dirname(entry)) && dirname(entry) !== entry) entry = dirname(entry);
    const folder = dirname(entry);
    return { events: Deno.watchFs(folder, { recursive: false }), folder, entry: basename(entry) };
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return watchNearest(path); // The folder was deleted in the meantime.
  }
}

function isFolder(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch {
    return false;
  }
}
