import { join } from "node:path";
import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";
import type { Logger, StackDatabase } from "../database/database_port.ts";
import { watchFolders } from "../watch_folders.ts";
import { applyMigrations } from "./apply_migrations.ts";

const FOLDER = join("supabase", "migrations");

/**
 * Applies migrations when they are saved, until the returned function is called. Logs what was
 * applied, or why not, with file and line; the database then stays as it was.
 */
export function watchMigrations(
  database: Pick<StackDatabase, "url">,
  projectRoot: string,
  log: Logger,
): () => Promise<void> {
  return watchFolders(projectRoot, [FOLDER], async () => {
    try {
      const { applied, edited } = await applyMigrations(database, projectRoot);
      for (const version of applied) log("info", "migration.applied", { version });
      for (const path of edited) {
        log("warn", "migration.edited", {
          path,
          hint: "It was applied before. Write a new migration, or start once with --reset.",
        });
      }
    } catch (error) {
      log("error", "migration.failed", {
        error: error instanceof SwarmError ? error.message : String(error),
      });
    }
  });
}
