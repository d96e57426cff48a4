import process from "node:process";
import { parseArgs } from "node:util";
import { CommandError } from "./command_error.ts";
import { doctor } from "./doctor.ts";
import { init } from "./init.ts";
import { runningDatabase } from "./project/running_database.ts";
import { readRelease } from "./release/release.ts";
import { remove } from "./remove.ts";
import { types } from "./types.ts";
import { upgrade } from "./upgrade.ts";
import { PROGRAMS } from "./programs/programs.ts";
import { runProgram } from "./programs/run_program.ts";
import { print, styled } from "./terminal.ts";

const HELP = `Usage: supaswarm <command> [options]

  init      Adds SupaSwarm to the Supabase project in this folder, or in an empty folder
              --schema NAME   supaswarm (default), or public
  upgrade   Replaces the installed files by those of this release, and adds the new migrations
  remove    Removes what init added, and prints the SQL that removes it from a database
              --keep-data     keeps the database as it is
              --db URL        runs the SQL on this database, as role postgres

  doctor    Checks the files, and the database and functions that are named
              --db URL        the database, as role postgres
              --url URL       the project, such as https://<ref>.supabase.co
              --json          prints one line of JSON
  types     Prints TypeScript for clients: the project's agents and tools, and the platform's tables
              --db URL        the database, as role postgres (default: that of supaswarm dev)

  dev       Runs the project on this machine, without Docker, and follows its files
  push      Writes agents/ and external-mcps.yaml into the registry
  pull      Writes the registry into agents/
  agents    Shows the revisions of agents, and rolls one back
  eval      Runs the tests of agents in agents/<slug>.evals.yaml
  sql       Runs SQL as role postgres: the given statements, or a prompt
  skills:import, mcps:sync, mcps:import, quoth:add, quoth:remove
            Import skills, MCP servers and documents
              --help after one from dev on prints its options; they need Deno, or get it from npm

  --dry-run   shows the plan and changes nothing
  --yes       does not ask
  --force     also with uncommitted files, or files that were edited
  --version   prints the version
  --help      prints this text
`;

/** The commands that run in this process. */
const COMMANDS: readonly string[] = ["init", "upgrade", "remove", "doctor", "types"];

const OPTIONS = {
  schema: { type: "string", default: "supaswarm" },
  "keep-data": { type: "boolean", default: false },
  db: { type: "string" },
  url: { type: "string" },
  json: { type: "boolean", default: false },
  "dry-run": { type: "boolean", default: false },
  yes: { type: "boolean", short: "y", default: false },
  force: { type: "boolean", default: false },
  version: { type: "boolean", default: false },
  help: { type: "boolean", short: "h", default: false },
} as const;

async function run(args: string[]): Promise<void> {
  const [program, ...given] = args;
  if (program !== undefined && Object.hasOwn(PROGRAMS, program)) {
    return await runProgram(process.cwd(), program, given);
  }
  const { values, positionals } = parse(args);
  if (values.version) return print((await readRelease()).version);
  const [command, ...rest] = positionals;
  if (values.help || command === undefined) return print(HELP.trimEnd());
  const shared = {
    root: process.cwd(),
    dryRun: values["dry-run"],
    yes: values.yes,
    force: values.force,
  };
  if (rest.length === 0 && command === "init") {
    return await init({ ...shared, schema: values.schema });
  }
  if (rest.length === 0 && command === "upgrade") return await upgrade(shared);
  if (rest.length === 0 && command === "remove") {
    return await remove({ ...shared, keepsData: values["keep-data"], db: values.db ?? null });
  }
  if (rest.length === 0 && command === "doctor") {
    const { url = null, db = null, json } = values;
    return await doctor({ root: shared.root, url, db, json });
  }
  if (rest.length === 0 && command === "types") {
    const db = values.db ?? await runningDatabase(shared.root);
    if (db === undefined) {
      throw usageError("supaswarm types needs --db URL or a running supaswarm dev");
    }
    return await types({ root: shared.root, db });
  }
  if (!COMMANDS.includes(command)) throw usageError(`There is no command "${command}"`);
  throw usageError(`supaswarm ${command} takes no argument "${rest.join(" ")}"`);
}

function parse(args: string[]) {
  try {
    return parseArgs({ args, options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw usageError(error instanceof Error ? error.message : String(error));
  }
}

function usageError(message: string): CommandError {
  const names = [...COMMANDS, ...Object.keys(PROGRAMS)].join(", ");
  return new CommandError(
    "USAGE_INVALID",
    message,
    `The commands are ${names}. supaswarm --help explains them.`,
  );
}

// A reader such as head may end first.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit();
});

run(process.argv.slice(2)).catch((error: unknown) => {
  process.exitCode = 1;
  if (!(error instanceof CommandError)) throw error;
  process.stderr.write(`${styled("red", "error")}: ${error.message}\n${error.hint}\n`);
});
