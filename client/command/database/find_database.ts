import { dataFolderOf, type Environment, runningStack } from "../project/running_stack.ts";
import { readDatabaseUrl } from "./database_url.ts";

/** The database of a command. */
export interface FoundDatabase {
  readonly url: string;
  /** What named it. */
  readonly source: string;
  /** Address of the API of the same project; null if it is not known. */
  readonly apiUrl: string | null;
}

/**
 * Finds the database of a command: that of `--db`, of `SUPABASE_DB_URL`, or of the stack that runs in
 * the project's folder.
 *
 * @returns null when there is none.
 * @throws CommandError `URL_INVALID`
 */
export async function findDatabase(
  given: string | undefined,
  root: string,
  environment: Environment,
): Promise<FoundDatabase | null> {
  for (
    const [url, source] of [[given, "--db"], [environment["SUPABASE_DB_URL"], VARIABLE]] as const
  ) {
    if (url !== undefined) return { url: readDatabaseUrl(url, source), source, apiUrl: null };
  }
  const { SUPABASE_DB_URL: url, SUPABASE_URL: apiUrl = null } =
    await runningStack(dataFolderOf(root, environment)) ?? {};
  return url === undefined ? null : { url, source: "supaswarm dev in this folder", apiUrl };
}

const VARIABLE = "SUPABASE_DB_URL";
