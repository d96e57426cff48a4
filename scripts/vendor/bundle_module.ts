import { basename, join, relative } from "node:path";
import { isBuiltin } from "node:module";
import { type EsbuildPlugin, loadEsbuild } from "../deps.ts";
import { withClassNames } from "./class_names.ts";
import { sharedMcpCore } from "./mcp_core.ts";
import type { Patch, VendoredModule } from "./vendored_modules.ts";

/** A module as one JavaScript file. */
export interface BundledModule {
  readonly code: string;
  /** Folders of the packages whose code it contains, relative to the installation. */
  readonly packageFolders: readonly string[];
}

const TARGET = "es2022";
/** Maximum line length: long enough for readable code, short enough for readable diffs. */
const LINE_LENGTH = 120;

/** Globals that npm packages have in Deno, but that modules of a project must import. */
const NODE_GLOBALS = `
import { Buffer } from "node:buffer";
import process from "node:process";
import {
  clearImmediate, clearInterval, clearTimeout, setImmediate, setInterval, setTimeout,
} from "node:timers";
export {
  Buffer, clearImmediate, clearInterval, clearTimeout, process, setImmediate, setInterval,
  setTimeout,
};
`;

/**
 * Bundles modules without code that their exports do not need. Shortens identifiers, because a
 * deployment uploads the files as they are, but keeps the names of classes: `error.name`, stack
 * traces and the SDKs' `User-Agent` contain them.
 *
 * Packages resolve as in Deno. Only `zod` and the JSON Schema validator are not bundled but imported
 * from their vendored modules: the SDKs and the project share schemas, so there must be only one
 * copy of `zod`.
 *
 * @param modules A module, or all modules with the same {@linkcode VendoredModule.shared}.
 * @param installFolder Folder in which the packages are installed.
 * @returns Each module by its name, and the code that they share by the name of its file.
 */
export async function bundleModules(
  modules: readonly VendoredModule[],
  installFolder: string,
): Promise<Map<string, BundledModule>> {
  const { build } = await loadEsbuild();
  const [{ shared } = {}] = modules;
  const { outputFiles, metafile } = await build({
    ...OUTPUT,
    conditions: ["deno", "node"],
    entryPoints: await writeEntryPoints(modules, installFolder),
    absWorkingDir: installFolder,
    outdir: "bundled",
    ...shared === undefined ? {} : { splitting: true, chunkNames: shared, external: UNUSED },
    inject: [await writeNodeGlobals(installFolder)],
    plugins: pluginsFor(modules, installFolder),
  });
  const { outputs } = metafile;
  return new Map(outputFiles.map(({ path, text }) => [basename(path, ".js"), {
    code: withFoundImports(text),
    packageFolders: packageFolders(outputs[relative(installFolder, path)]?.inputs ?? {}),
  }]));
}

