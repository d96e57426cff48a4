import { join } from "node:path";

/**
 * How long the folders must be quiet before a change is reported: an editor writes in several
 * steps.
 */
const QUIET_MS = 150;

/** What edge functions are made from, relative to the project. */
const SOURCES = ["supabase/functions", "shared", "deno.json"];

/**
 * Calls `onChange` after files that functions are made from have changed. Returns what ends it.
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
