import { globSync } from "node:fs";
import { join, normalize } from "node:path";
import { readConfig } from "../read_config.ts";

const DEFAULT_PATHS = ["./seed.sql"];

/**
 * Finds the files with a project's first rows, as `[db.seed]` of `supabase/config.toml` names them,
 * in the order in which they are applied. A name without a file is skipped.
 *
 * @returns Paths from the project's folder.
 */
export async function findSeedFiles(projectRoot: string): Promise<readonly string[]> {
  const { db } = await readConfig(projectRoot);
  const { enabled = true, sql_paths: patterns = DEFAULT_PATHS } = db?.seed ?? {};
  if (!enabled) return [];
  const cwd = join(projectRoot, "supabase");
  const paths = patterns.flatMap((pattern) => globSync(normalize(pattern), { cwd }).sort());
  return [...new Set(paths)].map((path) => join("supabase", path));
}
