import { join } from "node:path";
import type { ReleaseMigration, ReleaseObjects } from "../../client/command/release/release.ts";
import { createSql } from "../../shared/platform/db/sql_client.ts";
import { openDatabase } from "../../stack/open_database.ts";
import { readMigrations } from "../../stack/migrations/read_migrations.ts";
import { splitStatements } from "../../stack/migrations/split_statements.ts";
import { PROJECT_ROOT } from "../project_root.ts";
import { markRelease } from "./mark_names.ts";
import { readReleaseObjects } from "./release_objects.ts";

/** The releases of the database, with markers where a project chooses names. */
export interface ReleaseSql {
  readonly objects: ReleaseObjects;
  /** Oldest first. */
  readonly migrations: readonly ReleaseMigration[];
}

/** Builds the releases from the migrations; the first also has the initial rows of the seed. */
export async function buildReleaseSql(): Promise<ReleaseSql> {
  const objects = await databaseObjects();
  const own = new Set(objects.names);
  const seed = await Deno.readTextFile(join(PROJECT_ROOT, "supabase/seed.sql"));
  const migrations = (await readMigrations(PROJECT_ROOT)).map(({ name, sql }, place) => ({
    version: versionOf(name),
    sql: `${markRelease(place === 0 ? [sql, ...initialRows(seed)].join("\n") : sql, own)}\n`,
  }));
  return { objects, migrations };
}

/** The version in the name of a release's migration, such as `supaswarm_0_1_0`. */
function versionOf(name: string): string {
  const [, digits] = /^supaswarm_(\d+_\d+_\d+)$/.exec(name) ?? [];
  if (digits === undefined) throw new Error(`The migration ${name} names no version`);
  return digits.replaceAll("_", ".");
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
