import { join } from "node:path";
import type { FunctionSettings } from "../read_config.ts";

/** The Deno configuration or import map of functions. */
export interface FunctionConfig {
  readonly path: string;
  readonly isImportMap: boolean;
  /** Equal for functions whose imports are resolved alike, which can share a process. */
  readonly key: string;
}

/** In the folder of a function, the first that exists. */
const OWN_FILES = ["deno.json", "deno.jsonc", "import_map.json"];
/** For functions without a file of their own, from the project's folder. */
const COMMON_FILES = ["supabase/functions/import_map.json", "deno.json"];

/**
 * Finds how the imports of a function are resolved: the file that `supabase/config.toml` names, its
 * own, or that of all functions. Deno has one configuration for each process.
 */
export async function findFunctionConfig(
  projectRoot: string,
  name: string,
  { import_map: named }: Pick<FunctionSettings, "import_map">,
): Promise<FunctionConfig | null> {
  const paths = [
    ...(named ? [join(projectRoot, "supabase", named)] : []),
    ...OWN_FILES.map((file) => join(projectRoot, "supabase/functions", name, file)),
    ...COMMON_FILES.map((file) => join(projectRoot, file)),
  ];
  for (const path of paths) {
    const text = await readOptional(path);
    if (text === null) continue;
    // Without relative paths, a text means the same wherever its file is.
    const key = /["']\.{0,2}\//.test(text) ? `${path}\n${text}` : text;
    return { path, isImportMap: path.endsWith("import_map.json"), key };
  }
  return null;
}

async function readOptional(path: string): Promise<string | null> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}
