import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type EsbuildPlugin, loadEsbuild } from "../../scripts/deps.ts";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { loadVueCompiler } from "../deps.ts";

const SUPABASE_JS = "npm:@supabase/supabase-js@2.119.1";

/** Compiles a page of an example as its bundler does, and imports it. */
export async function importPage(
  path: string,
  env: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, unknown>>> {
  const { build } = await loadEsbuild();
  const folder = await Deno.makeTempDir({ prefix: "supaswarm-page-" });
  try {
    const outfile = join(folder, "page.js");
    await build({
      entryPoints: [path],
      bundle: true,
      outfile,
      format: "esm",
      jsx: "automatic",
      define: Object.fromEntries(
        Object.entries(env).map(([name, value]) => [`process.env.${name}`, JSON.stringify(value)]),
      ),
      alias: {
        "supaswarm/client": join(PROJECT_ROOT, "client/mod.ts"),
        "supaswarm/react": join(PROJECT_ROOT, "client/react.ts"),
        "supaswarm/vue": join(PROJECT_ROOT, "client/vue.ts"),
        "@supabase/supabase-js": SUPABASE_JS,
      },
      external: ["react", "react/jsx-runtime", "vue", SUPABASE_JS],
      plugins: [VUE],
    });
    return await import(pathToFileURL(outfile).href);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Compiles components with a script and a template. */
const VUE: EsbuildPlugin = {
  name: "vue",
  setup({ onLoad }) {
    onLoad({ filter: /\.vue$/ }, async ({ path }) => {
      const { compileScript, parse } = await loadVueCompiler();
      const { descriptor, errors } = parse(await Deno.readTextFile(path), { filename: path });
      if (errors.length > 0) throw errors[0];
      const { content } = compileScript(descriptor, { id: "page", inlineTemplate: true });
      return { contents: content, loader: "ts" };
    });
  },
};
