import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { loadEsbuild } from "../../scripts/deps.ts";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { REGISTRY_FOLDER } from "../../scripts/registry/build_registry.ts";

interface BuiltItem {
  readonly registryDependencies?: readonly string[];
  readonly files: readonly { readonly path: string; readonly content: string }[];
}

/** Writes built items and those that they need into a project, as the shadcn command does. */
export async function installItems(project: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const path = join(REGISTRY_FOLDER, `r/${name}.json`);
    const { files, registryDependencies = [] } = JSON.parse(
      await Deno.readTextFile(path),
    ) as BuiltItem;
    for (const file of files) {
      await Deno.mkdir(dirname(join(project, file.path)), { recursive: true });
      await Deno.writeTextFile(join(project, file.path), file.content);
    }
    await installItems(
      project,
      registryDependencies.map((needed) => needed.split("/").at(-1) ?? ""),
    );
  }
}

/** Compiles the components of a project, and imports them. */
export async function importComponents(
  project: string,
  names: readonly string[],
): Promise<Readonly<Record<string, unknown>>> {
  const { build } = await loadEsbuild();
  const outfile = join(project, "components.js");
  await build({
    stdin: {
      contents: names.map((name) => `export * from "@/components/${name}";`).join("\n"),
      resolveDir: project,
    },
    bundle: true,
    outfile,
    format: "esm",
    jsx: "automatic",
    alias: {
      "@": project,
      "supaswarm/client": join(PROJECT_ROOT, "client/mod.ts"),
      "supaswarm/react": join(PROJECT_ROOT, "client/react.ts"),
    },
    external: ["react", "react/jsx-runtime"],
  });
  return await import(pathToFileURL(outfile).href);
}
