import { join } from "node:path";
import { PROJECT_ROOT } from "../project_root.ts";

/** The sources of the registry, and the built files. */
export const REGISTRY_FOLDER = join(PROJECT_ROOT, "registry");
const ITEM_SCHEMA = "https://ui.shadcn.com/schema/registry-item.json";

interface RegistryItem {
  readonly name: string;
  readonly files: readonly { readonly path: string; readonly type: string }[];
}

/** A file that the registry serves. */
export interface BuiltFile {
  /** In the registry's folder. */
  readonly path: string;
  readonly text: string;
}

/** Builds what the shadcn command downloads: each item with its code, and the list of items. */
export async function buildRegistry(): Promise<readonly BuiltFile[]> {
  const source = await Deno.readTextFile(join(REGISTRY_FOLDER, "registry.json"));
  const { items } = JSON.parse(source) as { readonly items: readonly RegistryItem[] };
  const built = await Promise.all(items.map(async (item) => {
    const files = await Promise.all(item.files.map(async ({ path, type }) => ({
      path,
      content: await Deno.readTextFile(join(REGISTRY_FOLDER, path)),
      type,
    })));
    return {
      path: `r/${item.name}.json`,
      text: jsonText({ $schema: ITEM_SCHEMA, ...item, files }),
    };
  }));
  return [...built, { path: "r/registry.json", text: jsonText(JSON.parse(source)) }];
}

/** The files of `registry/r` that are not built any more. */
export async function leftFiles(built: readonly BuiltFile[]): Promise<readonly string[]> {
  const left: string[] = [];
  for await (const { name } of Deno.readDir(join(REGISTRY_FOLDER, "r"))) {
    if (!built.some(({ path }) => path === `r/${name}`)) left.push(`r/${name}`);
  }
  return left;
}

function jsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
