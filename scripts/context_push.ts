/** `deno task context:push`: publishes `supabase/supabase-sql-context.md` to a project. */
import { join, relative } from "node:path";
import { createSql } from "../shared/platform/db/sql_client.ts";
import { ContextFileError } from "../shared/servers/sql/context/context_file.ts";
import { readEnvironment } from "../stack/stack_environment.ts";
import { readNamedFile } from "./files/read_named_file.ts";
import { CommandError, runCommand } from "./cli/run_command.ts";
import { CONTEXT_FILE } from "./context/context_path.ts";
import { publishContext } from "./context/publish_context.ts";
import { PROJECT_ROOT } from "./project_root.ts";
import { writeLine } from "./terminal.ts";

await runCommand({
  name: "deno task context:push",
  summary: "Publishes what generate_sql has learned to a project. Safe to repeat.",
  options: {
    file: {
      type: "string",
      placeholder: "path",
      help: `The context. Default ${CONTEXT_FILE} of the project.`,
    },
    db: {
      type: "string",
      placeholder: "URL",
      help: "The database. Default SUPABASE_DB_URL of the environment or .env.",
    },
    json: { type: "boolean", help: "Print the result as one line of JSON." },
  },
}, async ({ values }) => {
  const path = values.file ?? join(PROJECT_ROOT, CONTEXT_FILE);
  const shown = values.file ?? relative(PROJECT_ROOT, path);
  const text = await readNamedFile(path, shown);
  const url = values.db ?? (await readEnvironment(PROJECT_ROOT)).SUPABASE_DB_URL;
  if (!url) throw new CommandError("Pass the database with --db, as printed by `deno task start`");
  const sql = createSql(url, { maxConnections: 1, applicationName: "context-push" });
  try {
    const { version, patterns, fixes } = await publishContext(sql, text).catch((error) => {
      if (!(error instanceof ContextFileError)) throw error;
      const message = `Cannot publish ${shown}: ${error.message}. The last version stays in use`;
      throw new CommandError(message, { cause: error });
    });
    writeLine(
      values.json
        ? JSON.stringify({ version, patterns, fixes })
        : `Version ${version} is in use: ${patterns} query patterns, ${fixes} error fixes`,
    );
  } finally {
    await sql.end({ timeout: 1 });
  }
});
