import { join } from "node:path";
import { isBuiltin } from "node:module";
import { type EsbuildPlugin, loadEsbuild } from "../deps.ts";
import type { Patch, VendoredModule } from "./vendored_modules.ts";

/** A module as one file of JavaScript. */
export interface BundledModule {
  readonly code: string;
  /** Folders of the packages whose code is in it, below the folder of the installation. */
  readonly packageFolders: readonly string[];
}

const TARGET = "es2022";
/** Where lines may end: long enough for readable code, short enough for readable differences. */
const LINE_LENGTH = 120;

/** Globals that npm packages find in Deno, and that modules of a project must import. */
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
 * Bundles a module's entry points without what its exports do not need. The code is the package's
 * own: whitespace is removed, names stay as they are, so that stacks can be read.
 *
 * Packages resolve as in Deno. `zod` alone stays outside, as the module beside this one: schemas
 * are shared between the SDKs and the project, and there must be one copy of it.
 *
 * @param installFolder Where the packages are installed.
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
      ...(module.patches ?? []).map(patched),
    ],
    charset: "utf8",
    legalComments: "none",
    logLevel: "silent",
  });
  const [output] = outputFiles;
  if (output === undefined) throw new Error(`esbuild made no output for ${module.name}`);
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

/** Re-exports of everything that the module offers. */
function sourceOf({ entries }: VendoredModule): string {
  return entries.map(({ package: name, path = "", values }) => {
    const names = values === "*" ? "*" : `{ ${values.join(", ")} }`;
    return `export ${names} from "${name}${path}";\n`;
  }).join("");
}

/** Node's own modules come from the runtime; the edge runtime knows them with `node:` only. */
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
      // ES modules have no require(): such a call gets what an import of the builtin gives.
      build.onLoad({ filter: /.*/, namespace: "required-builtin" }, ({ path }) => ({
        contents: `export * from "${path}"; export { default } from "${path}";`,
      }));
    },
  };
}

function patched({ file, from, to }: Patch): EsbuildPlugin {
  const end = new RegExp(`${RegExp.escape(file)}$`);
  return {
    name: `patch of ${file}`,
    setup(build) {
      build.onLoad({ filter: end }, async ({ path }) => {
        const parts = (await Deno.readTextFile(path)).split(from);
        if (parts.length !== 2) {
          throw new Error(`${file} no longer has the place to patch: ${from}`);
        }
        return { contents: parts.join(to), loader: "js" };
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

/** Names of folders that depend on who laid out `node_modules`, and that say nothing. */
function withoutStorePaths(code: string): string {
  return code.replaceAll(/node_modules\/\.deno\/[^/"]+\/(?=node_modules\/)/g, "");
}

function packageFolders(inputs: Readonly<Record<string, { bytesInOutput: number }>>): string[] {
  const folders = Object.entries(inputs)
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .flatMap(([path]) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []);
  return [...new Set(folders)];
}
