import { basename, join } from "node:path";
import { functionMarker } from "../../client/command/release/markers.ts";
import { FUNCTION_NAMES } from "../../shared/platform/values/function_names.ts";
import { findFunctions } from "../../stack/functions/find_functions.ts";
import { type EsbuildPlugin, loadEsbuild } from "../deps.ts";
import { PROJECT_ROOT } from "../project_root.ts";
import { withFoundImports } from "../vendor/bundle_module.ts";
import { markNames } from "./mark_names.ts";

/** The vendored packages are built already; each stays a file of its own. */
const VENDOR = /(?:^|\/)vendor\/(\w+\.js)$/;

/**
 * Builds the edge functions as modules with markers in place of names: one entry for each function,
 * `<name>.js`, `workflows.js` for the project's own ones, and the modules that they share.
 *
 * @param names Of the platform's objects in `public`.
 * @returns The contents of each file by its name.
 */
export async function buildFunctions(names: ReadonlySet<string>): Promise<Map<string, string>> {
  const { build } = await loadEsbuild();
  const functions = await functionNames();
  const vendored = new Set<string>();
  const { outputFiles } = await build({
    entryPoints: [
      ...functions.map((name) => ({
        in: join(PROJECT_ROOT, "supabase/functions", name, "index.ts"),
        out: name,
      })),
      // What functions of the project import.
      { in: join(PROJECT_ROOT, "shared/app/workflows_app.ts"), out: "workflows" },
    ],
    bundle: true,
    write: false,
    splitting: true,
    format: "esm",
    platform: "neutral",
    target: "es2022",
    outdir: "functions",
    chunkNames: "shared-[hash]",
    minifySyntax: true,
    minifyWhitespace: true,
    lineLimit: 120,
    charset: "utf8",
    legalComments: "none",
    external: ["node:*", "npm:*"],
    logLevel: "silent",
    plugins: [vendoredModules(vendored), markedSources(names)],
  });
  const files = new Map(
    outputFiles.map(({ path, text }) => [basename(path), withFoundImports(text)]),
  );
  for (const name of await withImports(vendored)) {
    files.set(name, await Deno.readTextFile(join(PROJECT_ROOT, "shared/vendor", name)));
  }
  files.set(
    "LICENSES.txt",
    await Deno.readTextFile(join(PROJECT_ROOT, "shared/vendor/LICENSES.txt")),
  );
  return new Map([...files].sort(([a], [b]) => a < b ? -1 : 1));
}

/** The names of all edge functions. */
export async function functionNames(): Promise<string[]> {
  return [...(await findFunctions(PROJECT_ROOT)).keys()];
}

/** Keeps imports of vendored modules, which all lie beside the built modules. */
function vendoredModules(found: Set<string>): EsbuildPlugin {
  return {
    name: "vendored modules",
    setup(build) {
      build.onResolve({ filter: VENDOR }, ({ path }) => {
        const name = VENDOR.exec(path)?.[1] ?? "";
        found.add(name);
        return { path: `./${name}`, external: true };
      });
    },
  };
}

/** Marks the names in the texts of the sources, and gives functions their marked names. */
function markedSources(names: ReadonlySet<string>): EsbuildPlugin {
  return {
    name: "marked sources",
    setup(build) {
      build.onLoad({ filter: /\.ts$/ }, async ({ path }) => ({
        contents: path.endsWith("/function_names.ts")
          ? markedFunctionNames()
          : markNames(await Deno.readTextFile(path), names),
        loader: "ts",
      }));
    },
  };
}

/** The module of the functions' names, with markers. */
export function markedFunctionNames(): string {
  const entries = Object.entries(FUNCTION_NAMES).map(([key, name]) => [key, functionMarker(name)]);
  return `export const FUNCTION_NAMES = ${JSON.stringify(Object.fromEntries(entries))};`;
}

/** Vendored modules and those that they import in turn. */
async function withImports(names: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  const all = new Set(names);
  for (const name of all) {
    const code = await Deno.readTextFile(join(PROJECT_ROOT, "shared/vendor", name));
    for (const [, imported = ""] of code.matchAll(/from ?"\.\/(\w+\.js)"/g)) all.add(imported);
  }
  return all;
}
