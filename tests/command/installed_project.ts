import { join } from "node:path";
import {
  type ChosenNames,
  fillNames,
  type InstalledSchema,
} from "../../client/command/release/fill_names.ts";
import { MARKERS } from "../../client/command/release/markers.ts";
import { migrationText } from "../../client/command/release/migration_text.ts";
import { markNames } from "../../scripts/package/mark_names.ts";
import type { ReleaseSql } from "../../scripts/package/build_release.ts";
import { FUNCTION_NAMES } from "../../shared/platform/values/function_names.ts";
import type { PgtapFile } from "../platform/pgtap/pgtap.ts";

/** The names of an installation that renames no function. */
export function chosenNames(schema: InstalledSchema): ChosenNames {
  const functions = Object.fromEntries(Object.values(FUNCTION_NAMES).map((name) => [name, name]));
  return { schema, functions };
}

/** Writes a project with the release after a migration of its own. */
export async function writeProject(
  root: string,
  { migrations, objects }: ReleaseSql,
  own: string,
  seed: string,
): Promise<void> {
  const names = chosenNames("supaswarm");
  const write = async (path: string, text: string) =>
    await Deno.writeTextFile(join(root, "supabase", path), text);
  await Deno.mkdir(join(root, "supabase/migrations"), { recursive: true });
  await write("migrations/20260101000000_own.sql", own);
  await write("migrations/20260102000000_supaswarm.sql", migrationText(migrations, names));
  await write("seed.sql", fillNames(markNames(seed, new Set(objects.names)), names));
}

/** A pgTAP file for the schemas of an installation. */
export function installedPgtap(file: PgtapFile, names: ReadonlySet<string>): PgtapFile {
  const marked = markNames(file.sql, names)
    .replaceAll(/(search_path =|'search_path',) ('?)public\b/g, `$1 $2${MARKERS.public}, public`)
    .replaceAll(
      /'(public|private)(\.?)'/g,
      (_, schema: "public" | "private", dot: string) => `'${MARKERS[schema]}${dot}'`,
    );
  return { ...file, sql: fillNames(marked, chosenNames("supaswarm")) };
}
