import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sha256Hex } from "../../shared/platform/values/sha256_hex.ts";
import { findSeedFiles } from "./seed_files.ts";

/** The code that decides what a migration leaves in a database. */
const APPLYING_CODE = ["apply_migrations.ts", "run_file.ts", "split_statements.ts"]
  .map((name) => fileURLToPath(new URL(name, import.meta.url)));

/**
 * Returns a hash of a project's migrations and seeds and of the code that applies them, 16 hex
 * digits: the same for every project and release whose databases would be the same.
 */
export async function migrationsHash(projectRoot: string): Promise<string> {
  const folder = join(projectRoot, "supabase", "migrations");
  const paths: string[] = [];
  for await (const entry of Deno.readDir(folder)) paths.push(join(folder, entry.name));
  const seeds = await findSeedFiles(projectRoot);
  paths.sort().push(...seeds.map((path) => join(projectRoot, path)));
  const texts = await Promise.all(paths.map((path) => Deno.readTextFile(path).catch(() => "")));
  const names = paths.map((path) => path.slice(projectRoot.length));
  const code = await Promise.all(APPLYING_CODE.map((path) => Deno.readTextFile(path)));
  return sha256Hex(JSON.stringify([names, texts, code])).slice(0, 16);
}
