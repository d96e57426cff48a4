import { join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { functionMarker, MARKERS } from "../../client/command/release/markers.ts";
import { FUNCTION_NAMES } from "../../shared/platform/values/function_names.ts";
import { PROGRAMS } from "../../client/command/programs/programs.ts";
import { FULL_LOCK } from "../locks/lock_files.ts";
import { PROJECT_ROOT } from "../project_root.ts";
import { markedFunctionNames } from "./build_functions.ts";
import { markNames } from "./mark_names.ts";

/** What the programs start as a process or a thread, and thus do not import. */
const CHILDREN = [
  "scripts/embedding/minilm_child.ts",
  "scripts/evals/javascript_worker.ts",
  "stack/database/pglite_child.ts",
  "stack/functions/isolate_process.ts",
  "stack/functions/isolate_worker.ts",
];
/** Files and folders that they read beside their code. */
const RESOURCES = [
  // Also pins the packages that packages need.
  "deno.lock",
  "scripts/embedding/minilm_packages.lock",
  "stack/platform/extensions",
  "stack/platform/sql",
];

/** Modules with other contents in a project than here. */
const REPLACED: Readonly<Record<string, string>> = {
  "scripts/project_root.ts":
    "/** The project's folder. */\nexport const PROJECT_ROOT: string = Deno.cwd();\n",
  "scripts/console/chosen_names.ts": chosenNames(),
  // The demo agents are this repository's.
  "scripts/models/demo_agents.ts": "export const DEMO_AGENTS = [];\n",
  "shared/platform/values/function_names.ts": markedFunctionNames(),
};

function chosenNames(): string {
  const names = Object.values(FUNCTION_NAMES);
  const functions = Object.fromEntries(names.map((name) => [name, functionMarker(name)]));
  return `export const CHOSEN_NAMES = ${JSON.stringify({ schema: MARKERS.public, functions })};\n`;
}

/**
 * Collects the programs that a project runs with Deno, with all modules that they import, and
 * markers in place of names.
 *
 * @param names Of the platform's objects in `public`.
 * @returns The text of each file by its path.
 */
export async function buildPrograms(
  names: ReadonlySet<string>,
): Promise<ReadonlyMap<string, string>> {
  const entries = [...Object.values(PROGRAMS).map(({ entry }) => entry), ...CHILDREN];
  const files = new Map<string, string>();
  for (const path of await modulesOf(entries)) {
    const text = REPLACED[path] ?? await Deno.readTextFile(join(PROJECT_ROOT, path));
    files.set(
      path,
      path.startsWith("shared/vendor/") ? text : withCommands(markNames(text, names)),
    );
  }
  for (const resource of RESOURCES) {
    for await (const path of filesOf(resource)) {
      files.set(path, await Deno.readTextFile(join(PROJECT_ROOT, path)));
    }
  }
  return new Map([...files].sort(([a], [b]) => a < b ? -1 : 1));
}

/** The modules of this repository that entries import, with themselves. */
async function modulesOf(entries: readonly string[]): Promise<readonly string[]> {
  const imports = entries.map((path) =>
    `import ${JSON.stringify(pathToFileURL(join(PROJECT_ROOT, path)).href)};`
  );
  const file = await Deno.makeTempFile({ suffix: ".ts" });
  try {
    await Deno.writeTextFile(file, imports.join("\n"));
    const config = join(PROJECT_ROOT, "deno.json");
    const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      // The graph includes types.
      args: ["info", "--json", "--config", config, `--lock=${join(PROJECT_ROOT, FULL_LOCK)}`, file],
    }).output();
    if (!success) throw new Error(new TextDecoder().decode(stderr));
    const { modules } = JSON.parse(new TextDecoder().decode(stdout)) as {
      modules: readonly { specifier: string }[];
    };
    return modules
      .filter(({ specifier }) => specifier.startsWith("file:"))
      .map(({ specifier }) => relative(PROJECT_ROOT, fileURLToPath(specifier)))
      .filter((path) => !path.startsWith(".."));
  } finally {
    await Deno.remove(file);
  }
}

/** The texts name the commands under which a project has the programs. */
function withCommands(text: string): string {
  return Object.entries(PROGRAMS).reduce(
    (texts, [name, { task }]) =>
      texts.replaceAll(new RegExp(`\\bdeno task ${task}\\b(?![:-])`, "g"), `npx supaswarm ${name}`),
    text,
  );
}

async function* filesOf(path: string): AsyncGenerator<string> {
  if ((await Deno.stat(join(PROJECT_ROOT, path))).isFile) return yield path;
  for await (const { name } of Deno.readDir(join(PROJECT_ROOT, path))) {
    yield* filesOf(`${path}/${name}`);
  }
}
