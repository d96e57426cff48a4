import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import { loadEsbuild, loadTypescript, SUPABASE_JS_VERSION } from "../deps.ts";
import { PROJECT_ROOT } from "../project_root.ts";

const CLIENT_FOLDER = join(PROJECT_ROOT, "client");
/** Folder of the built package. */
export const PACKAGE_FOLDER = join(CLIENT_FOLDER, "dist");

/** What a page downloads for the client. */
const MAX_COMPRESSED_BYTES = 12 * 1024;
const VERSION = "0.0.0";

/** A built package. */
export interface BuiltPackage {
  readonly folder: string;
  /** Of what a page loads for `createSwarm`, minified and compressed. */
  readonly compressedBytes: number;
}

/**
 * Builds the npm package `supaswarm`: ES modules for browsers, Node and Deno, with their types. What
 * only some pages use is a module of its own, which is loaded when it is used.
 *
 * @throws Error if the client imports another package or has become too large
 */
export async function buildPackage(folder: string = PACKAGE_FOLDER): Promise<BuiltPackage> {
  const modules = await bundle(false);
  const compressedBytes = gzipSync(
    entryModules(await bundle(true)).map(({ text }) => text).join("\n"),
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

interface BuiltModule {
  readonly name: string;
  readonly text: string;
}

const ENTRY = "client.js";

async function bundle(minify: boolean): Promise<readonly BuiltModule[]> {
  const { build } = await loadEsbuild();
  const { outputFiles } = await build({
    entryPoints: { client: join(CLIENT_FOLDER, "mod.ts") },
    outdir: PACKAGE_FOLDER,
    bundle: true,
    splitting: true,
    write: false,
    format: "esm",
    target: "es2022",
    minify,
    legalComments: "none",
  });
  const modules = outputFiles.map(({ path, text }) => ({ name: basename(path), text }));
  for (const { text } of modules) {
    const [imported] = importsOf(text).filter((target) => !target.startsWith("./"));
    if (imported !== undefined) throw new Error(`The client imports another package: ${imported}`);
  }
  return modules;
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
  const program = ts.createProgram([join(CLIENT_FOLDER, "mod.ts")], {
    strict: true,
    declaration: true,
    emitDeclarationOnly: true,
    allowImportingTsExtensions: true,
    types: [],
    target: ts.ScriptTarget.ES2022,
    lib: ["lib.es2022.d.ts", "lib.dom.d.ts", "lib.dom.asynciterable.d.ts", "lib.dom.iterable.d.ts"],
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  });
  const problems = ts.getPreEmitDiagnostics(program);
  if (problems.length > 0) {
    const texts = problems.map((problem) =>
      `${problem.file?.fileName}: ${ts.flattenDiagnosticMessageText(problem.messageText, "\n")}`
    );
    throw new Error(`Cannot write the client's types:\n${texts.join("\n")}`);
  }
  const texts = new Map<string, string>();
  program.emit(undefined, (path, text) => {
    texts.set(basename(path), text.replaceAll(/(from ")(\.\/\w+)\.ts"/g, '$1$2.js"'));
  });
  return texts;
}

function manifest() {
  const client = { types: "./types/mod.d.ts", default: "./client.js" };
  return {
    name: "supaswarm",
    version: VERSION,
    description:
      "The typed client of SupaSwarm: durable agent jobs over your own supabase-js client.",
    license: "MIT",
    type: "module",
    sideEffects: false,
    exports: { "./client": client },
    files: ["*.js", "types"],
    peerDependencies: { "@supabase/supabase-js": `^${SUPABASE_JS_VERSION}` },
    engines: { node: ">=20" },
  };
}
