import { join } from "node:path";

/**
 * How long the folders must be unchanged before a change is reported, because editors write in
 * several steps.
 */
const QUIET_MS = 150;

/**
 * Calls `onChange` after something in these folders or files of a project has changed, one call at a
 * time, until the returned function is called. Ignores paths that do not exist.
 */
export function watchFolders(
  projectRoot: string,
  folders: readonly string[],
  onChange: () => Promise<void>,
): () => Promise<void> {
  const paths = folders.map((path) => join(projectRoot, path)).filter(isPresent);
  if (paths.length === 0) return () => Promise.resolve();
  const watcher = Deno.watchFs(paths);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let changing = Promise.resolve();
  const following = (async () => {
    for await (const event of watcher) {
      if (event.kind === "access") continue;
      clearTimeout(timer);
      timer = setTimeout(() => changing = changing.then(onChange), QUIET_MS);
    }
  })();
  return async () => {
    clearTimeout(timer);
    watcher.close();
    await Promise.all([following, changing]);
  };
}

function isPresent(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}
