import { applyMigrations } from "./migrations/apply_migrations.ts";
import { migrationsHash } from "./migrations/migrations_hash.ts";
import { copySnapshot, type SnapshotOptions } from "./database/snapshot.ts";
import type { PgliteDatabaseOptions } from "./database/pglite_database.ts";
import { startPgliteDatabase } from "./database/pglite_database.ts";

/**
 * Returns the options of a snapshot that starts from `platform` and applies the project's
 * migrations and seed. Use it only for ephemeral stacks: secrets that the migrations generate are
 * the same in every copy.
 */
export async function migratedSnapshot(
  platform: SnapshotOptions,
  projectRoot: string,
  serving: Omit<PgliteDatabaseOptions, "dataDir">,
): Promise<SnapshotOptions> {
  return {
    ...platform,
    key: `${platform.key}-${await migrationsHash(projectRoot)}`,
    build: async (dataDir) => {
      await copySnapshot(platform, dataDir);
      const database = await startPgliteDatabase({ ...serving, dataDir });
      try {
        await applyMigrations(database, projectRoot, platform);
      } finally {
        await database.stop();
      }
    },
  };
}
