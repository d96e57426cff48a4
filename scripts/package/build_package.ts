import { basename, dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { loadEsbuild, loadTypescript, SUPABASE_JS_VERSION } from "../deps.ts";
import { PROJECT_ROOT } from "../project_root.ts";
import { buildStaleConsole, CONSOLE_DIST } from "../console/build_console.ts";
import { copyFolder } from "../files/copy_folder.ts";
import { buildCommand } from "./build_command.ts";
import { buildFunctions, functionNames } from "./build_functions.ts";
import { buildPrograms } from "./build_programs.ts";
import { buildReleaseSql } from "./build_release.ts";
import { SCHEMA_VERSION } from "../../shared/platform/db/schema_version.ts";
import { FUNCTION_NAMES } from "../../shared/platform/values/function_names.ts";

const CLIENT_FOLDER = join(PROJECT_ROOT, "client");
/** Folder of the built package. */
export const PACKAGE_FOLDER = join(CLIENT_FOLDER, "dist");

/** What a page downloads for the client. */
export const MAX_COMPRESSED_BYTES = 12 * 1024;
/** Frameworks with hooks, and the oldest version whose features these use. */
const FRAMEWORKS = { react: ">=18", vue: ">=3.4" } as const;
type Framework = keyof typeof FRAMEWORKS;
/** Server components of React may import a module with hooks only if it says where it runs. */
const BANNERS: Readonly<Record<Framework, object>> = {
  react: { banner: { js: '"use client";' } },
  vue: {},
};

/** A built package. */
export interface BuiltPackage {
  readonly folder: string;
  /** Of what a page loads for `createSwarm`, minified and compressed. */
  readonly compressedBytes: number;
}

/**
 * Builds the npm package `supaswarm`: the client, ES modules for browsers, Node and Deno, one for the
 * hooks of each framework, and their types; the command; the release that it installs; and the
 * programs that it runs.
 *
 * @throws Error if the client imports another package or has become too large
 */
export async function buildPackage(
  folder: string = PACKAGE_FOLDER,
  { withConsole = true }: { readonly withConsole?: boolean } = {},
): Promise<BuiltPackage> {
  const client = await buildClient(folder);
  await Deno.writeTextFile(join(folder, "command.js"), await buildCommand());
  await Deno.copyFile(join(CLIENT_FOLDER, "command/entry.js"), join(folder, "supaswarm.js"));
  await Deno.chmod(join(folder, "supaswarm.js"), 0o755);
  const names = await writeRelease(join(folder, "release"));
  const programs = join(folder, "programs");
  await writePrograms(programs, names);
  if (withConsole) await addConsole(join(programs, "console/dist"));
  return client;
}

/** Builds only the client and the hooks. @throws Error as {@linkcode buildPackage} */
export async function buildClient(folder: string): Promise<BuiltPackage> {
  const modules = await bundleClient(false);
  const compressedBytes = gzipSync(
    entryModules(await bundleClient(true)).map(({ text }) => text).join("\n"),
  ).length;
  if (compressedBytes > MAX_COMPRESSED_BYTES) {
    throw new Error(
      `The client has ${compressedBytes} bytes when compressed; at most ${MAX_COMPRESSED_BYTES} are allowed`,
    );
  }
  await Deno.mkdir(join(folder, "types"), { recursive: true });
  for await (const { name } of Deno.readDir(folder)) {
    if (name.endsWith(".js")) await Deno.remove(join(folder, name));
  }
  for (const { name, text } of modules) await Deno.writeTextFile(join(folder, name), text);
  for (const name of frameworks()) {
    const options = { external: [name], ...BANNERS[name] };
    const [hooks] = await bundle({ [name]: `${name}.ts` }, options);
    await Deno.writeTextFile(join(folder, `${name}.js`), hooks?.text ?? "");
  }
  for (const [name, text] of await declarations()) {
    await Deno.writeTextFile(join(folder, "types", name), text);
  }
  await Deno.writeTextFile(
    join(folder, "package.json"),
    `${JSON.stringify(manifest(), null, 2)}\n`,
  );
  for (const [from, to] of [["client/README.md", "README.md"], ["LICENSE", "LICENSE"]] as const) {
    await Deno.copyFile(join(PROJECT_ROOT, from), join(folder, to));
  }
  return { folder, compressedBytes };
}

/** @returns The names of the platform's objects in `public`. */
async function writeRelease(folder: string): Promise<ReadonlySet<string>> {
  const { objects, migrations } = await buildReleaseSql();
  const renamable: ReadonlySet<string> = new Set(Object.values(FUNCTION_NAMES));
  const functions = (await functionNames()).map((name) => ({
    name,
    isRenamable: renamable.has(name),
  }));
  await Deno.remove(folder, { recursive: true }).catch(() => {});
  await Deno.mkdir(join(folder, "functions"), { recursive: true });
  await Deno.mkdir(join(folder, "migrations"));
  for (const { version, sql } of migrations) {
    await Deno.writeTextFile(join(folder, "migrations", `${version}.sql`), sql);
  }
  await Deno.writeTextFile(
    join(folder, "release.json"),
    `${JSON.stringify({ version: SCHEMA_VERSION, objects, functions })}\n`,
  );
  const names = new Set(objects.names);
  for (const [name, text] of await buildFunctions(names)) {
    await Deno.writeTextFile(join(folder, "functions", name), text);
  }
  return names;
}

async function writePrograms(folder: string, names: ReadonlySet<string>): Promise<void> {
  await Deno.remove(folder, { recursive: true }).catch(() => {});
  for (const [path, text] of await buildPrograms(names)) {
    await Deno.mkdir(join(folder, dirname(path)), { recursive: true });
    await Deno.writeTextFile(join(folder, path), text);
  }
}

async function addConsole(folder: string): Promise<void> {
  await buildStaleConsole();
  await copyFolder(CONSOLE_DIST, folder);
}

function frameworks(): readonly Framework[] {
  return Object.keys(FRAMEWORKS) as Framework[];
}

interface BuiltModule {
  readonly name: string;
  readonly text: string;
}

const ENTRY = "client.js";

/** What only some pages use is a module of its own, which is loaded when it is used. */
async function bundleClient(minify: boolean): Promise<readonly BuiltModule[]> {
  const modules = await bundle({ client: "mod.ts" }, { minify, splitting: true });
  for (const { text } of modules) {
    const [imported] = importsOf(text).filter((target) => !target.startsWith("./"));
    if (imported !== undefined) throw new Error(`The client imports another package: ${imported}`);
  }
  return modules;
}

/** @param entries Files of the client by the name of their module. */
async function bundle(
  entries: Readonly<Record<string, string>>,
  options: object,
): Promise<readonly BuiltModule[]> {
  const { build } = await loadEsbuild();
  const { outputFiles } = await build({
    entryPoints: Object.fromEntries(
      Object.entries(entries).map(([name, file]) => [name, join(CLIENT_FOLDER, file)]),
    ),
    outdir: PACKAGE_FOLDER,
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
    legalComments: "none",
    ...options,
  });
  return outputFiles.map(({ path, text }) => ({ name: basename(path), text }));
}

/** What a module imports when it is loaded. */
function importsOf(text: string): string[] {
  return [...text.matchAll(/^\s*import\b(?!\()[^"';]*["']([^"']+)["']/gm)].map(([, target]) =>
    target ?? ""
  );
}

/** The entry and what it imports. */
function entryModules(modules: readonly BuiltModule[], name = ENTRY): readonly BuiltModule[] {
  return modules.filter((module) => module.name === name).flatMap((module) => [
    module,
    ...importsOf(module.text).flatMap((target) => entryModules(modules, basename(target))),
  ]);
}

/** The declarations of each module, which refer to each other as JavaScript modules. */
async function declarations(): Promise<ReadonlyMap<string, string>> {
  const ts = await loadTypescript();
  const options = {
    strict: true,
    declaration: true,
    allowImportingTsExtensions: true,
    emitDeclarationOnly: true,
    types: [],
    target: ts.ScriptTarget.ES2022,
    lib: ["lib.es2022.d.ts", "lib.dom.d.ts", "lib.dom.asynciterable.d.ts", "lib.dom.iterable.d.ts"],
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  };
  const program = ts.createProgram([join(CLIENT_FOLDER, "mod.ts")], options);
  const texts = new Map<string, string>();
  assertNoProblems(ts, ts.getPreEmitDiagnostics(program));
  program.emit(undefined, (path, text) => texts.set(basename(path), text));
  // A framework's types are those of the user's project, so these modules are written alone.
  for (const name of frameworks()) {
    const source = await Deno.readTextFile(join(CLIENT_FOLDER, `${name}.ts`));
    const { outputText, diagnostics = [] } = ts.transpileDeclaration(source, {
      compilerOptions: { ...options, isolatedDeclarations: true },
      reportDiagnostics: true,
    });
    assertNoProblems(ts, diagnostics);
    texts.set(`${name}.d.ts`, outputText);
  }
  const asJavaScript = (text: string) => text.replaceAll(/(from ")(\.\/\w+)\.ts"/g, '$1$2.js"');
  return new Map([...texts].map(([name, text]) => [name, asJavaScript(text)]));
}

function assertNoProblems(
  ts: Awaited<ReturnType<typeof loadTypescript>>,
  problems: Parameters<typeof ts.formatDiagnostics>[0],
): void {
  if (problems.length === 0) return;
  const texts = problems.map((problem) =>
    `${problem.file?.fileName}: ${ts.flattenDiagnosticMessageText(problem.messageText, "\n")}`
  );
  throw new Error(`Cannot write the client's types:\n${texts.join("\n")}`);
}

function manifest() {
  const entries = {
    client: "mod",
    ...Object.fromEntries(frameworks().map((name) => [name, name])),
  };
  return {
    name: "supaswarm",
    version: SCHEMA_VERSION,
    description:
      "SupaSwarm in your own Supabase project: the command that adds it, and its typed client.",
    license: "MIT",
    type: "module",
    sideEffects: false,
    exports: Object.fromEntries(
      Object.entries(entries).map(([name, module]) => [
        `./${name}`,
        { types: `./types/${module}.d.ts`, default: `./${name}.js` },
      ]),
    ),
    bin: { supaswarm: "supaswarm.js" },
    files: ["*.js", "types", "release", "programs"],
    peerDependencies: { "@supabase/supabase-js": `^${SUPABASE_JS_VERSION}`, ...FRAMEWORKS },
    peerDependenciesMeta: Object.fromEntries(
      ["@supabase/supabase-js", ...frameworks()].map((name) => [name, { optional: true }]),
    ),
    engines: { node: ">=22" },
  };
}
