/** `deno task check`: runs all static checks. */
import { join } from "node:path";
import { createTaskRequest } from "../shared/engine/tasks/create_task_request.ts";
import { executeRequest } from "../shared/gateway/execute/execute_request.ts";
import { CLOSED_SETS } from "../shared/platform/db/closed_sets.ts";
import { LOG_EVENTS } from "../shared/platform/log/log_events.ts";
import { conflictMarkers } from "./check/conflict_markers.ts";
import { functionPackageProblems } from "./check/function_packages.ts";
import {
  effectsInCore,
  foreignImports,
  misdirectedImports,
  misdirectedStackImports,
} from "./check/import_direction.ts";
import { importsOfTests } from "./check/imports_of_tests.ts";
import { retiredWords } from "./check/retired_words.ts";
import { undocumented } from "./check/documented.ts";
import { unmeasuredJson } from "./check/unmeasured_json.ts";
import { widenedJson } from "./check/widened_json.ts";
import { positionalCalls, sqlFunctions } from "./check/positional_arguments.ts";
import { sharedNames } from "./check/shared_names.ts";
import { sizeTable } from "./check/size_table.ts";
import { unloggedEvents } from "./check/unlogged_events.ts";
import { unknownErrorCodes } from "./check/error_codes.ts";
import { unguardedExtensions } from "./check/unguarded_extensions.ts";
import { isCodeProof, untestedCodes } from "./check/untested_codes.ts";
import { runCommand } from "./cli/run_command.ts";
import { moduleGraph, type ProjectModule } from "./deploy/module_graph.ts";
import { FULL_LOCK } from "./locks/lock_files.ts";
import { PROJECT_ROOT } from "./project_root.ts";
import { readSources } from "./release/read_sources.ts";
import { findFunctions } from "../stack/functions/find_functions.ts";
import { green, red, writeLine } from "./terminal.ts";

/** Modules of the embedded Supabase that import all others, and those that run as processes. */
const STACK_ENTRIES = [
  "stack/stack.ts",
  "stack/database/pglite_child.ts",
  "stack/functions/isolate_process.ts",
  "stack/functions/isolate_worker.ts",
];

const TYPED_FOLDERS = ["client", "lab", "scripts", "shared", "stack", "supabase", "tests"];
/** Folders with text that this project wrote. */
const WORD_ROOTS = [
  "client",
  "docs",
  "lab",
  "plugin",
  "registry",
  "scripts",
  "shared",
  "stack",
  "supabase",
  "tests",
  "console",
];
const WORD_PAGES = ["README.md", "CONTRIBUTING.md", "AGENTS.md", "ARCHITECTURE.md", "CHANGELOG.md"];
const WRITTEN_BY_OTHERS =
  /vendor\/|node_modules\/|client\/dist\/|fixtures\/|database\.types\.ts$|retired_words\.ts$/;

await runCommand(
  {
    name: "deno task check",
    summary: "Checks format, lint, types, import direction, error codes and generated files.",
    options: {},
  },
  async () => {
    const results = [
      await deno("format", "fmt", "--check"),
      await deno("lint", "lint"),
      // Each uses one core.
      ...await Promise.all([
        deno("types", "check", `--lock=${FULL_LOCK}`, ...TYPED_FOLDERS),
        deno("types of the registry", "check", "--config", "registry/deno.json", "registry"),
        deno("types of the console", "task", "--cwd", "console", "types"),
      ]),
      ...await importChecks(),
      await list("error codes", errorCodeProblems),
      await list("documentation", documentationProblems),
      await list("words", wordProblems),
      await list("compact JSON", compactJsonProblems),
      await list("SQL arguments", argumentProblems),
      await list("guarded extensions", extensionProblems),
      await list("log events", logEventProblems),
      await list("exported names", nameProblems),
      await deno("releases", "run", "-A", "scripts/release.ts", "--check"),
      await deno("generated files", "run", "-A", "scripts/generate.ts", "--check"),
      await deno("generated index", "run", "-A", "scripts/generate_internal_servers.ts", "--check"),
      await deno("vendored packages", "run", "-A", "scripts/vendor.ts", "--check"),
    ];
    for (const row of await sizeTable()) writeLine(row);
    if (results.includes(false)) throw new Error("The check found problems");
  },
);

/** Runs Deno and shows its output if it fails. */
async function deno(name: string, ...args: string[]): Promise<boolean> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args,
    cwd: PROJECT_ROOT,
  }).output();
  const text = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  return report(name, success ? [] : [text.trim()]);
}

async function list(name: string, find: () => Promise<string[]>): Promise<boolean> {
  return report(name, await find());
}

function report(name: string, problems: readonly string[]): boolean {
  writeLine(`${problems.length === 0 ? green("ok") : red("failed")} ${name}`);
  for (const problem of problems) writeLine(problem);
  return problems.length === 0;
}

