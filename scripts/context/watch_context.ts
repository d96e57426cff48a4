import { join } from "node:path";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { ContextFileError } from "../../shared/servers/sql/context/context_file.ts";
import type { OpenLogger as Logger } from "../../shared/platform/log/logger.ts";
import { watchFolders } from "../../stack/watch_folders.ts";
import { CONTEXT_FILE } from "./context_path.ts";
import { publishContext } from "./publish_context.ts";

interface ContextWatchOptions {
  readonly projectRoot: string;
  readonly sql: Sql;
  readonly log: Logger;
}

/**
 * Publishes the project's context now, and whenever its file is saved until the returned function is
 * called. Logs a malformed file with the line, and the earlier context stays in use. Publishes
 * nothing while there is no file.
 */
export async function watchContext(
  { projectRoot, sql, log }: ContextWatchOptions,
): Promise<() => Promise<void>> {
  const publish = () => publishFile(join(projectRoot, CONTEXT_FILE), sql, log);
  await publish();
  return watchFolders(projectRoot, [CONTEXT_FILE], publish);
}

async function publishFile(path: string, sql: Sql, log: Logger): Promise<void> {
  try {
    const text = await Deno.readTextFile(path);
    const { version, patterns, fixes } = await publishContext(sql, text);
    log("info", "context.published", { version, patterns, fixes });
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return;
    const line = error instanceof ContextFileError ? error.line : null;
    log("error", "context.refused", { file: CONTEXT_FILE, line, error: String(error) });
  }
}
