import { dirname, join } from "node:path";
import { readEvalsFile } from "../../scripts/evals/read_evals_file.ts";
import { readMcpsFile } from "../../scripts/mcps/read_mcps_file.ts";
import { loadYaml } from "../../scripts/deps.ts";
import type { CodeBlock } from "./code_blocks.ts";
import { type DocsStack, USER } from "./docs_stack.ts";

const BLOCK_LIMIT_MS = 120_000;
/** The address of `deno task start` in the pages. */
const WRITTEN_URL = "http://127.0.0.1:54321";
const SUPABASE_JS = "npm:@supabase/supabase-js@2.119.1";

/** The shared state of one page's blocks: a folder, and their variables. */
export interface PageRun {
  readonly stack: DocsStack;
  /** Contains the shell's variables and the scripts of this page. */
  readonly folder: string;
  /** Searched before the rest of `PATH`. */
  readonly shims: string;
}

/**
 * Runs a block as a reader would, and returns the output of a shell block.
 *
 * @throws Error if it fails, or if SQL finds and changes nothing.
 */
export async function runBlock(run: PageRun, block: CodeBlock): Promise<string> {
  const { directive, language } = block;
  if (directive.kind === "not run") return "";
  const text = block.text.replaceAll(WRITTEN_URL, run.stack.ready.api_url);
  if (directive.kind === "save") {
    await save(join(run.stack.clone.root, directive.path), text);
    return "";
  }
  if (language === "" || language === "text") return "";
  if (language === "sh") return await runShell(run, text);
  await runOther(run, { ...block, text });
  return "";
}

async function runOther(
  run: PageRun,
  { directive, language, text, page }: CodeBlock,
): Promise<void> {
  if (directive.kind !== "run") return;
  switch (language) {
    case "sql":
      return await runSql(run.stack, text, directive);
    case "js":
    case "ts":
      return await runScript(run, text, language);
    case "md":
      return;
    case "json":
      return void JSON.parse(text);
    case "yaml":
      return await readYamlBlock(text, page);
    default:
      throw new Error(
        `Cannot run a block in "${language}": use sh, sql, js, ts, json, yaml or md`,
      );
  }
}

/** A file of tests, or the list of MCP servers. */
async function readYamlBlock(text: string, page: string): Promise<void> {
  const read = /^tests:/m.test(text) ? readEvalsFile : readMcpsFile;
  read(text, page, await loadYaml());
}

async function save(path: string, text: string): Promise<void> {
  await Deno.mkdir(dirname(path), { recursive: true });
  await Deno.writeTextFile(path, `${text}\n`);
}

/** Variables that a block sets are available in the next one, as in a reader's terminal. */
async function runShell({ stack, folder, shims }: PageRun, text: string): Promise<string> {
  const state = join(folder, "shell-state");
  const script = `set -a -eu -o pipefail\n[ ! -f '${state}' ] || . '${state}'\n` +
    `${text}\n{ declare -p | grep -vE '^declare -[a-zA-Z]*r'; declare -f; } > '${state}'\n`;
  return await runProgram("bash", ["-c", script], {
    cwd: stack.clone.root,
    env: { PATH: `${shims}:${dirname(Deno.execPath())}:${Deno.env.get("PATH") ?? ""}` },
  });
}

async function runSql(
  { sql, userId }: DocsStack,
  text: string,
  { asUser, mayFindNothing }: { readonly asUser: boolean; readonly mayFindNothing: boolean },
): Promise<void> {
  await sql.begin(async (transaction) => {
    if (asUser) {
      const claims = JSON.stringify({ sub: userId, role: "authenticated" });
      await transaction`select set_config('request.jwt.claims', ${claims}, true)`;
      await transaction.unsafe("set local role authenticated");
    }
    const answer = await transaction.unsafe(text).simple() as unknown as Answer | readonly Answer[];
    const answers = "command" in answer && answer.command ? [answer] : answer as readonly Answer[];
    const empty = answers.find(({ command, count }) =>
      /^(SELECT|INSERT|UPDATE|DELETE)$/.test(command) && !count
    );
    if (empty === undefined || mayFindNothing) return;
    throw new Error(
      `This ${empty.command} found no row (statement ${
        answers.indexOf(empty) + 1
      } of ${answers.length})`,
    );
  });
}

