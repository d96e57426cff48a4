import { join } from "node:path";
import type { Stack } from "../../stack/stack.ts";
import { poolModeOf } from "./function_settings.ts";

const FILE_NAME = "project.env";

/** Returns the path of the connection file of a stack with this data folder. */
export function connectionFilePath(dataDir: string): string {
  return join(dataDir, FILE_NAME);
}

/**
 * Writes addresses and keys of a running stack as a `.env` file, for `--env-file` of Node and Deno
 * and for `deno task sql`. Only its owner may read it.
 */
export async function writeConnectionFile(
  dataDir: string,
  stack: Pick<Stack, "apiUrl" | "dbUrl" | "publishableKey" | "secretKey">,
  databaseKind: string,
): Promise<void> {
  const path = connectionFilePath(dataDir);
  const draft = `${path}.${crypto.randomUUID()}`;
  const variables = {
    SUPABASE_URL: stack.apiUrl,
    SUPABASE_PUBLISHABLE_KEY: stack.publishableKey,
    SUPABASE_SECRET_KEY: stack.secretKey,
    SUPABASE_DB_URL: stack.dbUrl,
    ...poolModeOf(databaseKind),
  };
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`);
  await Deno.writeTextFile(draft, lines.join(""), { mode: 0o600, createNew: true });
  await Deno.rename(draft, path);
}

/** Removes the file when a stack stops, so that no command tries to connect to it. */
export async function removeConnectionFile(dataDir: string): Promise<void> {
  await Deno.remove(connectionFilePath(dataDir)).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
}
