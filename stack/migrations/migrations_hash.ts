import { join } from "node:path";
import { sha256Hex } from "../../shared/platform/values/sha256_hex.ts";
import { findSeedFiles } from "./seed_files.ts";

/** Returns a hash of a project's migrations and seeds, 16 hex digits. */
export async function migrationsHash(projectRoot: string): Promise<string> {
  const folder = join(projectRoot, "supabase", "migrations");
  const paths: string[] = [];
  for await (const entry of Deno.readDir(folder)) paths.push(join(folder, entry.name));
  const seeds = await findSeedFiles(projectRoot);
  paths.sort().push(...seeds.map((path) => join(projectRoot, path)));
  const texts = await Promise.all(paths.map((path) => Deno.readTextFile(path).catch(() => "")));
  const names = paths.map((path) => path.slice(projectRoot.length));
  return sha256Hex(JSON.stringify([names, texts])).slice(0, 16);
}
