import { join } from "node:path";
import type { ReleaseObjects } from "../../client/command/release/release.ts";
import { createSql } from "../../shared/platform/db/sql_client.ts";
import { openDatabase } from "../../stack/open_database.ts";
import { readMigrations } from "../../stack/migrations/read_migrations.ts";
import { splitStatements } from "../../stack/migrations/split_statements.ts";
import { PROJECT_ROOT } from "../project_root.ts";
import { markRelease } from "./mark_names.ts";
import { readReleaseObjects } from "./release_objects.ts";

/** A release of the database, with markers where a project chooses names. */
export interface ReleaseSql {
  readonly objects: ReleaseObjects;
  readonly migration: string;
}

/** Builds the release from the migrations and the initial rows of `supabase/seed.sql`. */
export async function buildReleaseSql(): Promise<ReleaseSql> {
  const objects = await databaseObjects();
  const migrations = await readMigrations(PROJECT_ROOT);
  const parts = [
    ...migrations.map(({ sql }) => sql),
    ...initialRows(await Deno.readTextFile(join(PROJECT_ROOT, "supabase/seed.sql"))),
  ];
  const sql = parts.map((part) => part.trim()).join("\n\n");
  return { objects, migration: `${markRelease(sql, new Set(objects.names))}\n` };
}

/** The rows of the seed that every project needs: providers and prices, without those of the demo. */
function initialRows(seed: string): string[] {
  const isInitial = (text: string) =>
    /insert into public\.(llm_providers|model_prices) /.test(text) && !text.includes("'demo'");
  return splitStatements(seed).map(({ text }) => text).filter(isInitial).map((text) => `${text};`);
}

async function databaseObjects(): Promise<ReleaseObjects> {
  const database = await openDatabase({
    db: "pglite",
    dataDir: null,
    projectRoot: PROJECT_ROOT,
    log: () => {},
  });
  try {
    const sql = createSql(database.url, { maxConnections: 1, applicationName: "package" });
    const objects = await readReleaseObjects(sql);
    await sql.end();
    return objects;
  } finally {
    await database.stop();
  }
}
