import { join } from "node:path";

/**
 * How long the folders must be unchanged before a change is reported, because editors write in
 * several steps.
 */
const QUIET_MS = 150;

/** Sources of edge functions, relative to the project. */
const SOURCES = ["supabase/functions", "shared", "deno.json"];

/**
 * Calls `onChange` after sources of functions have changed, until the returned function is called.
 */
export function watchSources(projectRoot: string, onChange: () => void): () => void {
  const paths = SOURCES.map((path) => join(projectRoot, path)).filter(isPresent);
  if (paths.length === 0) return () => {};
  const watcher = Deno.watchFs(paths);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const follow = async () => {
    for await (const event of watcher) {
      if (event.kind === "access") continue;
      clearTimeout(timer);
      timer = setTimeout(onChange, QUIET_MS);
    }
  };
  follow();
  return () => {
    clearTimeout(timer);
    watcher.close();
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
