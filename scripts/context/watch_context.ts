import { dirname, join } from "node:path";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { ContextFileError } from "../../shared/servers/sql/context/context_file.ts";
import type { OpenLogger as Logger } from "../../shared/platform/log/logger.ts";
import { CONTEXT_FILE } from "./context_path.ts";
import { publishContext } from "./publish_context.ts";

/** Editors write a file in several steps. */
const SETTLE_MS = 200;

interface ContextWatchOptions {
  readonly projectRoot: string;
  readonly sql: Sql;
  readonly log: Logger;
}

/**
 * Publishes the project's context now and whenever its file is saved. Logs a malformed file with
 * the line, and the earlier context stays in use. Publishes nothing while there is no file.
 */
export async function watchContext(
  { projectRoot, sql, log }: ContextWatchOptions,
): Promise<{ stop(): Promise<void> }> {
  const path = join(projectRoot, CONTEXT_FILE);
  const publish = () => publishFile(path, sql, log);
  await publish();
  const watcher = Deno.watchFs(dirname(path), { recursive: false });
  let timer: ReturnType<typeof setTimeout> | undefined;
  let publishing = Promise.resolve();
  const watching = (async () => {
    for await (const { paths } of watcher) {
      if (!paths.includes(path)) continue;
      clearTimeout(timer);
      timer = setTimeout(() => publishing = publishing.then(publish), SETTLE_MS);
    }
  })();
  return {
    async stop() {
      clearTimeout(timer);
      watcher.close();
      await Promise.all([watching, publishing]);
    },
  };
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
