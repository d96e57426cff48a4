import process from "node:process";
import { parseArgs } from "node:util";
import { doctor } from "./doctor.ts";
import { CommandError } from "./errors/command_error.ts";
import { errorText } from "./errors/explain_error.ts";
import { init } from "./init.ts";
import { create } from "./new.ts";
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
              --bare          without the agent "writer", which runs without a key
  new       Adds files to agents/: new agent <name>, new tool <name>, new skill <name>
  upgrade   Replaces the installed files by those of this release, and adds the new migrations
  remove    Removes what init added, and prints the SQL that removes it from a database
              --keep-data     keeps the database as it is
              --db URL        runs the SQL on this database, as role postgres

  doctor    Checks the files, and the database and functions that are named
              --db URL        the database, as role postgres (default: supaswarm dev)
              --url URL       the project, such as https://<ref>.supabase.co
              --compose DIR   the Compose files of a self-hosted Supabase
              --json          prints one line of JSON
  types     Prints TypeScript for clients: the project's agents and tools, and the platform's tables
              --db URL        the database, as role postgres (default: that of supaswarm dev)

  dev       Runs the project on this machine, without Docker, and follows its files
  worker    Runs tasks, syncs and webhook messages in a process, beside the edge functions
  push      Writes agents/ and external-mcps.yaml into the registry
  pull      Writes the registry into agents/
  agents    Shows the revisions of agents, and rolls one back
  pause     Lets new work wait, or lists what waits; resume lets it go on
  eval      Runs the tests of agents in agents/<slug>.evals.yaml
  sql       Runs SQL as role postgres: the given statements, or a prompt
  import    Makes files of agents/ from subagent files of coding agents, OpenAPI or curl
  skills:import, mcps:sync, mcps:import, quoth:add, quoth:remove
            Import skills, MCP servers and documents
              --help after one from dev on prints its options; they need Deno, or get it from npm

  --dry-run   shows the plan and changes nothing
  --yes       does not ask
  --force     also with uncommitted files, or files that were edited
  --version   prints the version
  --help      prints this text
`;

const OPTIONS = {
  schema: { type: "string", default: "supaswarm" },
  bare: { type: "boolean", default: false },
  "keep-data": { type: "boolean", default: false },
  db: { type: "string" },
  url: { type: "string" },
  compose: { type: "string" },
  json: { type: "boolean", default: false },
  "dry-run": { type: "boolean", default: false },
  yes: { type: "boolean", short: "y", default: false },
  force: { type: "boolean", default: false },
  version: { type: "boolean", default: false },
  help: { type: "boolean", short: "h", default: false },
} as const;

type Values = ReturnType<typeof parse>["values"];

/** A command that runs in this process. */
interface Command {
  readonly options: readonly (keyof typeof OPTIONS)[];
  /** How many arguments without a name it takes. @default 0 */
  readonly argumentCount?: number;
  readonly run: (root: string, values: Values, positionals: readonly string[]) => Promise<void>;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  init: {
    options: ["schema", "bare", "dry-run", "yes", "force"],
    run: (root, values) => init({ root, ...values, dryRun: values["dry-run"] }),
  },
  new: {
    options: ["dry-run"],
    argumentCount: 2,
    run: (root, values, [kind, name]) => create({ root, kind, name, dryRun: values["dry-run"] }),
  },
  upgrade: {
    options: ["dry-run", "yes", "force"],
    run: (root, values) => upgrade({ root, ...values, dryRun: values["dry-run"] }),
  },
  remove: {
    options: ["keep-data", "db", "dry-run", "yes", "force"],
    run: (root, values) =>
      remove({
        root,
        ...values,
        db: values.db,
        dryRun: values["dry-run"],
        keepsData: values["keep-data"],
      }),
  },
  doctor: {
    options: ["db", "url", "compose", "json"],
    run: (root, { db, url, compose, json }) => doctor({ root, db, url, compose, json }),
  },
  types: { options: ["db"], run: (root, { db }) => types({ root, db }) },
};

async function run(args: string[]): Promise<void> {
  const [program, ...given] = args;
  if (program !== undefined && Object.hasOwn(PROGRAMS, program)) {
    return await runProgram(process.cwd(), program, given);
  }
  const { values, positionals, tokens } = parse(args);
  if (values.version) return print((await readRelease()).version);
  const [name, ...rest] = positionals;
  if (values.help || name === undefined) return print(HELP.trimEnd());
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) {
    throw usageError(`Cannot run supaswarm ${name}: there is no such command`);
  }
  const extra = rest.slice(command.argumentCount ?? 0);
  if (extra.length > 0) {
    throw usageError(`Cannot run supaswarm ${name}: it takes no argument "${extra.join(" ")}"`);
  }
  const unknown = tokens.find((token) =>
    token.kind === "option" && !command.options.some((option) => option === token.name)
  );
  if (unknown?.kind === "option") {
    throw usageError(`Cannot run supaswarm ${name}: it has no option ${unknown.rawName}`);
  }
  await command.run(process.cwd(), values, rest);
}

function parse(args: string[]) {
  try {
    return parseArgs({ args, options: OPTIONS, allowPositionals: true, tokens: true });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw usageError(message.split(/\. /, 1)[0] ?? message);
  }
}

function usageError(message: string): CommandError {
  const names = [...Object.keys(COMMANDS), ...Object.keys(PROGRAMS)].join(", ");
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
  process.exitCode = error instanceof CommandError && error.code === "USAGE_INVALID" ? 2 : 1;
  const text = errorText(error, Boolean(process.env.SUPASWARM_DEBUG));
  process.stderr.write(`${styled("red", "error")}: ${text}\n`);
});
