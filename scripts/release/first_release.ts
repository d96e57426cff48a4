import { join } from "node:path";
import { SCHEMA_VERSION } from "../../shared/platform/db/schema_version.ts";
import { PROJECT_ROOT } from "../project_root.ts";
import { readSources } from "./read_sources.ts";
import { releaseSql } from "./release_sql.ts";

/** The migration that is generated from the sources. Later releases are written by hand. */
export const FIRST_RELEASE = "supabase/migrations/20261125000000_supaswarm_0_1_0.sql";

/** The text of the first release, or null if its file has it. */
export async function newFirstRelease(): Promise<string | null> {
  const text = releaseSql(SCHEMA_VERSION, await readSources());
  return await Deno.readTextFile(pathOfRelease()).catch(() => "") === text ? null : text;
}

/** Writes the first release if its sources have changed, and returns whether. */
export async function writeFirstRelease(): Promise<boolean> {
  const text = await newFirstRelease();
  if (text !== null) await Deno.writeTextFile(pathOfRelease(), text);
  return text !== null;
}

function pathOfRelease(): string {
  return join(PROJECT_ROOT, FIRST_RELEASE);
}
