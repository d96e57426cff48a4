import { createSql } from "../../shared/platform/db/sql_client.ts";
import { openDatabase } from "../../stack/open_database.ts";
import { readMigrations } from "../../stack/migrations/read_migrations.ts";
import { PROJECT_ROOT } from "../project_root.ts";
import { markRelease } from "./mark_names.ts";
import { readPlatformNames } from "./platform_names.ts";

/** A release of the database, with markers where a project chooses names. */
export interface ReleaseSql {
  /** The names of the platform's relations, types and functions in `public`. */
  readonly names: readonly string[];
  readonly migration: string;
}

/** Builds the release from the migrations and the initial rows of `supabase/seed.sql`. */
export async function buildReleaseSql(): Promise<ReleaseSql> {
  const names = await platformNames();
  const migrations = await readMigrations(PROJECT_ROOT);
  const sql = migrations.map(({ sql }) => sql.trim()).join("\n\n");
  return { names, migration: `${markRelease(sql, new Set(names))}\n` };
}

async function platformNames(): Promise<string[]> {
  const database = await openDatabase({
    db: "pglite",
    dataDir: null,
    projectRoot: PROJECT_ROOT,
    log: () => {},
  });
  try {
    const sql = createSql(database.url, { maxConnections: 1, applicationName: "package" });
    const names = await readPlatformNames(sql);
    await sql.end();
    return names;
  } finally {
    await database.stop();
  }
}
