import { join } from "node:path";
import { type EsbuildPlugin, loadEsbuild } from "../deps.ts";
import { PROJECT_ROOT } from "../project_root.ts";
import { installPackages } from "../vendor/install_packages.ts";

const PINNED = /"npm:((?:@[\w.-]+\/)?[\w.-]+)@(\d[\w.-]*)"/g;

/** Bundles the command `supaswarm` with its packages as one module for Node and Deno. */
export async function buildCommand(): Promise<string> {
  const { build } = await loadEsbuild();
  const folder = await Deno.makeTempDir({ prefix: "supaswarm-command-" });
  try {
    await installPackages(PROJECT_ROOT, folder, await pinnedPackages());
    const { outputFiles: [output] } = await build({
      entryPoints: [join(PROJECT_ROOT, "client/command/main.ts")],
      bundle: true,
      write: false,
      format: "esm",
      platform: "node",
      target: "node22",
      minifySyntax: true,
      minifyWhitespace: true,
      lineLimit: 120,
      legalComments: "none",
      logLevel: "silent",
      plugins: [installedPackages(folder)],
    });
    if (output === undefined) throw new Error("Cannot build the command: esbuild wrote no file");
    return output.text;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function pinnedPackages(): Promise<Record<string, string>> {
  const source = await Deno.readTextFile(join(PROJECT_ROOT, "client/command/deps.ts"));
  return Object.fromEntries(
    [...source.matchAll(PINNED)].map(([, name = "", version = ""]) => [name, version]),
  );
}

/** Resolves `npm:` specifiers in a folder in which the packages are installed. */
function installedPackages(folder: string): EsbuildPlugin {
  return {
    name: "installed packages",
    setup(build) {
      build.onResolve({ filter: /^npm:/ }, ({ path, kind }) => {
        const name = path.slice("npm:".length).replace(/(?<=.)@[^@/]+$/, "");
        return build.resolve(name, { kind, resolveDir: folder });
      });
    },
  };
}
