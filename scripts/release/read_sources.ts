import { join } from "node:path";
import { loadToml } from "../deps.ts";
import { PROJECT_ROOT } from "../project_root.ts";

/** A source file of the database. */
export interface SchemaSource {
  /** From the folder of the sources: `engine/claim.sql`. */
  readonly path: string;
  readonly sql: string;
}

/** Where the sources are, from the root of the project. */
export const SCHEMAS_FOLDER = "supabase/schemas";

/**
 * Reads the sources of the database in the order of `schema_paths` in `supabase/config.toml`.
 *
 * @throws Error for a source that the list lacks, which would never be applied.
 */
export async function readSources(): Promise<SchemaSource[]> {
  const { parse } = await loadToml();
  const config = parse(await Deno.readTextFile(join(PROJECT_ROOT, "supabase/config.toml")));
  const { schema_paths: listed } = (config.db as { migrations: { schema_paths: string[] } })
    .migrations;
  const paths = listed.map((path) => path.replace("./schemas/", ""));
  const unlisted = (await sourcePaths()).filter((path) => !paths.includes(path));
  if (unlisted.length > 0) {
    throw new Error(
      `supabase/config.toml does not list ${unlisted.join(", ")} in schema_paths. ` +
        "Add each after the files whose objects it uses",
    );
  }
  const texts = paths.map((path) => Deno.readTextFile(join(PROJECT_ROOT, SCHEMAS_FOLDER, path)));
  return (await Promise.all(texts)).map((sql, place) => ({ path: paths[place] ?? "", sql }));
}

async function sourcePaths(): Promise<string[]> {
  const root = join(PROJECT_ROOT, SCHEMAS_FOLDER);
  const paths: string[] = [];
  for await (const wing of Deno.readDir(root)) {
    for await (const file of Deno.readDir(join(root, wing.name))) {
      paths.push(`${wing.name}/${file.name}`);
    }
  }
  return paths.sort();
}
