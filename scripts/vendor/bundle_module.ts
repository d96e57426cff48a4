import { join } from "node:path";
import { isBuiltin } from "node:module";
import { type EsbuildPlugin, loadEsbuild } from "../deps.ts";
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
 * Bundles a module's entry points without code that its exports do not need. Shortens identifiers,
 * because a deployment uploads the files as they are, but keeps the names of functions and classes:
 * stack traces, `error.name` and the SDKs' `User-Agent` contain them.
 *
 * Packages resolve as in Deno. Only `zod` is not bundled but imported from its vendored module: the
 * SDKs and the project share schemas, so there must be only one copy.
 *
 * @param installFolder Folder in which the packages are installed.
 */
export async function bundleModule(
  module: VendoredModule,
  installFolder: string,
): Promise<BundledModule> {
  const { build } = await loadEsbuild();
  const globals = join(installFolder, "node_globals.js");
  await Deno.writeTextFile(globals, NODE_GLOBALS);
  const { outputFiles, metafile } = await build({
    stdin: { contents: sourceOf(module), resolveDir: installFolder },
    absWorkingDir: installFolder,
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "node",
    target: TARGET,
    conditions: ["deno", "node"],
    inject: [globals],
    define: { global: "globalThis" },
    plugins: [
      nodeBuiltins(),
      ...module.name === "zod" ? [] : [sharedZod()],
      patched(module.patches ?? []),
      ...module.hasNoSideEffects === true ? [withoutSideEffects()] : [],
    ],
    minify: true,
    keepNames: true,
    lineLimit: LINE_LENGTH,
    charset: "utf8",
    legalComments: "none",
    logLevel: "silent",
  });
  const [output] = outputFiles;
  if (output === undefined) {
    throw new Error(`Cannot bundle ${module.name}: esbuild wrote no output`);
  }
  return {
    code: output.text,
    packageFolders: packageFolders(Object.values(metafile.outputs)[0]?.inputs ?? {}),
  };
}

/** Writes the re-exports of the module. */
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

/** Patches the files that {@linkcode Patch} names. */
function patched(patches: readonly Patch[]): EsbuildPlugin {
  return {
    name: "patched",
    setup(build) {
      for (const [file, patchesOfFile] of Map.groupBy(patches, ({ file }) => file)) {
        build.onLoad({ filter: new RegExp(`/${RegExp.escape(file)}$`) }, async ({ path }) => ({
          contents: patchesOfFile.reduce(applyPatch, await Deno.readTextFile(path)),
          loader: "js",
        }));
      }
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

function sharedZod(): EsbuildPlugin {
  return {
    name: "shared zod",
    setup(build) {
      build.onResolve({ filter: /^zod(\/v4)?$/ }, () => ({ path: "./zod.js", external: true }));
    },
  };
}

function packageFolders(inputs: Readonly<Record<string, { bytesInOutput: number }>>): string[] {
  const folders = Object.entries(inputs)
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .flatMap(([path]) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []);
  return [...new Set(folders)];
}
