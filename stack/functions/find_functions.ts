import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { readConfig } from "../read_config.ts";
import { findFunctionConfig, type FunctionConfig } from "./function_config.ts";

/** An edge function of a project. */
export interface EdgeFunction {
  /** `file:` URL of its code. */
  readonly entry: string;
  /** How its imports are resolved; null: only by addresses and paths. */
  readonly config: FunctionConfig | null;
}

/**
 * Finds the edge functions of a project by their names, as the Supabase CLI does: folders with an
 * `index.ts` that do not start with `_` or `.`, and what `supabase/config.toml` says of them. A
 * project without functions has an empty map.
 *
 * @throws SwarmError CONFIG_INVALID if `supabase/config.toml` is not TOML.
 */
export async function findFunctions(
  projectRoot: string,
): Promise<ReadonlyMap<string, EdgeFunction>> {
  const folder = join(projectRoot, "supabase", "functions");
  const names: string[] = [];
  try {
    for await (const entry of Deno.readDir(folder)) {
      if (entry.isDirectory && !/^[_.]/.test(entry.name)) names.push(entry.name);
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  const { functions: settings = {} } = await readConfig(projectRoot);
  const functions = new Map<string, EdgeFunction>();
  for (const name of names.sort()) {
    const set = settings[name] ?? {};
    const { enabled = true, entrypoint = `functions/${name}/index.ts` } = set;
    const code = join(projectRoot, "supabase", entrypoint);
    if (!enabled || !await isFile(code)) continue;
    functions.set(name, {
      entry: pathToFileURL(code).href,
      config: await findFunctionConfig(projectRoot, name, set),
    });
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