/** The CLI finds the files to upload with a pattern that needs a space after `import`. */
export function withFoundImports(code: string): string {
  return code.replaceAll(/\bimport(?=(?:(?:\{[^{}]*\}|\*as [\w$]+ )from)?"\.\/)/g, "import ");
}

/** Packages that only unused functions import, but that would become files of their own. */
const UNUSED = ["jose"];

const OUTPUT = {
  bundle: true,
  write: false,
  metafile: true,
  format: "esm",
  platform: "node",
  target: TARGET,
  define: { global: "globalThis" },
  minify: true,
  lineLimit: LINE_LENGTH,
  charset: "utf8",
  legalComments: "none",
  logLevel: "silent",
} as const;

function pluginsFor(modules: readonly VendoredModule[], installFolder: string): EsbuildPlugin[] {
  return [
    nodeBuiltins(),
    sharedPackages(modules),
    ...modules.some(({ shared }) => shared === "mcp_core") ? [sharedMcpCore(installFolder)] : [],
    sources(modules.flatMap(({ patches = [] }) => patches)),
    ...modules.some(({ hasNoSideEffects }) => hasNoSideEffects) ? [withoutSideEffects()] : [],
  ];
}

async function writeNodeGlobals(installFolder: string): Promise<string> {
  const path = join(installFolder, "node_globals.js");
  await Deno.writeTextFile(path, NODE_GLOBALS);
  return path;
}

/** Writes a file for each module, which re-exports what the module exports. */
async function writeEntryPoints(
  modules: readonly VendoredModule[],
  folder: string,
): Promise<Record<string, string>> {
  const paths: Record<string, string> = {};
  for (const module of modules) {
    const path = join(folder, `${module.name}.js`);
    await Deno.writeTextFile(path, sourceOf(module));
    paths[module.name] = path;
  }
  return paths;
}

/** The re-exports of the module. */
function sourceOf({ entries }: VendoredModule): string {
  return entries.map(({ package: name, path = "", values }) => {
    const names = values === "*" ? "*" : `{ ${values.join(", ")} }`;
    return `export ${names} from "${name}${path}";\n`;
  }).join("");
}

/** Resolves Node's built-in modules with the prefix `node:`, which the edge runtime requires. */
function nodeBuiltins(): EsbuildPlugin {
  return {
    name: "node builtins",
    setup(build) {
      build.onResolve({ filter: /^[a-z_:/]+$/ }, ({ path, kind }) => {
        if (!isBuiltin(path)) return undefined;
        const name = path.startsWith("node:") ? path : `node:${path}`;
        return kind === "require-call"
          ? { path: name, namespace: "required-builtin" }
          : { path: name, external: true, sideEffects: false };
      });
      // ES modules have no require(), so such a call returns the import of the builtin.
      build.onLoad({ filter: /.*/, namespace: "required-builtin" }, ({ path }) => ({
        contents: `export * from "${path}"; export { default } from "${path}";`,
      }));
    },
  };
}

/** Patches the files that {@linkcode Patch} names, and names the classes of all files. */
function sources(patches: readonly Patch[]): EsbuildPlugin {
  return {
    name: "sources",
    setup(build) {
      build.onLoad({ filter: /\.[cm]?js$/ }, async ({ path }) => {
        const applied = patches.filter(({ file }) => path.endsWith(`/${file}`));
        const source = applied.reduce(applyPatch, await Deno.readTextFile(path));
        return { contents: withClassNames(source), loader: "js" };
      });
    },
  };
}

/**
 * Applies a patch to the source of its file.
 *
 * @throws Error when the source does not contain the patched code, or contains it too often.
 */
export function applyPatch(source: string, { file, from, to, matches = 1 }: Patch): string {
  const count = typeof from === "string"
    ? source.split(from).length - 1
    : [...source.matchAll(from)].length;
  if (count !== matches) {
    throw new Error(`Cannot patch ${file}: it contains ${from} ${count} times, not ${matches}`);
  }
  return source.replaceAll(from, () => to);
}

/** Tells the bundler that no module must run only because another one imports it. */
function withoutSideEffects(): EsbuildPlugin {
  const isResolving = Symbol("is resolving");
  return {
    name: "without side effects",
    setup(build) {
      build.onResolve({ filter: /./ }, async ({ path, pluginData, kind, importer, resolveDir }) => {
        if (pluginData === isResolving) return undefined;
        const options = { kind, importer, resolveDir, pluginData: isResolving };
        return { ...await build.resolve(path, options), sideEffects: false };
      });
    },
  };
}

/** Imports these packages from their vendored modules, except in the modules themselves. */
function sharedPackages(modules: readonly VendoredModule[]): EsbuildPlugin {
  const shared = [
    { name: "zod", filter: /^zod(\/v4)?$/ },
    { name: "cfworker_json_schema", filter: /^@cfworker\/json-schema$/ },
  ].filter(({ name }) => modules.every((module) => module.name !== name));
  return {
    name: "shared packages",
    setup(build) {
      for (const { name, filter } of shared) {
        build.onResolve({ filter }, () => ({ path: `./${name}.js`, external: true }));
      }
    },
  };
}

function packageFolders(inputs: Readonly<Record<string, { bytesInOutput: number }>>): string[] {
  const folders = Object.entries(inputs)
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .flatMap(([path]) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []);
  return [...new Set(folders)];
}
