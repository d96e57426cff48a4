import { dirname, join } from "node:path";
import { PROJECT_ROOT } from "../project_root.ts";

/** The text of each file by its path from the project's root; null for one that must not exist. */
export type GeneratedFiles = Readonly<Record<string, string | null>>;

/** The text of a file of the project; empty if there is none. */
export async function readCurrent(path: string): Promise<string> {
  return await Deno.readTextFile(join(PROJECT_ROOT, path)).catch(() => "");
}

/** The paths of files that are not as they would be generated now. */
export async function staleFiles(files: GeneratedFiles): Promise<string[]> {
  const stale: string[] = [];
  for (const [path, text] of Object.entries(files)) {
    if (text === null || await readCurrent(path) !== text) stale.push(path);
  }
  return stale;
}

/** Writes the files that are not up to date, and returns their paths. */
export async function writeStale(files: GeneratedFiles): Promise<string[]> {
  const stale = await staleFiles(files);
  for (const path of stale) {
    const [target, text] = [join(PROJECT_ROOT, path), files[path] ?? null];
    if (text === null) {
      await Deno.remove(target);
    } else {
      await Deno.mkdir(dirname(target), { recursive: true });
      await Deno.writeTextFile(target, text);
    }
  }
  return stale;
}
