import { join } from "node:path";
import { sha256Hex } from "../../shared/platform/values/sha256_hex.ts";
import { PROJECT_ROOT } from "../project_root.ts";

/** The hashes of released migrations. It is absent before the first release. */
export const RELEASES_FILE = "supabase/releases.json";

const MIGRATIONS = "supabase/migrations";

/** Reads the SHA-256 of each frozen migration by its path. */
export async function readFrozenReleases(): Promise<Readonly<Record<string, string>>> {
  try {
    return JSON.parse(await Deno.readTextFile(join(PROJECT_ROOT, RELEASES_FILE)));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return {};
    throw error;
  }
}

/** The paths of frozen migrations that were edited or deleted. */
export async function changedReleases(frozen: Readonly<Record<string, string>>): Promise<string[]> {
  const changed: string[] = [];
  for (const [path, hash] of Object.entries(frozen)) {
    const text = await Deno.readTextFile(join(PROJECT_ROOT, path)).catch(() => "");
    if (sha256Hex(text) !== hash) changed.push(path);
  }
  return changed;
}

/** Records the hashes of all migrations, which are released with this. */
export async function freezeReleases(): Promise<void> {
  const names = await Array.fromAsync(
    Deno.readDir(join(PROJECT_ROOT, MIGRATIONS)),
    (file) => file.name,
  );
  const hashes: Record<string, string> = {};
  for (const name of names.sort()) {
    const path = `${MIGRATIONS}/${name}`;
    hashes[path] = sha256Hex(await Deno.readTextFile(join(PROJECT_ROOT, path)));
  }
  await Deno.writeTextFile(
    join(PROJECT_ROOT, RELEASES_FILE),
    JSON.stringify(hashes, null, 2) + "\n",
  );
}
