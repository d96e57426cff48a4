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
 * Bundles a module's entry points without code that its exports do not need. Removes whitespace but
 * keeps names, so that stack traces are readable.
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
  const { build, transform } = await loadEsbuild();
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
      ...[...Map.groupBy(module.patches ?? [], ({ file }) => file).values()].map(patchedFile),
    ],
    charset: "utf8",
    legalComments: "none",
    logLevel: "silent",
  });
  const [output] = outputFiles;
  if (output === undefined) {
    throw new Error(`Cannot bundle ${module.name}: esbuild wrote no output`);
  }
  const { code } = await transform(withoutStorePaths(output.text), {
    format: "esm",
    target: TARGET,
    minifySyntax: true,
    minifyWhitespace: true,
    lineLimit: LINE_LENGTH,
    charset: "utf8",
    legalComments: "none",
  });
  return {
    code,
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

/** Applies the patches of one file, which only one plugin can load. */
function patchedFile(patches: readonly Patch[]): EsbuildPlugin {
  const [{ file } = { file: "" }] = patches;
  const end = new RegExp(`${RegExp.escape(file)}$`);
  return {
    name: `patches of ${file}`,
    setup(build) {
      build.onLoad({ filter: end }, async ({ path }) => ({
        contents: patches.reduce(applyPatch, await Deno.readTextFile(path)),
        loader: "js",
      }));
    },
  };
}

function applyPatch(code: string, { file, from, to }: Patch): string {
  const parts = code.split(from);
  if (parts.length === 2) return parts.join(to);
  throw new Error(`Cannot patch ${file}: it no longer contains ${from}`);
}

function sharedZod(): EsbuildPlugin {
  return {
    name: "shared zod",
    setup(build) {
      build.onResolve({ filter: /^zod(\/v4)?$/ }, () => ({ path: "./zod.js", external: true }));
    },
  };
}

/** Removes store paths, which depend on the installer of `node_modules`. */
function withoutStorePaths(code: string): string {
  return code.replaceAll(/node_modules\/\.deno\/[^/"]+\/(?=node_modules\/)/g, "");
}

function packageFolders(inputs: Readonly<Record<string, { bytesInOutput: number }>>): string[] {
  const folders = Object.entries(inputs)
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .flatMap(([path]) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []);
  return [...new Set(folders)];
}
