/** `deno task feedback:export`: writes grades and failures of tool calls to a folder, as CSV. */
import { dirname, join } from "node:path";
import { createExportStore } from "../shared/gateway/feedback/export_store.ts";
import { runExport } from "../shared/gateway/feedback/run_export.ts";
import { CommandError, runCommand } from "./cli/run_command.ts";
import { DATABASE_OPTION, findDatabaseUrl } from "./cli/find_database.ts";
import { usePlatform } from "./cli/use_database.ts";
import { PROJECT_ROOT } from "./project_root.ts";
import { readEnvironment } from "../stack/stack_environment.ts";
import { writeLine, writeProgress } from "./terminal.ts";

const DEFAULT_DAYS = 30;
const MS_PER_DAY = 86_400_000;

await runCommand({
  name: "deno task feedback:export",
  summary: "Writes grades and failures of tool calls to a folder, one CSV file per day and kind.",
  options: {
    out: {
      type: "string",
      placeholder: "folder",
      help: "Target folder. It is created if missing.",
    },
    from: {
      type: "string",
      placeholder: "YYYY-MM-DD",
      help: `First day, UTC; at most 62 days are written. Default ${DEFAULT_DAYS} days ago.`,
    },
    db: DATABASE_OPTION,
    json: { type: "boolean", help: "Print the files as one line of JSON." },
  },
}, async ({ values }) => {
  const { out } = values;
  if (!out) throw new CommandError("Cannot export: pass the folder for the files with --out");
  const from = readDay(values.from);
  const url = await findDatabaseUrl(values.db, await readEnvironment(PROJECT_ROOT));

  writeProgress(`Exporting from ${from} on …`);
  await usePlatform(url, { applicationName: "feedback-export" }, async (sql) => {
    const store = createExportStore(sql);
    const written = await runExport(await store.listDays({ from, withToday: true }), {
      // A downloaded file does not prove what is in Storage.
      store: { ...store, markExported: () => Promise.resolve() },
      writeFile: ({ path, text, rowCount }) =>
        rowCount === 0 ? Promise.resolve() : writeFile(join(out, path), text),
    });
    const files = written.filter(({ rowCount }) => rowCount > 0);
    if (values.json) {
      const rows = files.map(({ path, rowCount }) => ({ path, row_count: rowCount }));
      return writeLine(JSON.stringify({ out, files: rows }));
    }
    for (const { path, rowCount } of files) writeLine(`${join(out, path)}  ${rowCount} rows`);
    if (files.length === 0) writeLine(`There are no grades and no failures since ${from}`);
  });
});

function readDay(text: string | undefined): string {
  if (text === undefined) {
    return new Date(Date.now() - DEFAULT_DAYS * MS_PER_DAY).toISOString().slice(0, 10);
  }
  const date = /^\d{4}-\d\d-\d\d$/.test(text) ? new Date(`${text}T00:00:00Z`) : null;
  if (date !== null && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)) {
    return text;
  }
  throw new CommandError(`Cannot use --from ${text}: use the format YYYY-MM-DD`);
}

async function writeFile(path: string, text: string): Promise<void> {
  await Deno.mkdir(dirname(path), { recursive: true });
  await Deno.writeTextFile(path, text);
}
