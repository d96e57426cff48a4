import { join } from "node:path";

/** A migration file of the Supabase CLI. */
export interface Migration {
  /** The digits before the first underscore of the file name. */
  readonly version: string;
  readonly name: string;
  /** Path from the project's root, for messages. */
  readonly path: string;
  readonly sql: string;
}

const FILE_NAME = /^(\d+)_(.*)\.sql$/;

/** Reads the migrations of a project in the order in which they are applied. */
export async function readMigrations(projectRoot: string): Promise<Migration[]> {
  const folder = join("supabase", "migrations");
  const names: string[] = [];
  for await (const entry of Deno.readDir(join(projectRoot, folder))) {
    if (entry.isFile) names.push(entry.name);
  }
  const migrations: Migration[] = [];
  for (const fileName of names.sort()) {
    const [, version, name] = FILE_NAME.exec(fileName) ?? [];
    if (version === undefined || name === undefined) continue;
    const path = join(folder, fileName);
    migrations.push({
      version,
      name,
      path,
      sql: await Deno.readTextFile(join(projectRoot, path)),
    });
  }
  return migrations;
}
