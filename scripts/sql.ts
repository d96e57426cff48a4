/** `deno task sql`: runs statements or a prompt on a project's database. */
import type { Sql, SqlNotice } from "../shared/platform/db/sql_client.ts";
import { readNamedFile } from "./files/read_named_file.ts";
import { CommandError, runCommand } from "./cli/run_command.ts";
import { DATABASE_OPTION, findDatabaseUrl } from "./cli/find_database.ts";
import { SEARCH_PATH } from "./cli/search_path.ts";
import { useDatabase } from "./cli/use_database.ts";
import { PROJECT_ROOT } from "./project_root.ts";
import { readEnvironment } from "../stack/stack_environment.ts";
import { readLines } from "../stack/functions/read_lines.ts";
import { formatTable } from "./sql/format_table.ts";
import { red, writeError, writeLine, writeText, yellow } from "./terminal.ts";

await runCommand({
  name: "deno task sql",
  summary:
    "Runs SQL as role postgres: the given statements, those of a file or of standard input, or a prompt.",
  positionals: '["select …"]',
  options: {
    file: {
      type: "string",
      short: "f",
      placeholder: "FILE",
      help: "Run the statements of a file; - is standard input.",
    },
    db: DATABASE_OPTION,
    json: { type: "boolean", help: "Print each result as one line of JSON." },
  },
}, async ({ values, positionals }) => {
  const url = await findDatabaseUrl(values.db, await readEnvironment(PROJECT_ROOT));
  const print = values.json ? printJson : printTable;
  const given = positionals.join(" ");
  if (values.file !== undefined && given !== "") {
    throw new CommandError("Cannot run both --file and statements: pass one of them");
  }
  const isInteractive = values.file === undefined && given === "" && Deno.stdin.isTerminal();
  if (isInteractive && !values.json && await runPsql(url)) return;
  await useDatabase(url, { applicationName: "supaswarm sql", reportNotice }, async (sql) => {
    await sql`select set_config('search_path', ${SEARCH_PATH}, false)`;
    if (isInteractive) return await prompt(sql, print);
    await run(sql, given === "" ? await readStatements(values.file ?? "-") : given, print);
  });
});

/** @throws CommandError when the file cannot be read. */
async function readStatements(path: string): Promise<string> {
  if (path === "-") return await new Response(Deno.stdin.readable).text();
  return await readNamedFile(path);
}

function reportNotice({ severity, message, hint }: SqlNotice): void {
  const text = `${severity.toLowerCase()}: ${message}.${hint === undefined ? "" : ` ${hint}`}`;
  writeError(severity === "WARNING" ? yellow(text, Deno.stderr) : text);
}

type Result =
  & Readonly<{ command: string; count: number; columns?: unknown }>
  & readonly Readonly<Record<string, unknown>>[];

async function run(sql: Sql, text: string, print: (result: Result) => void): Promise<void> {
  const answer = await sql.unsafe(text) as unknown as Result | readonly Result[];
  const isOne = "command" in answer && answer.command !== undefined;
  const results = isOne ? [answer as Result] : answer as readonly Result[];
  // A text without a statement, such as a comment, has a result without a command.
  for (const result of results) if (result.command) print(result);
}

function printTable(result: Result): void {
  const rows = [...result];
  // A program that reads the output needs whole values.
  const maxCellLength = Deno.stdout.isTerminal() ? undefined : Infinity;
  if (rows.length > 0) writeLine(formatTable(rows, maxCellLength));
  writeLine(`${result.command} ${result.count ?? 0}`);
}

function printJson(result: Result): void {
  writeLine(JSON.stringify({ command: result.command, count: result.count, rows: [...result] }));
}

/** Runs psql. @returns false when this machine has no psql. */
async function runPsql(url: string): Promise<boolean> {
  try {
    const { success } = await new Deno.Command("psql", {
      args: [url],
      env: { PGOPTIONS: `-c search_path=${SEARCH_PATH.replaceAll(" ", "")}` },
    }).spawn().status;
    if (!success) throw new CommandError("psql ended with an error");
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/**
 * Runs the typed statement at a line that ends with a semicolon. `\q` or the end of input exits.
 */
async function prompt(sql: Sql, print: (result: Result) => void): Promise<void> {
  writeLine('End a statement with ";". Type \\q to leave.');
  let text = "";
  writeText("postgres> ");
  for await (const line of readLines(Deno.stdin.readable)) {
    if (line.trim() === "\\q") return;
    text += `${line}\n`;
    if (text.trimEnd().endsWith(";")) {
      await run(sql, text, print).catch((error) => {
        writeError(
          `${red("error", Deno.stderr)}: ${error instanceof Error ? error.message : error}`,
        );
      });
      text = "";
    }
    writeText(text.trim() === "" ? "postgres> " : "       -> ");
  }
}
