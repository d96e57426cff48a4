import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import { loadEsbuild, loadTypescript, SUPABASE_JS_VERSION } from "../deps.ts";
import { PROJECT_ROOT } from "../project_root.ts";
import { buildCommand } from "./build_command.ts";
import { buildFunctions, functionNames } from "./build_functions.ts";
import { buildReleaseSql } from "./build_release.ts";
import { SCHEMA_VERSION } from "../../shared/platform/db/schema_version.ts";
import { FUNCTION_NAMES } from "../../shared/platform/values/function_names.ts";

const CLIENT_FOLDER = join(PROJECT_ROOT, "client");
/** Folder of the built package. */
export const PACKAGE_FOLDER = join(CLIENT_FOLDER, "dist");

/** What a page downloads for the client. */
const MAX_COMPRESSED_BYTES = 12 * 1024;

/** A built package. */
export interface BuiltPackage {
  readonly folder: string;
  /** Of the client, minified and compressed. */
  readonly compressedBytes: number;
}

/**
 * Builds the npm package `supaswarm`: the client, one ES module for browsers, Node and Deno with its
 * types; the command; and the release that the command installs.
 *
 * @throws Error if the client imports another package or has become too large
 */
export async function buildPackage(folder: string = PACKAGE_FOLDER): Promise<BuiltPackage> {
  const client = await buildClient(folder);
  await Deno.writeTextFile(join(folder, "supaswarm.js"), await buildCommand(), { mode: 0o755 });
  await writeRelease(join(folder, "release"));
  return client;
}

/** Builds only the client. @throws Error as {@linkcode buildPackage} */
export async function buildClient(folder: string): Promise<BuiltPackage> {
  const code = await bundle(false);
  const compressedBytes = gzipSync(await bundle(true)).length;
  if (compressedBytes > MAX_COMPRESSED_BYTES) {
    throw new Error(
      `The client has ${compressedBytes} bytes when compressed; at most ${MAX_COMPRESSED_BYTES} are allowed`,
    );
  }
  await Deno.mkdir(join(folder, "types"), { recursive: true });
  await Deno.writeTextFile(join(folder, "client.js"), code);
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

async function writeRelease(folder: string): Promise<void> {
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
  for (const [name, text] of await buildFunctions(new Set(objects.names))) {
    await Deno.writeTextFile(join(folder, "functions", name), text);
  }
}

async function bundle(minify: boolean): Promise<string> {
  const { build } = await loadEsbuild();
  const { outputFiles: [output] } = await build({
    entryPoints: [join(CLIENT_FOLDER, "mod.ts")],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
    minify,
    legalComments: "none",
  });
  if (output === undefined) throw new Error("Cannot build the client: esbuild wrote no file");
  const imported = /^\s*import\b.*/m.exec(output.text);
  if (imported !== null) throw new Error(`The client imports another package: ${imported[0]}`);
  return output.text;
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
    version: SCHEMA_VERSION,
    description:
      "SupaSwarm in your own Supabase project: the command that adds it, and its typed client.",
    license: "MIT",
    type: "module",
    sideEffects: false,
    exports: { "./client": client },
    bin: { supaswarm: "supaswarm.js" },
    files: ["client.js", "types", "supaswarm.js", "release"],
    peerDependencies: { "@supabase/supabase-js": `^${SUPABASE_JS_VERSION}` },
    peerDependenciesMeta: { "@supabase/supabase-js": { optional: true } },
    engines: { node: ">=22" },
  };
}
