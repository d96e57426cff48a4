import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { DATA_FOLDER } from "../programs/write_programs.ts";

/** The URL of the database of a running `supaswarm dev` in a folder; undefined when none runs. */
export async function runningDatabase(root: string): Promise<string | undefined> {
  try {
    const text = await readFile(join(root, DATA_FOLDER, "project.env"), "utf8");
    return parseEnv(text).SUPABASE_DB_URL;
  } catch {
    return undefined; // The file is there only while it runs.
  }
}
