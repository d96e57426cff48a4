/** `deno task context:suggest`: proposes what `generate_sql` could learn from graded calls. */
import { join, relative } from "node:path";
import { createSql } from "../shared/platform/db/sql_client.ts";
import {
  ContextFileError,
  readContextFile,
  TITLE,
} from "../shared/servers/sql/context/context_file.ts";
import { readEnvironment } from "../stack/stack_environment.ts";
import { CommandError, runCommand } from "./cli/run_command.ts";
import { addProposals, fixText, patternText } from "./context/add_proposals.ts";
import { CONTEXT_FILE } from "./context/context_path.ts";
import { readProposals } from "./context/read_proposals.ts";
import { schemaOverview } from "./context/schema_overview.ts";
import { PROJECT_ROOT } from "./project_root.ts";
import { writeLine, writeProgress } from "./terminal.ts";

const DEFAULT_DAYS = 30;

await runCommand({
  name: "deno task context:suggest",
  summary: "Proposes query patterns and error fixes from calls that people graded or fixed.",
  options: {
    file: {
      type: "string",
      placeholder: "path",
      help: `The context. Default ${CONTEXT_FILE} of the project.`,
    },
    days: {
      type: "string",
      placeholder: "N",
      help: `Calls of the last N days. Default ${DEFAULT_DAYS}.`,
    },
    write: {
      type: "boolean",
      help: "Write the schema's overview and the proposals, as comments, into the file.",
    },
    db: {
      type: "string",
      placeholder: "URL",
      help: "The database. Default SUPABASE_DB_URL of the environment or .env.",
    },
    json: { type: "boolean", help: "Print the proposals as one line of JSON." },
  },
}, async ({ values }) => {
  const days = Number(values.days ?? DEFAULT_DAYS);
  if (!Number.isInteger(days) || days < 1) {
    throw new CommandError(`Cannot read --days ${values.days}: use a whole number of at least 1`);
  }
  const path = values.file ?? join(PROJECT_ROOT, CONTEXT_FILE);
  const shown = values.file ?? relative(PROJECT_ROOT, path);
  const text = await Deno.readTextFile(path).catch(() => `# ${TITLE}\n`);
  const url = values.db ?? (await readEnvironment(PROJECT_ROOT)).SUPABASE_DB_URL;
  if (!url) throw new CommandError("Pass the database with --db, as printed by `deno task start`");

  writeProgress(`Reading the calls of the last ${days} days …`);
  const sql = createSql(url, { maxConnections: 2, applicationName: "context-suggest" });
  try {
    const known = readKnown(text, shown);
    const proposals = await readProposals(sql, { days, known });
    const { patterns, fixes } = proposals;
    if (values.write) {
      await Deno.writeTextFile(path, addProposals(text, proposals, await schemaOverview(sql)));
    }
    if (values.json) return writeLine(JSON.stringify({ patterns, fixes, file: shown }));
    if (!values.write) {
      writeLine([...patterns.map(patternText), ...fixes.map(fixText)].join("\n\n"));
    }
    const count = `${patterns.length} query patterns and ${fixes.length} error fixes`;
    writeLine(values.write ? `${shown} has ${count} more to review` : `${count} proposed`);
  } finally {
    await sql.end({ timeout: 1 });
  }
});

function readKnown(text: string, shown: string) {
  try {
    return readContextFile(text);
  } catch (error) {
    if (!(error instanceof ContextFileError)) throw error;
    throw new CommandError(`Cannot read ${shown}: ${error.message}`, { cause: error });
  }
}
