import { join } from "node:path";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { cacheFolder } from "../../stack/cache_folder.ts";
import { platformSnapshot, writeBundles } from "../../stack/database/pglite_folder.ts";
import { copySnapshot } from "../../stack/database/snapshot.ts";
import { migratedSnapshot } from "../../stack/migrated_snapshot.ts";

/** The snapshots of this user. */
export const CACHE_DIR = await cacheFolder();

/**
 * Fills a new data folder with a migrated database, so that its first start does not spend ten
 * seconds of CPU time on migrations.
 */
export async function fillDataFolder(dataDir: string): Promise<void> {
  const log = () => {};
  const folder = join(dataDir, "pglite");
  const bundles = await writeBundles(CACHE_DIR);
  const platform = await platformSnapshot(bundles, { cacheDir: CACHE_DIR, log });
  const migrated = await migratedSnapshot(platform, PROJECT_ROOT, {
    bundles,
    channels: [],
    statementLimitMs: 30_000,
    log,
    onFailure: log,
  });
  await Deno.mkdir(dataDir, { recursive: true });
  await copySnapshot(migrated, folder);
  await Deno.writeTextFile(`${folder}.key`, platform.key);
}