async function importChecks(): Promise<boolean[]> {
  const modules = new Map<string, ProjectModule>();
  const packageProblems = new Set<string>();
  for (const name of (await findFunctions(PROJECT_ROOT)).keys()) {
    const entry = `supabase/functions/${name}/index.ts`;
    const graph = await moduleGraph(PROJECT_ROOT, entry);
    for (const module of graph) modules.set(module.path, module);
    for (const problem of functionPackageProblems(entry, graph)) packageProblems.add(problem);
  }
  const directionProblems = misdirectedImports([...modules.values()]);
  for (const entry of STACK_ENTRIES) {
    directionProblems.push(...misdirectedStackImports(await moduleGraph(PROJECT_ROOT, entry)));
  }
  const jsonProblems: string[] = [];
  for (const path of modules.keys()) {
    if (!path.endsWith(".ts")) continue;
    const source = await Deno.readTextFile(join(PROJECT_ROOT, path));
    directionProblems.push(...effectsInCore(path, source));
    // Of the client, functions load only what reads no JSON; its requests run in pages.
    const isMeasured = !/^(shared\/vendor|client)\//.test(path);
    if (isMeasured) jsonProblems.push(...unmeasuredJson(path, source));
  }
  // The lab compares and mutates with the fixtures of the tests.
  for (const path of await textFiles(["scripts", "shared", "stack", "supabase"])) {
    const source = await Deno.readTextFile(join(PROJECT_ROOT, path));
    directionProblems.push(...importsOfTests(path, source));
  }
  for (const path of await textFiles(["client"])) {
    directionProblems.push(
      ...foreignImports(path, await Deno.readTextFile(join(PROJECT_ROOT, path))),
    );
  }
  return [
    report("import direction", directionProblems),
    report("measured JSON", jsonProblems),
    report("packages in functions", [...packageProblems]),
  ];
}

async function errorCodeProblems(): Promise<string[]> {
  const problems = (await readSources()).flatMap(({ path, sql }) => unknownErrorCodes(path, sql));
  const proofs = (await textFiles(["lab", "scripts", "shared", "stack", "supabase", "tests"]))
    .filter(isCodeProof);
  const texts = await Promise.all(
    proofs.map((path) => Deno.readTextFile(join(PROJECT_ROOT, path))),
  );
  return [...problems, ...untestedCodes(texts)];
}

async function argumentProblems(): Promise<string[]> {
  const read = (path: string) => Deno.readTextFile(join(PROJECT_ROOT, path));
  const functions = new Set((await readSources()).flatMap(({ sql }) => sqlFunctions(sql)));
  const problems: string[] = [];
  for (const path of await textFiles(["lab", "scripts", "shared"])) {
    if (!path.endsWith(".ts") || path.endsWith("_test.ts")) continue;
    // Its texts are parts of SQL functions.
    if (path.startsWith("lab/mutants/")) continue;
    problems.push(...positionalCalls(path, await read(path), functions));
  }
  return problems;
}

/** In what runs for users or in their pages, and in what they copy. */
async function compactJsonProblems(): Promise<string[]> {
  const problems: string[] = [];
  for (const path of await textFiles(["client", "console", "registry", "shared", "supabase"])) {
    if (!/\.(sql|tsx?|vue)$/.test(path) || /^supabase\/(migrations|tests)\//.test(path)) continue;
    problems.push(...widenedJson(path, await Deno.readTextFile(join(PROJECT_ROOT, path))));
  }
  return problems;
}

/** In what runs in a project's database, or is shown to be run there. */
async function extensionProblems(): Promise<string[]> {
  const problems: string[] = [];
  const folders = ["client", "docs", "examples", "plugin", "registry", "supabase"];
  for (const path of [...WORD_PAGES, ...await textFiles(folders)]) {
    if (!path.endsWith("_test.ts")) {
      problems.push(
        ...unguardedExtensions(path, await Deno.readTextFile(join(PROJECT_ROOT, path))),
      );
    }
  }
  return problems;
}

async function nameProblems(): Promise<string[]> {
  const sources = new Map<string, string>();
  for (const path of await textFiles(["shared"])) {
    if (!path.endsWith(".ts") || path.endsWith("_test.ts")) continue;
    sources.set(path, await Deno.readTextFile(join(PROJECT_ROOT, path)));
  }
  return sharedNames(sources);
}

async function logEventProblems(): Promise<string[]> {
  const paths = (await textFiles(["shared"])).filter((path) =>
    !path.endsWith("_test.ts") && !path.endsWith("log/log_events.ts")
  );
  const sources = paths.map((path) => Deno.readTextFile(join(PROJECT_ROOT, path)));
  return unloggedEvents(Object.keys(LOG_EVENTS), await Promise.all(sources));
}

async function wordProblems(): Promise<string[]> {
  const problems: string[] = [];
  for (const path of [...WORD_PAGES, ...await textFiles(WORD_ROOTS)]) {
    const text = await Deno.readTextFile(join(PROJECT_ROOT, path));
    problems.push(...retiredWords(path, text), ...conflictMarkers(path, text));
  }
  return problems;
}

async function textFiles(folders: readonly string[]): Promise<string[]> {
  const paths: string[] = [];
  for (const folder of folders) {
    for await (const { name, isDirectory } of Deno.readDir(join(PROJECT_ROOT, folder))) {
      const path = `${folder}/${name}`;
      if (isDirectory) paths.push(...await textFiles([path]));
      else if (/\.(md|sql|tsx?|vue|html|css)$/.test(name) && !WRITTEN_BY_OTHERS.test(path)) {
        paths.push(path);
      }
    }
  }
  return paths;
}

async function documentationProblems(): Promise<string[]> {
  const lists = [
    {
      page: "docs/reference/http.md",
      names: Object.keys({ ...createTaskRequest.shape, ...executeRequest.shape }),
    },
    { page: "docs/reference/events.md", names: [...CLOSED_SETS.task_events.type, "model.delta"] },
    { page: "docs/state-machine.md", names: CLOSED_SETS.tasks.status },
  ];
  const texts = new Map<string, string>();
  for (const { page } of lists) {
    texts.set(page, await Deno.readTextFile(join(PROJECT_ROOT, page)));
  }
  return undocumented(lists, (page) => texts.get(page) ?? "");
}