interface Answer {
  readonly command: string;
  readonly count: number | null;
}

/**
 * The names that a script declares at its top level: the next script of the page can use them, like
 * a reader who continues in the same file.
 */
function declaredNames(text: string): string[] {
  const single = [...text.matchAll(/^(?:const|let) (\w+)/gm)].map(([, name = ""]) => name);
  const parts = [...text.matchAll(/^const \{([^}]*)\}/gm)].flatMap(([, list = ""]) =>
    list.split(",").map((part) => part.split(":").at(-1)?.trim() ?? "")
  );
  return [...single, ...parts].filter((name) => /^\w+$/.test(name));
}

/** A script has the quickstart's client as `supabase`, signed in, its `swarm`, and the names below. */
async function runScript(
  { stack, folder }: PageRun,
  text: string,
  extension: string,
): Promise<void> {
  const { ready, taskId } = stack;
  const prelude = `
import { createClient } from "@supabase/supabase-js";
import { createSwarm } from "supaswarm/client";
const url = ${JSON.stringify(ready.api_url)};
const supabase = createClient(url, ${JSON.stringify(ready.publishable_key)}, {
  auth: { autoRefreshToken: false },
});
await supabase.auth.signInWithPassword(${JSON.stringify(USER)});
// A sample that ignores its error fails here anyway.
const watched = supabase.functions.invoke.bind(supabase.functions);
supabase.functions.invoke = async (...given) => {
  const answer = await watched(...given);
  if (answer.error) throw new Error(await answer.error.context?.text?.() ?? answer.error.message);
  return answer;
};
const rpc = supabase.rpc.bind(supabase);
supabase.rpc = (...given) => rpc(...given).throwOnError();
const fetched = globalThis.fetch;
globalThis.fetch = async (...given) => {
  const answer = await fetched(...given);
  if (answer.status >= 400) throw new Error(answer.status + " " + await answer.text());
  return answer;
};
const knownNames = JSON.parse(await Deno.readTextFile("names.json").catch(() => "{}"));
Object.assign(globalThis, knownNames, { knownNames, supabase, swarm: createSwarm(supabase), url, taskId: ${
    JSON.stringify(taskId)
  },
  secretKey: ${JSON.stringify(ready.secret_key)} });
`;
  const names = declaredNames(text).join(", ");
  const keepNames =
    `Deno.writeTextFileSync("names.json", JSON.stringify({ ...knownNames, ${names} }));\n` +
    // A sample that subscribes would not end; the quickstart's file shows the later events.
    "Deno.exit(0);\n";
  const name = `block-${crypto.randomUUID()}`;
  await Deno.writeTextFile(join(folder, "prelude.js"), prelude);
  await Deno.writeTextFile(
    join(folder, "deno.json"),
    JSON.stringify({
      imports: {
        "@supabase/supabase-js": SUPABASE_JS,
        "supaswarm/client": join(stack.clone.root, "client/mod.ts"),
      },
    }),
  );
  await Deno.writeTextFile(
    join(folder, `${name}.${extension}`),
    `import "./prelude.js";\n${text}\n${keepNames}`,
  );
  await runProgram(Deno.execPath(), [
    "run",
    "-A",
    "--no-lock",
    "--no-check",
    `${name}.${extension}`,
  ], {
    cwd: folder,
    env: {},
  });
}

async function runProgram(
  program: string,
  args: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: Record<string, string> },
): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, {
    args: [...args],
    cwd,
    env: { NO_COLOR: "1", ...env },
    stdin: "null",
    signal: AbortSignal.timeout(BLOCK_LIMIT_MS),
  }).output();
  const decoder = new TextDecoder();
  const printed = decoder.decode(stdout);
  if (success) return printed;
  throw new Error(`It failed:\n${printed}${decoder.decode(stderr)}`.slice(-2_000));
}
