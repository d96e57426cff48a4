import { join } from "node:path";
import { pathToFileURL } from "node:url";

/**
 * Finds the edge functions of a project: folder name → `file:` URL of its `index.ts`. Skips folders
 * that start with `_` or `.`, like the Supabase CLI. A project without functions has an empty map.
 */
export async function findFunctions(projectRoot: string): Promise<ReadonlyMap<string, string>> {
  const folder = join(projectRoot, "supabase", "functions");
  const names: string[] = [];
  try {
    for await (const entry of Deno.readDir(folder)) {
      if (entry.isDirectory && !/^[_.]/.test(entry.name)) names.push(entry.name);
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  const functions = new Map<string, string>();
  for (const name of names.sort()) {
    const index = join(folder, name, "index.ts");
    if (await isFile(index)) functions.set(name, pathToFileURL(index).href);
  }
  return functions;
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
